/** Dynamic node arrays in whole decisions, counted by hand. How to replay a failure stands in runs.ts. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "../../src/decide/reconcile/reconcile.ts";
import type { Purpose } from "../../src/domain/bucket.ts";
import type { Node } from "../../src/domain/cluster.ts";
import type { Demand } from "../../src/domain/demand.ts";
import { arrayName } from "../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import { buildLedger, NOW, rememberNode } from "../support/build-node.ts";
import type { RandomCluster } from "../support/build-random-cluster.ts";
import { anyCluster, anyDemands, showCluster } from "../support/build-random-cluster.ts";
import { buildState, OURS } from "../support/build-record.ts";
import { runsOf, TIMEOUT } from "./runs.ts";
import type { Decision } from "../../src/domain/decision.ts";

const runs = runsOf(7, { usual: 90 });

/** Where the nodes of each dynamic array of build-random-cluster.ts are, and what they are created with. */
const DYNAMIC = new Map([
  ["licensed", { parent: "execute", attributes: { Configuration: { licence: "x" } } }],
  ["lab", { parent: "viz", attributes: undefined }],
]);

/** Every second node is of the dynamic array that extends its own. */
function purposeOf({ array }: Node, position: number): Purpose {
  const [name] = [...DYNAMIC].find(([, { parent }]) => parent === array) ?? [];
  return name === undefined || position % 2 === 0
    ? { kind: "array" }
    : { kind: "dynamic", array: arrayName(name) };
}

/** The array that a node or a create counts for. */
function countsFor(purpose: Purpose, array: string): string {
  if (purpose.kind === "dynamic") return purpose.array;
  return purpose.kind === "group" ? (purpose.dynamic ?? array) : array;
}

function decideOn(cluster: RandomCluster, demands: readonly Demand[], nodes: readonly Node[]): Decision {
  const { nodes: known } = cluster;
  const ledger = known.map((node, i) => rememberNode(node, { purpose: purposeOf(node, i) }));
  const state = buildState({ sets: { standard: { demands } }, ledger: buildLedger(ledger) });
  const observation = { snapshot: { ...showCluster(cluster, nodes), at: NOW }, requestNodes: new Map() };
  return decide(state.record, state.bodies, observation, DEFAULT_POLICY, NOW, OURS);
}

/** The id of a group is on its nodes, beside whatever else is asked of them. */
function withId(attributes: { readonly Configuration: object } | undefined, id: string): object {
  const Configuration = { ...attributes?.Configuration, cyclecloud: { node: { group_id: id } } };
  return { ...attributes, Configuration, GroupId: id };
}

const anyScene = fc.tuple(anyCluster(10), anyDemands);

test(
  "nodes are created only in arrays that the cluster has, with the attributes of what they count for, under its limits",
  () => {
    let forDynamic = 0;
    fc.assert(
      fc.property(anyScene, ([cluster, demands]) => {
        const { plan } = decideOn(cluster, demands, cluster.nodes);
        const snapshot = showCluster(cluster, cluster.nodes);
        for (const { bucket, purpose, attributes, count } of plan.creates) {
          const name = countsFor(purpose, bucket.array);
          const own = DYNAMIC.get(name);
          expect(bucket.array).toBe(own?.parent ?? name);
          const group = purpose.kind === "group" ? bucket.placementGroup : undefined;
          expect(attributes).toEqual(group === undefined ? own?.attributes : withId(own?.attributes, group));
          if (own !== undefined) forDynamic += count;
        }
        let total = 0;
        for (const array of snapshot.arrays) {
          for (const { machineType, maxCount = 0, activeCount } of array.buckets) {
            const made = plan.creates
              .filter(({ bucket }) => bucket.array === array.name && bucket.machineType === machineType)
              .reduce((sum, { count }) => sum + count, 0);
            if (made > 0) expect(activeCount + made).toBeLessThanOrEqual(maxCount);
            total += made;
          }
        }
        if (total > 0) expect(cluster.nodes.length + total).toBeLessThanOrEqual(cluster.limits.cluster);
      }),
      runs,
    );
    expect(forDynamic).toBeGreaterThan(100);
  },
  TIMEOUT,
);

test(
  "each array has its own floor: what it has and gets reaches its largest target in nodes, or that is unmet with a reason",
  () => {
    let reached = 0;
    let short = 0;
    fc.assert(
      fc.property(anyScene, ([cluster, demands]) => {
        const { plan, record } = decideOn(cluster, demands, cluster.nodes);
        const stopped = new Set(
          record.intents.flatMap(({ effect }) => (effect.kind === "terminate" ? effect.nodes : [])),
        );
        const have = new Map<string, number>();
        const add = (name: string, count: number): void => {
          have.set(name, (have.get(name) ?? 0) + count);
        };
        cluster.nodes.forEach((node, i) => {
          const usable = (node.phase === "ready" || node.phase === "coming") && !stopped.has(node.nodeId);
          if (usable) add(countsFor(purposeOf(node, i), node.array), 1);
        });
        for (const { bucket, purpose, count } of plan.creates) add(countsFor(purpose, bucket.array), count);
        for (const demand of demands) {
          if (demand.kind !== "target" || demand.amount.unit !== "nodes") continue;
          const outcome = plan.demands.find(({ id }) => id === demand.id);
          const isMet = (outcome?.placed ?? 0) >= demand.amount.count;
          expect(isMet).toBe((have.get(demand.array) ?? 0) >= demand.amount.count);
          if (isMet) reached += 1;
          else {
            short += 1;
            expect(outcome?.reasons.length).toBeGreaterThan(0);
          }
        }
      }),
      runs,
    );
    expect(Math.min(reached, short)).toBeGreaterThan(8);
  },
  TIMEOUT,
);

test(
  "P5: neither the order of demands in the message body nor that of nodes in the status changes the plan",
  () => {
    fc.assert(
      fc.property(anyScene, ([cluster, demands]) => {
        const there = decideOn(cluster, demands, cluster.nodes);
        const back = decideOn(cluster, demands.toReversed(), cluster.nodes.toReversed());
        expect(back.plan.creates).toEqual(there.plan.creates);
        expect(back.plan.demands).toEqual(there.plan.demands);
        expect(back.record.dynamicArrays).toEqual(there.record.dynamicArrays);
      }),
      runs,
    );
  },
  TIMEOUT,
);
