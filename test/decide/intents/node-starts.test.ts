import { describe, expect, test } from "vitest";
import { endStarts, nextStart, startEffects } from "../../../src/decide/intents/node-starts.ts";
import { followNodes } from "../../../src/decide/nodes/ledger.ts";
import type { Node, NodePhase } from "../../../src/domain/cluster.ts";
import { nodeId, placementGroup } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { Intent } from "../../../src/domain/intent.ts";
import type { LedgerNode, NodeStart } from "../../../src/domain/ledger.ts";
import { at, buildLedger, buildNode, buildSnapshot, NOW, rememberNode } from "../../support/build-node.ts";
import { BUCKET, buildIntent, EMPTY_RECORD } from "../../support/build-record.ts";

const asleep = (id: string, more: Partial<Node> = {}) => buildNode(id, { phase: "deallocated", ...more });

describe("what an observation shows about a start", () => {
  const start = (state: NodeStart["state"]): NodeStart => ({ state, since: at(-40) });
  const off: Partial<LedgerNode> = { deallocated: true };
  test.each<{ name: string; known: Partial<LedgerNode>; phase: NodePhase; next: NodeStart | undefined }>([
    { name: "not asked for, and off", known: off, phase: "deallocated", next: undefined },
    {
      name: "asked for, and not seen yet",
      known: { ...off, start: start("unsure") },
      phase: "deallocated",
      next: start("unsure"),
    },
    {
      name: "accepted, and not seen yet",
      known: { ...off, start: start("accepted") },
      phase: "deallocated",
      next: start("accepted"),
    },
    {
      name: "accepted, and on its way: since it was asked for",
      known: { ...off, start: start("accepted") },
      phase: "coming",
      next: { ...start("shown"), shownAt: NOW },
    },
    {
      name: "no answer, but on its way",
      known: { ...off, start: start("unsure") },
      phase: "coming",
      next: { ...start("shown"), shownAt: NOW },
    },
    {
      name: "up between two observations",
      known: { ...off, start: start("accepted") },
      phase: "ready",
      next: { ...start("shown"), shownAt: NOW },
    },
    {
      name: "accepted, and already on its way down again",
      known: { ...off, start: start("accepted") },
      phase: "going",
      next: { ...start("shown"), shownAt: NOW },
    },
    {
      name: "failed on its way",
      known: { ...off, start: start("accepted") },
      phase: "failed",
      next: { ...start("shown"), shownAt: NOW },
    },
    {
      name: "started by another tool: since this observation",
      known: off,
      phase: "coming",
      next: { state: "shown", since: NOW, shownAt: NOW },
    },
    {
      name: "refused, and then started by another tool",
      known: { ...off, start: start("refused") },
      phase: "coming",
      next: { state: "shown", since: NOW, shownAt: NOW },
    },
    {
      name: "refused, and on its way down",
      known: { ...off, start: start("refused") },
      phase: "going",
      next: { state: "shown", since: NOW, shownAt: NOW },
    },
    {
      name: "on its way for some time",
      known: { start: start("shown") },
      phase: "coming",
      next: start("shown"),
    },
    {
      name: "deallocated again after it was Ready: as new",
      known: { start: start("shown"), firstReadyAt: at(-20) },
      phase: "deallocated",
      next: undefined,
    },
  ])("$name", ({ known, phase, next }) => {
    expect(nextStart(rememberNode(buildNode("n1"), known), buildNode("n1", { phase }), NOW)).toEqual(next);
  });

  test("off in an observation that began before the one that showed it had arrived: it waits as before", () => {
    const off = rememberNode(asleep("n1"), { deallocated: true, start: start("accepted") });
    const shown = nextStart(off, buildNode("n1", { phase: "coming" }), at(12));
    expect(shown).toEqual({ ...start("accepted"), state: "shown", shownAt: at(12) });
    const up = rememberNode(
      buildNode("n1", { phase: "coming" }),
      shown === undefined ? {} : { start: shown },
    );
    expect(nextStart(up, asleep("n1"), at(14), at(8))).toMatchObject({
      ...start("accepted"),
      state: "accepted",
    });
    expect(nextStart(up, asleep("n1"), at(24), at(18))).toMatchObject({ state: "refused", since: at(24) });
  });

  test("up in an observation that began before the one that showed it off had arrived: it is off as before", () => {
    const off = rememberNode(asleep("n1"), { deallocated: true, kept: { since: at(12), by: "callback" } });
    const [early, late] = [8, 12].map((began) => nextStart(off, buildNode("n1"), at(14), at(began)));
    expect(early).toBe(undefined);
    expect(late).toMatchObject({ state: "shown", since: at(14) });
    const observation = {
      snapshot: buildSnapshot([buildNode("n1")], { at: at(8) }),
      requestNodes: new Map(),
    };
    const before = buildLedger([off]);
    const next = followNodes({ ledger: before, isRestart: false }, observation, [], new Map(), at(14));
    expect(next.get(nodeId("n1"))).toMatchObject({
      deallocated: true,
      kept: { since: at(12), by: "callback" },
    });
  });

  test("off again before it was Ready: it came to nothing", () => {
    const known = rememberNode(asleep("n1", { phase: "coming" }), { start: start("shown") });
    expect(nextStart(known, asleep("n1"), NOW)).toEqual({
      state: "refused",
      since: NOW,
      until: at(120),
      message: "it was deallocated again before it was Ready",
    });
  });

  test("a node that is deallocated has no VM that was ever Ready, and its ledger entry stays the same object", () => {
    const observation = (node: Node) => ({ snapshot: buildSnapshot([node]), requestNodes: new Map() });
    const before = buildLedger([rememberNode(buildNode("n1"))]);
    const off = followNodes(
      { ledger: before, isRestart: false },
      observation(asleep("n1")),
      [],
      new Map(),
      NOW,
    );
    expect(off.get(nodeId("n1"))).toMatchObject({ deallocated: true });
    expect(off.get(nodeId("n1"))).not.toHaveProperty("firstReadyAt");
    expect(
      followNodes({ ledger: off, isRestart: false }, observation(asleep("n1")), [], new Map(), at(60)).get(
        nodeId("n1"),
      ),
    ).toBe(off.get(nodeId("n1")));
    const coming = followNodes(
      { ledger: off, isRestart: false },
      observation(asleep("n1", { phase: "coming" })),
      [],
      new Map(),
      at(90),
    );
    expect(coming.get(nodeId("n1"))).not.toHaveProperty("deallocated");
    const up = followNodes(
      { ledger: coming, isRestart: false },
      observation(buildNode("n1")),
      [],
      new Map(),
      at(120),
    );
    expect(up.get(nodeId("n1"))).toMatchObject({
      firstReadyAt: at(120),
      start: { state: "shown", since: at(90) },
    });
  });
});

