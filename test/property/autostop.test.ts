/** P7 of architecture.md, Properties. How to replay a failure stands in runs.ts. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { judgeStops } from "../../src/decide/autostop/judge-stops.ts";
import { decide } from "../../src/decide/reconcile/reconcile.ts";
import { settle } from "../../src/decide/intents/settle.ts";
import type { Node } from "../../src/domain/cluster.ts";
import type { Demand } from "../../src/domain/demand.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import type { Bodies } from "../../src/domain/bodies.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import type { NodeId } from "../../src/domain/ids.ts";
import type { Intent } from "../../src/domain/intent.ts";
import { afterQuestions } from "../support/build-call.ts";
import { at, rememberNodes } from "../support/build-node.ts";
import type { RandomCluster } from "../support/build-random-cluster.ts";
import { anyCluster, anyDemands, showCluster } from "../support/build-random-cluster.ts";
import { buildState, OURS } from "../support/build-record.ts";
import { anyClusterDemands } from "./cluster-demands.ts";
import { runsOf, TIMEOUT } from "./runs.ts";
import { SUPPORTED } from "./supported.ts";
import type { Settled } from "../../src/decide/intents/evidence.ts";
import { confirmStops } from "../../src/decide/autostop/confirm-stops.ts";

const runs = runsOf(5, { usual: 20 });

interface State {
  readonly record: ClusterRecord;
  readonly bodies: Bodies;
}

const clusterOnItsWay = anyCluster(14, fc.constantFrom("ready", "ready", "coming"));
/** Which nodes ask together. */
const anyAskers = fc.array(fc.nat(13), { minLength: 1, maxLength: 8 });
const anyRounds = fc.array(anyAskers, { minLength: 1, maxLength: 4 });

type Sets = ClusterRecord["sets"];

/** One batch of calls, judged, marked, confirmed and settled; CycleCloud stops whom it is asked to stop. `raised`: the sets after the marks. */
function serve(
  state: State,
  nodes: readonly Node[],
  askers: readonly number[],
  now: number,
  raised: Sets = state.record.sets,
): State {
  const calls = askers.flatMap((index) => {
    const node = nodes[index];
    // Who asks is up: the observation that judges the answer would show that.
    return node?.instanceId === undefined || node.phase !== "ready"
      ? []
      : [
          {
            instance: node.instanceId,
            array: node.array,
            unhealthy: false,
            begin: true,
            arrivedAt: at(now),
          },
        ];
  });
  const first = judgeStops(state.record, state.bodies, calls, DEFAULT_POLICY, at(now));
  const record = { ...first.record, sets: raised };
  const bodies = afterQuestions(state.bodies, first.questions);
  const marked = first.verdicts.flatMap((verdict, i) => {
    const call = calls[i];
    return verdict.kind === "marked" && call !== undefined ? [{ node: verdict.node, call }] : [];
  });
  const second = confirmStops(record, bodies, marked, DEFAULT_POLICY, at(now + 1), OURS);
  // CycleCloud stops every node that it is asked to stop.
  const settled = second.record.intents.reduce<Settled>(
    (so, { id, effect }) => settle(so, id, { kind: "terminated", nodes: granted(effect) }, at(now + 2)),
    { record: second.record, ledger: bodies.ledger, questions: second.questions },
  );
  return { record: settled.record, bodies: afterQuestions(bodies, settled.questions) };
}

function granted(effect: Intent["effect"]): ReadonlyMap<NodeId, { readonly ok: true }> {
  return new Map(effect.kind === "terminate" ? effect.nodes.map((node) => [node, { ok: true }]) : []);
}

/** The creates of a plan while the stopped nodes still show as terminating. */
function wanted({ record, bodies }: State, cluster: RandomCluster) {
  const nodes = cluster.nodes.map((node): Node =>
    bodies.ledger.get(node.nodeId)?.draining?.sentAt === undefined
      ? node
      : { ...node, phase: "going", status: "Terminating" },
  );
  const observation = { snapshot: { ...showCluster(cluster, nodes), at: at(50) }, requestNodes: new Map() };
  return decide(record, bodies, observation, DEFAULT_POLICY, at(50), OURS).plan.creates;
}

/** The first set is in force; `raised` has the second as well. */
function stateOf(
  cluster: RandomCluster,
  demands: readonly Demand[],
  later: readonly Demand[],
): State & { readonly raised: Sets } {
  const { nodes } = cluster;
  const { record, bodies } = buildState({
    sets: { standard: { demands }, raised: { demands: later } },
    ledger: rememberNodes(nodes),
    seen: showCluster(cluster, nodes),
  });
  const raised = record.sets;
  const [first] = raised;
  return { record: { ...record, sets: new Map(first === undefined ? [] : [first]) }, bodies, raised };
}

/** What of both sets the nodes that are there meet: else few of the worlds that are drawn could be used. */
function metOf(
  cluster: RandomCluster,
  demands: readonly Demand[],
  later: readonly Demand[],
): readonly [first: readonly Demand[], second: readonly Demand[]] {
  const { record, bodies, raised } = stateOf(cluster, demands, later);
  const full = { ...cluster, limits: { cluster: 0, buckets: [] } };
  const observation = {
    snapshot: { ...showCluster(full, cluster.nodes), at: at(0) },
    requestNodes: new Map(),
  };
  const { plan } = decide({ ...record, sets: raised }, bodies, observation, DEFAULT_POLICY, at(0), OURS);
  const met = new Set(
    plan.demands
      .filter(({ placed, asked }) => asked > 0 && placed >= asked)
      .map(({ set, id }) => `${set}/${id}`),
  );
  const keep = (set: string, all: readonly Demand[]) => all.filter(({ id }) => met.has(`${set}/${id}`));
  return [keep("standard", demands), keep("raised", later)];
}

const kinds = [
  { name: "plain demands", demands: anyDemands },
  { name: "demands of every kind", demands: anyClusterDemands({ ...SUPPORTED, pools: false }) },
];

test.each(kinds)(
  "P7: $name: whoever was let go, demand that was met is met without anything new",
  ({ demands: anyOf }) => {
    fc.assert(
      fc.property(clusterOnItsWay, anyOf, anyRounds, (cluster, drawn, rounds) => {
        const [demands] = metOf(cluster, drawn, []);
        fc.pre(demands.length > 0);
        const start = stateOf(cluster, demands, []);
        fc.pre(wanted(start, cluster).length === 0);
        const end = rounds.reduce<State>(
          (state, askers, i) => serve(state, cluster.nodes, askers, i * 5),
          start,
        );
        expect(wanted(end, cluster)).toEqual([]);
      }),
      runs,
    );
  },
  TIMEOUT,
);

test.each(kinds)(
  "P7: $name: and so it is with demand that comes between the marks and the observation after them",
  ({ demands: anyOf }) => {
    fc.assert(
      fc.property(clusterOnItsWay, anyOf, anyOf, anyAskers, (cluster, drawn, drawnLater, askers) => {
        const [demands, later] = metOf(cluster, drawn, drawnLater);
        fc.pre(demands.length > 0 || later.length > 0);
        const start = stateOf(cluster, demands, later);
        fc.pre(wanted({ ...start, record: { ...start.record, sets: start.raised } }, cluster).length === 0);
        const end = serve(start, cluster.nodes, askers, 0, start.raised);
        expect(wanted(end, cluster)).toEqual([]);
      }),
      runs,
    );
  },
  TIMEOUT,
);
