import { describe, expect, test } from "vitest";
import { withQuestions } from "../../../src/decide/stops/questions.ts";
import { settle } from "../../../src/decide/intents/settle.ts";
import { endOldStops, settleStopsByObservation } from "../../../src/decide/intents/stops.ts";
import type { Node } from "../../../src/domain/cluster.ts";
import type { NodeId } from "../../../src/domain/ids.ts";
import { nodeId, requestId } from "../../../src/domain/ids.ts";
import { NO_QUESTIONS } from "../../../src/domain/questions.ts";
import type { Draining } from "../../../src/domain/ledger.ts";
import { at, buildLedger, buildNode, buildSnapshot, NOW, rememberNode } from "../../support/build-node.ts";
import { buildIntent, buildState, OURS } from "../../support/build-record.ts";
import type { Evidence, Settled } from "../../../src/decide/intents/evidence.ts";

const R1 = requestId("r-1");
const N1 = nodeId("n1");
const N2 = nodeId("n2");
const marked: Draining = { since: at(-5), by: "idle", plan: 6, attempts: 1, sentAt: at(-200) };
const idle = { draining: marked, busyness: { state: "idle", since: at(-900) } } as const;

/** A stop of both nodes, committed now, that may be sent for 30 s. */
function stopOf(...nodes: readonly NodeId[]): Settled {
  const effect = { kind: "terminate", nodes } as const;
  const intent = buildIntent("r-1", { effect, committedAt: NOW, leaseUntil: at(30), notAfter: at(30) });
  const { record } = buildState({ record: { intents: [intent] } });
  const ledger = buildLedger(nodes.map((id) => rememberNode(buildNode(id), idle)));
  return { record, ledger };
}

/** What the record says of the stop of a node. */
function stateOf({ record, ledger, questions }: Settled, id: NodeId = N1) {
  const open = record.intents.flatMap(({ effect, sent }) =>
    effect.kind === "terminate" && effect.nodes.includes(id) ? [sent] : [],
  );
  const known = withQuestions(ledger, questions ?? NO_QUESTIONS).get(id);
  return { open, sentAt: known?.draining?.sentAt, attempts: known?.draining?.attempts };
}

const before = { open: ["never"], sentAt: at(-200), attempts: 1 };
const accepted = { open: [], sentAt: at(5), attempts: 2 };
const lost = { open: [], sentAt: undefined, attempts: undefined };
const unknown = { ...before, open: ["maybe"] };

describe("what a send teaches", () => {
  const answer = (ok: boolean, id: NodeId = N1): Evidence => ({
    kind: "terminated",
    nodes: new Map([[id, ok ? { ok } : { ok, error: "locked" }]]),
  });
  test.each<{ name: string; evidence: Evidence; outcome: object }>([
    { name: "accepted for the node: counted and timed", evidence: answer(true), outcome: accepted },
    { name: "refused for the node: taken out of draining", evidence: answer(false), outcome: lost },
    {
      name: "the node is not in the answer: it was not stopped, and an observation shows whether it is there",
      evidence: answer(true, nodeId("n9")),
      outcome: unknown,
    },
    { name: "refused altogether", evidence: { kind: "refused", message: "403" }, outcome: lost },
    { name: "not sent", evidence: { kind: "not-sent" }, outcome: lost },
    { name: "CycleCloud knows the request", evidence: { kind: "found" }, outcome: accepted },
    {
      name: "CycleCloud names the node under the request",
      evidence: { kind: "named", nodes: new Set([N1]) },
      outcome: accepted,
    },
    {
      name: "CycleCloud names another node under it: that proves nothing of this one",
      evidence: { kind: "named", nodes: new Set([N2]) },
      outcome: unknown,
    },
    {
      name: "CycleCloud does not know the request: that proves nothing",
      evidence: {
        kind: "absent",
        afterSend: "no-answer",
        askedAt: NOW,
        held: { by: OURS, certainFrom: NOW },
      },
      outcome: unknown,
    },
    { name: "nothing learnt", evidence: { kind: "unclear" }, outcome: unknown },
    {
      name: "withdrawn before it was sent",
      evidence: { kind: "withdrawn", nodes: new Set([N1]) },
      outcome: lost,
    },
  ])("$name", ({ evidence, outcome }) => {
    expect(stateOf(settle(stopOf(N1), R1, evidence, at(5)))).toEqual(outcome);
  });

  test("each node by its own answer; the ledger is not written", () => {
    const state = stopOf(N1, N2);
    const settled = settle(state, R1, { kind: "named", nodes: new Set([N2]) }, at(5));
    expect(stateOf(settled, N1)).toEqual(unknown);
    expect(stateOf(settled, N2)).toEqual(accepted);
    expect(settled.ledger).toBe(state.ledger);
  });

  test("a node whose stop came to nothing starts its idle clock again, and older reports prove nothing of it", () => {
    const { ledger, questions } = settle(stopOf(N1), R1, { kind: "refused", message: "403" }, at(5));
    expect(questions?.get(N1)).toEqual({ stayAt: at(5) });
    expect(withQuestions(ledger, questions ?? NO_QUESTIONS).get(N1)?.busyness).toEqual({
      state: "unknown",
      since: at(5),
    });
  });
});

