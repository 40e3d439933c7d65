/** P6 and P9 of architecture.md, Properties, for a whole decision. How to replay a failure stands in runs.ts. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "../../src/decide/reconcile/reconcile.ts";
import { nameStemOf } from "../../src/decide/intents/create-requests.ts";
import { settle } from "../../src/decide/intents/settle.ts";
import type { Node } from "../../src/domain/cluster.ts";
import type { Demand } from "../../src/domain/demand.ts";
import type { RequestId } from "../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import type { Bodies } from "../../src/domain/bodies.ts";
import type { CreateEffect, Intent } from "../../src/domain/intent.ts";
import type { LedgerNode } from "../../src/domain/ledger.ts";
import type { ClusterRecord, Observation } from "../../src/domain/record.ts";
import { afterQuestions } from "../support/build-call.ts";
import { at, buildLedger, buildNode, rememberNode } from "../support/build-node.ts";
import { anyCluster, anyDemands, showCluster } from "../support/build-random-cluster.ts";
import type { RandomCluster } from "../support/build-random-cluster.ts";
import { buildState, OURS } from "../support/build-record.ts";
import {
  ledgerCodec,
  packCodec,
  plainCodec,
  readManifest,
  writeManifest,
} from "../../src/adapters/tables/codec.ts";
import { storedText } from "../support/stored-text.ts";
import { EMPTY_INDEX } from "../../src/adapters/tables/body-index.ts";
import { digest } from "../../src/domain/ids.ts";
import { anyClusterDemands } from "./cluster-demands.ts";
import { runsOf, TIMEOUT } from "./runs.ts";
import { servesTheUnmet } from "./serves-the-unmet.ts";
import { SUPPORTED } from "./supported.ts";
import type { Evidence, Settled } from "../../src/decide/intents/evidence.ts";
import type { Decision } from "../../src/domain/decision.ts";

const runs = runsOf(7);

interface State {
  readonly record: ClusterRecord;
  readonly bodies: Bodies;
}

type RequestNodes = Observation["requestNodes"];

function turn(
  state: State,
  cluster: RandomCluster,
  nodes: readonly Node[],
  seconds: number,
  requestNodes: RequestNodes = new Map(),
): Decision {
  const snapshot = { ...showCluster(cluster, nodes), at: at(seconds) };
  return decide(state.record, state.bodies, { snapshot, requestNodes }, DEFAULT_POLICY, at(seconds), OURS);
}

const evidenceOf = ({ effect }: Intent): Evidence =>
  effect.kind === "create"
    ? { kind: "accepted", sets: effect.sets.map(({ count }) => ({ added: count })) }
    : {
        kind: effect.kind === "start" ? "started" : "terminated",
        nodes: new Map(effect.nodes.map((id) => [id, { ok: true }])),
      };

/** CycleCloud accepts all that the decision asks for. */
function afterAccepted(
  { bodies }: State,
  { record, ledger, questions, plan }: Decision,
  seconds: number,
): State {
  const settled = record.intents.reduce<Settled>(
    (state, intent) => settle(state, intent.id, evidenceOf(intent), at(seconds)),
    { record, ledger, questions },
  );
  const after = { ...bodies, ledger: settled.ledger, plan };
  return { record: settled.record, bodies: afterQuestions(after, settled.questions) };
}

/** The nodes that CycleCloud makes of a create, on their way up. */
function makeNodes(id: RequestId, { sets }: CreateEffect): readonly Node[] {
  return sets.flatMap((set, index) =>
    Array.from({ length: set.count }, (_, i) =>
      buildNode(`${id.slice(0, 8)}-${index}-${i}`, {
        ...set.bucket,
        name: `${nameStemOf(set) ?? set.bucket.array}-${index}${i}`,
        phase: "coming",
      }),
    ),
  );
}

function neverReady(node: Node): LedgerNode {
  const { firstReadyAt: _never, ...known } = rememberNode(node);
  return known;
}

const asksFor = ({ plan }: Decision) => ({
  creates: plan.creates,
  starts: plan.starts ?? [],
  terminates: plan.terminates,
});
const nothing = { creates: [], starts: [], terminates: [] };

/**
 * Decides, has all of it accepted, and decides again while it is in flight, once it is visible, and once it is Ready. A node that hangs is
 * left out: its replacement is planned elsewhere, and when its bucket's pause is over that is another plan.
 */
