import type { Snapshot } from "../../../src/domain/cluster.ts";
import type { InFlight, Observation } from "../../../src/domain/record.ts";
import { expect, test } from "vitest";
import { followInFlight } from "../../../src/decide/intents/in-flight.ts";
import { endStarts } from "../../../src/decide/intents/node-starts.ts";
import { settle } from "../../../src/decide/intents/settle.ts";
import { settleStopsByObservation } from "../../../src/decide/intents/stops.ts";
import { followNodes } from "../../../src/decide/nodes/ledger.ts";
import { isStopFresh } from "../../../src/decide/nodes/standing.ts";
import { withMissing } from "../../../src/decide/nodes/missing.ts";
import { judgeNode } from "../../../src/decide/stops/scale-down.ts";
import { nodeId, requestId } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import {
  at,
  buildLedger,
  buildNode,
  buildSnapshot,
  NOW,
  rememberNode,
  rememberNodes,
} from "../../support/build-node.ts";
import { standingAlone } from "../stops/node-rows.ts";
import { BUCKET, buildCreate, buildIntent, buildState } from "../../support/build-record.ts";

/** What an observation does not prove soon after a standstill of CycleCloud (docs/protocol.md, Standstills). */

type Early = Pick<Snapshot, "early">;

const n1 = buildNode("n1");
const booting = buildNode("n1", { phase: "coming" });
const N1 = nodeId("n1");
const accepted = { since: at(-200), by: "idle", plan: 1, attempts: 1, sentAt: at(-121) } as const;
const policy = { ...DEFAULT_POLICY, exclusiveArrays: [n1.array] };

/** The stop of a node that could no longer be on its way long ago. */
function stopped(early: Early): boolean {
  const effect = { kind: "terminate", nodes: [N1] } as const;
  const intent = buildIntent("r-1", {
    effect,
    committedAt: at(-300),
    leaseUntil: at(-270),
    notAfter: at(-270),
  });
  const { record } = buildState({ record: { intents: [intent] } });
  const state = { record, ledger: rememberNodes([n1]) };
  return settleStopsByObservation(state, buildSnapshot([n1], early), NOW).record.intents.length === 0;
}

/** Requested nodes of which the list has had the same four for two minutes. */
function isListWhole(early: Early): boolean {
  const { array, machineType } = BUCKET;
  const nodes = ["a", "b", "c", "d"].map((id) => buildNode(id));
  const listed = nodes.map(({ nodeId: id, name }) => ({ nodeId: id, name, array, machineType }));
  const entry: InFlight = {
    requestId: requestId("r-1"),
    bucket: BUCKET,
    purpose: { kind: "array" },
    added: 10,
    seen: [],
    since: at(-200),
    unconfirmed: { listed: 4, since: at(-120) },
  };
  const { record } = buildState({ record: { inFlight: [entry] } });
  const observation: Observation = {
    snapshot: buildSnapshot(nodes, early),
    requestNodes: new Map([[requestId("r-1"), { askedAt: NOW, nodes: listed }]]),
  };
  return followInFlight(record, observation, rememberNodes(nodes), DEFAULT_POLICY, NOW).inFlight.length === 0;
}

function isStartForgotten(early: Early): boolean {
  const off = buildNode("n1", { phase: "deallocated" });
  const start = { state: "unsure", since: at(-90) } as const;
  const ledger = buildLedger([rememberNode(off, { deallocated: true, start })]);
  const { record } = buildState({});
  return endStarts(record, ledger, buildSnapshot([off], early), DEFAULT_POLICY, NOW).ledger !== ledger;
}

function isGone(early: Early): boolean {
  const missing = { ...n1, missing: { since: at(-600), observations: 2 } };
  return (
    withMissing(
      buildSnapshot([], early),
      buildSnapshot([missing], { at: at(-60) }),
      rememberNodes([n1]),
      new Set(),
    ).nodes.length === 0
  );
}

function isCountedDown(early: Early): boolean {
  const off = buildNode("n1", { phase: "coming", status: "Off" });
  const ledger = buildLedger([rememberNode(off, { firstReadyAt: at(-900) })]);
  const observation = { snapshot: buildSnapshot([off], early), requestNodes: new Map() };
  const followed = followNodes({ ledger, isRestart: false }, observation, [], new Map(), NOW);
  return followed.get(N1)?.down?.observations === 1;
}

const late = rememberNode(booting, { firstSeenAt: at(0 - DEFAULT_POLICY.bootTimeoutSeconds) });

test.each<{ readonly name: string; readonly concludes: (early: Early) => boolean }>([
  { name: "a stop without an effect is lost", concludes: stopped },
  {
    name: "an accepted stop had no effect in 120 s",
    concludes: (early) =>
      !isStopFresh(rememberNode(n1, { draining: accepted }), { at: NOW, ...early }) &&
      standingAlone(n1, rememberNode(n1, { draining: accepted }), early, policy).kind === "up",
  },
  { name: "the list of a request's nodes no longer grows", concludes: isListWhole },
  { name: "a start without an answer had no effect", concludes: isStartForgotten },
  { name: "a node that is missing has gone", concludes: isGone },
  {
    name: "a node that was not Ready in time is replaced",
    concludes: (early) => standingAlone(booting, late, early, policy).kind === "replaced",
  },
  {
    name: "and is stopped",
    concludes: (early) =>
      judgeNode(booting, late, standingAlone(booting, late, early, policy), {
        policy,
        now: NOW,
        plan: 1,
        resting: false,
        spare: true,
        reportedIdleAt: undefined,
        busy: false,
        kept: false,
        ends: false,
      }).kind === "terminate",
  },
  { name: "a node is down", concludes: isCountedDown },
])("not soon after a standstill: $name", ({ concludes }) => {
  expect(concludes({})).toBe(true);
  expect(concludes({ early: true })).toBe(false);
});

test("a create that CycleCloud does not know counts as unknown until a question began late enough", () => {
  const intent = buildCreate("r-1", 4, { sent: "maybe", certainFrom: at(-60) });
  const evidence = {
    kind: "absent",
    askedAt: at(-10),
    afterSend: "none",
    held: { by: intent.owner, certainFrom: at(-60) },
  } as const;
  const open = (provesFrom: number) => {
    const { record, bodies } = buildState({ record: { intents: [intent], provesFrom: at(provesFrom) } });
    return settle({ record, ledger: bodies.ledger }, intent.id, evidence, NOW).record.intents.length;
  };
  expect(open(-11)).toBe(0);
  expect(open(-9)).toBe(1);
});