describe("what an observation shows about a stop whose outcome is not known", () => {
  const observed = (nodes: readonly Node[], begun: number, now = begun) =>
    stateOf(settleStopsByObservation(stopOf(N1), buildSnapshot(nodes, { at: at(begun) }), at(now)));
  const phases = (phase: Node["phase"]) => [buildNode("n1", { phase })];

  test.each(["going", "off"] as const)("the node is %s: accepted, at any time", (phase) => {
    expect(observed(phases(phase), 5)).toEqual(accepted);
  });

  test("the node is deallocated: what should end it may still arrive, and then it was lost", () => {
    expect(observed(phases("deallocated"), 119)).toEqual(before);
    expect(observed(phases("deallocated"), 120)).toEqual(lost);
  });

  test.each(["going", "deallocated"] as const)(
    "a deallocation, and the node is %s: another tool may have done it, so ours may still arrive; then accepted",
    (phase) => {
      const { record, ...rest } = stopOf(N1);
      const intents = record.intents.map((intent) =>
        intent.effect.kind === "terminate"
          ? { ...intent, effect: { ...intent.effect, act: "deallocate" as const } }
          : intent,
      );
      const settled = (begun: number) =>
        settleStopsByObservation(
          { ...rest, record: { ...record, intents } },
          buildSnapshot(phases(phase), { at: at(begun) }),
          at(begun),
        );
      expect(stateOf(settled(119))).toEqual(before);
      expect(stateOf(settled(120)).open).toEqual([]);
      expect(settled(120).questions?.get(N1)?.draining?.act).toBe("deallocate");
    },
  );

  test.each([
    {
      name: "119 s after the commit: it may still arrive, or the status may lag",
      begun: 119,
      outcome: before,
    },
    { name: "120 s after the commit: lost", begun: 120, outcome: lost },
  ])("the node is still wanted by a status begun $name", ({ begun, outcome }) => {
    expect(observed(phases("ready"), begun)).toEqual(outcome);
    expect(observed(phases("coming"), begun)).toEqual(outcome);
  });

  test("a status that was begun 119 s after the commit and took a minute proves nothing", () => {
    expect(observed(phases("ready"), 119, 179)).toEqual(before);
  });

  test("a record without TargetState proves nothing, for 15 minutes", () => {
    expect(observed(phases("unknown"), 899)).toEqual(before);
    expect(observed(phases("unknown"), 900)).toEqual(lost);
  });

  test("the node is missing: not accepted before the ledger calls it gone", () => {
    expect(observed([], 120)).toEqual(before);
    const gone = { ...stopOf(N1), ledger: buildLedger([rememberNode(buildNode("n1"), { goneAt: at(30) })]) };
    expect(settleStopsByObservation(gone, buildSnapshot([], { at: at(95) }), at(95)).record.intents).toEqual(
      [],
    );
  });

  test("without any observation it ends after 15 minutes", () => {
    expect(stateOf(endOldStops(stopOf(N1), at(899)))).toEqual(before);
    expect(stateOf(endOldStops(stopOf(N1), at(900)))).toEqual(lost);
  });
});