function follow(cluster: RandomCluster, demands: readonly Demand[]) {
  const { nodes } = cluster;
  const known = nodes.map((node) => (node.phase === "failed" ? neverReady(node) : rememberNode(node)));
  const start = buildState({ sets: { standard: { demands } }, ledger: buildLedger(known) });
  const first = turn(start, cluster, nodes, 0);
  const accepted = afterAccepted(start, first, 1);
  const inFlight = turn(accepted, cluster, nodes, 10);

  const made = first.record.intents.flatMap(({ id, effect }) =>
    effect.kind === "create" ? [{ id, nodes: makeNodes(id, effect) }] : [],
  );
  const requestNodes = new Map(
    made.map((request) => [request.id, { askedAt: at(20), nodes: request.nodes }]),
  );
  // What is on its way down stays in sight, as room that it leaves may be used.
  const left = nodes.map((node): Node => {
    if (first.plan.starts?.includes(node.nodeId) === true)
      return { ...node, phase: "coming", status: "Acquiring" };
    const stopped = first.plan.terminates.includes(node.nodeId);
    return stopped ? { ...node, phase: "going", status: "Terminating" } : node;
  });
  const coming = [...left, ...made.flatMap((request) => request.nodes)];
  const visible = turn(afterAccepted(accepted, inFlight, 11), cluster, coming, 20, requestNodes);

  const up = coming.map((node): Node =>
    node.phase === "coming" ? { ...node, phase: "ready", status: "Ready" } : node,
  );
  const ready = turn(afterAccepted(accepted, visible, 21), cluster, up, 30);
  return { first, inFlight, visible, ready };
}

/** What a decision asks for, unless it serves what the one before had to leave unmet. */
const changesOf = (before: Decision, after: Decision) =>
  servesTheUnmet(before.plan.demands, after.plan.demands) ? nothing : asksFor(after);

test(
  "P6: what a plan asked for is in flight, then visible, then Ready, and each time there is nothing to do",
  () => {
    fc.assert(
      fc.property(anyCluster(8), anyDemands, (cluster, demands) => {
        const { first, inFlight, visible, ready } = follow(cluster, demands);
        expect(changesOf(first, inFlight)).toEqual(nothing);
        expect(changesOf(inFlight, visible)).toEqual(nothing);
        expect(changesOf(visible, ready)).toEqual(nothing);
      }),
      runs,
    );
  },
  TIMEOUT,
);

/** Half of the nodes are deallocated. */
const oftenOff = fc.constantFrom<Node["phase"]>("ready", "coming", "deallocated", "deallocated");

test(
  "P6: what a plan starts is on its way, then visible, then Ready, and each time there is nothing to do",
  () => {
    let started = 0;
    fc.assert(
      fc.property(anyCluster(8, oftenOff), anyDemands, (cluster, demands) => {
        const { first, inFlight, visible, ready } = follow(cluster, demands);
        started += first.plan.starts?.length ?? 0;
        expect(changesOf(first, inFlight)).toEqual(nothing);
        expect(changesOf(inFlight, visible)).toEqual(nothing);
        expect(changesOf(visible, ready)).toEqual(nothing);
      }),
      runs,
    );
    expect(started).toBeGreaterThan(8);
  },
  TIMEOUT,
);

/** The record and its bodies as they come back from the store. */
function stored({ record, bodies }: State): State {
  const read = readManifest(writeManifest({ record, index: EMPTY_INDEX }));
  if ("spilled" in read) throw new RangeError("a small manifest spilled");
  const demands = new Map([...bodies.demands].map(([key, demand]) => [`d${key}`, demand] as const));
  const pack = packCodec.read(storedText(packCodec, demands));
  const found = [...pack].flatMap(([key, value]) =>
    "demands" in value ? [[digest(key.slice(1)), value] as const] : [],
  );
  return {
    record: read.record,
    bodies: {
      demands: new Map(found),
      reports: new Map(),
      ledger: ledgerCodec.read(storedText(ledgerCodec, bodies.ledger)),
    },
  };
}

const decisionText = ({ record, ledger, plan }: Decision): string =>
  JSON.stringify([record, [...record.sets], [...ledger], plan, [...plan.nodes]]);

test(
  "P9: a decision replays byte for byte from what the store gives back",
  () => {
    fc.assert(
      fc.property(anyCluster(8), anyClusterDemands(SUPPORTED), (cluster, demands) => {
        const { nodes } = cluster;
        const state = buildState({
          sets: { standard: { demands } },
          ledger: buildLedger(nodes.map((node) => rememberNode(node))),
        });
        const snapshot = { ...showCluster(cluster, nodes), at: at(0) };
        const codec = plainCodec<typeof snapshot>();
        const decided = (from: State, observation: typeof snapshot): string =>
          decisionText(
            decide(
              from.record,
              from.bodies,
              { snapshot: observation, requestNodes: new Map() },
              DEFAULT_POLICY,
              at(0),
              OURS,
            ),
          );
        expect(decided(stored(state), codec.read(storedText(codec, snapshot)))).toBe(
          decided(state, snapshot),
        );
      }),
      runs,
    );
  },
  TIMEOUT,
);