describe("starts that have waited long enough", () => {
  const pause = (message: string) => [["execute/Standard_D4s_v5", "boot-failed", message]];
  const came = (message: string): NodeStart => ({
    state: "refused",
    since: NOW,
    until: at(900),
    message,
  });
  const lost = "execute-n1 was still Deallocated 900 s after CycleCloud accepted its start";
  const conflict = "execute-n1 was still Deallocated 60 s after CycleCloud answered 409 to its start: locked";
  test.each<{
    name: string;
    start: NodeStart;
    next?: NodeStart;
    same?: true;
    pauses?: unknown[];
    intents?: Intent[];
  }>([
    {
      name: "accepted, within the grace of creates",
      start: { state: "accepted", since: at(-899) },
      same: true,
    },
    {
      name: "accepted, and the grace is over: its bucket rests",
      start: { state: "accepted", since: at(-900) },
      next: came(lost),
      pauses: pause(lost),
    },
    { name: "no answer, for less than a minute", start: { state: "unsure", since: at(-59) }, same: true },
    { name: "no answer, for a minute: decided again", start: { state: "unsure", since: at(-60) } },
    {
      name: "no answer, but still under way",
      start: { state: "unsure", since: at(-60) },
      same: true,
      intents: [buildIntent("r-1", { effect: { kind: "start", bucket: BUCKET, nodes: [nodeId("n1")] } })],
    },
    {
      name: "answered 409, and nothing came of it",
      start: { state: "unsure", since: at(-60), message: "locked" },
      next: came(conflict),
      pauses: pause(conflict),
    },
    { name: "refused: rests", start: { state: "refused", since: at(-899), until: at(1) }, same: true },
    {
      name: "refused a quarter of an hour ago: may be tried again",
      start: { state: "refused", since: at(-900), until: NOW },
    },
  ])("$name", ({ start, next, same, pauses = [], intents = [] }) => {
    const known = rememberNode(asleep("n1"), { deallocated: true, start });
    const record = { ...EMPTY_RECORD, intents };
    const ended = endStarts(record, buildLedger([known]), buildSnapshot([asleep("n1")]), DEFAULT_POLICY, NOW);
    expect(ended.ledger.get(nodeId("n1"))?.start).toEqual(same === true ? start : next);
    expect(
      ended.record.backoffs.map(({ bucket, cause, message }) => [
        `${bucket.array}/${bucket.machineType}`,
        cause,
        message,
      ]),
    ).toEqual(pauses);
  });
});

test("one effect for each bucket and placement group", () => {
  const group = placementGroup("pg-1");
  const nodes = [asleep("n1"), asleep("n2", { placementGroup: group }), asleep("n3"), asleep("n4")];
  const starts = ["n3", "n1", "n2"].map(nodeId);
  expect(startEffects(starts, buildSnapshot(nodes))).toEqual([
    { kind: "start", bucket: BUCKET, nodes: ["n1", "n3"] },
    { kind: "start", bucket: { ...BUCKET, placementGroup: group }, nodes: ["n2"] },
  ]);
});
