import fc from "fast-check";
import { EXCLUSIVE, inArrays, needing } from "./build-constraints.ts";
import type { Node, NodeArray, Snapshot } from "../../src/domain/cluster.ts";
import type { Demand, GroupDemand, NodeAttributes } from "../../src/domain/demand.ts";
import type { ArrayName } from "../../src/domain/ids.ts";
import { arrayName } from "../../src/domain/ids.ts";
import { buildArray, buildBucket, buildNode, buildSnapshot, D4, D8, EXECUTE } from "./build-node.ts";
import { buildJob, buildTarget } from "./build-record.ts";

/** A small cluster: two arrays of two VM sizes each, with tight limits. Its status counts as CycleCloud does. */
export interface RandomCluster {
  readonly limits: RandomLimits;
  readonly nodes: readonly Node[];
}

interface RandomLimits {
  /** Maximum number of nodes in the cluster. */
  readonly cluster: number;
  /** Maximum number of nodes in each bucket, in the order of {@link PLACES}. */
  readonly buckets: readonly number[];
}

const ARRAYS = [arrayName("execute"), arrayName("viz")];
const SIZES = [
  { type: D4, vcpus: 4 },
  { type: D8, vcpus: 8 },
];
const PLACES = ARRAYS.flatMap((array) => SIZES.map((size) => ({ array, ...size })));

/** The status of the cluster with these nodes: the active nodes, and how many more each bucket has. */
export function showCluster({ limits }: RandomCluster, nodes: readonly Node[]): Snapshot {
  const arrays = ARRAYS.map((array): NodeArray => {
    const buckets = PLACES.flatMap((place, index) => {
      if (place.array !== array) return [];
      const here = nodes.filter((node) => node.array === array && node.machineType === place.type);
      const maxCount = limits.buckets[index] ?? 0;
      return buildBucket(place.type, place.vcpus, {
        maxCount,
        activeCount: here.length,
        availableCount: Math.max(0, Math.min(maxCount - here.length, limits.cluster - nodes.length)),
        maxPlacementGroupSize: 4,
        placementGroups: groupsOf(here),
      });
    });
    return buildArray(array, { buckets });
  });
  return buildSnapshot(nodes, { arrays, limit: { count: limits.cluster } });
}

function groupsOf(nodes: readonly Node[]) {
  const names = new Set(nodes.flatMap(({ placementGroup }) => placementGroup ?? []));
  return [...names].map((name) => ({
    name,
    activeCount: nodes.filter(({ placementGroup }) => placementGroup === name).length,
  }));
}

export const anyPhase = fc.constantFrom(
  "ready" as const,
  "ready" as const,
  "coming" as const,
  "failed" as const,
  "going" as const,
);

/** `phases`: the phases that nodes may have; `alike`: one array offers one VM size, and no other bucket has nodes available. */
export function anyCluster(
  maxNodes: number,
  phases: fc.Arbitrary<Node["phase"]> = anyPhase,
  variety: "mixed" | "alike" = "mixed",
): fc.Arbitrary<RandomCluster> {
  const places = variety === "mixed" ? PLACES : PLACES.slice(0, 1);
  const anyNode = fc.record({ place: fc.constantFrom(...places), phase: phases });
  return fc
    .record({
      cluster: fc.integer({ min: 6, max: 24 }),
      buckets: fc.array(fc.nat(10), { minLength: places.length, maxLength: places.length }),
      drawn: fc.array(anyNode, { maxLength: maxNodes }),
    })
    .map(({ cluster, buckets, drawn }) => ({
      limits: { cluster, buckets },
      nodes: drawn.map(({ place, phase }, i) =>
        buildNode(`n${i}`, { array: place.array, machineType: place.type, phase }),
      ),
    }));
}

type Unranked = (id: string, position: number, priority: number) => Demand;

interface Aim {
  readonly array: ArrayName;
  readonly extends?: ArrayName;
  readonly attributes?: NodeAttributes;
}

/** The array of a target: one of the cluster's, or one of two dynamic arrays, each of which has one definition. */
const AIMS: readonly Aim[] = [
  ...ARRAYS.map((array) => ({ array })),
  { array: arrayName("licensed"), extends: EXECUTE, attributes: { Configuration: { licence: "x" } } },
  { array: arrayName("lab"), extends: arrayName("viz") },
];
const anyAim = fc.constantFrom(...AIMS);

const anyTarget = fc
  .record({ aim: anyAim, unit: fc.constantFrom("nodes" as const, "cores" as const), count: fc.nat(12) })
  .map(
    ({ aim, unit, count }): Unranked =>
      (id, position, priority) =>
        buildTarget(count, { id, position, priority, ...aim, amount: { unit, count } }),
  );

const anyJob = fc
  .record({
    ncpus: fc.constantFrom(1, 3, 4, 6),
    iterations: fc.nat(14),
    where: fc.constantFrom<readonly ArrayName[] | undefined>(undefined, ...AIMS.map(({ array }) => [array])),
    nodeCount: fc.constantFrom(undefined, undefined, 2, 3),
    exclusive: fc.boolean(),
  })
  .map(
    ({ ncpus, iterations, where, nodeCount, exclusive }): Unranked =>
      (id, position, priority) =>
        buildJob(id, nodeCount === undefined ? iterations : 1, {
          position,
          priority,
          constraints: [
            ...needing({ ncpus }),
            ...(where === undefined ? [] : [inArrays(...where)]),
            ...(exclusive ? [EXCLUSIVE] : []),
          ],
          ...(nodeCount === undefined ? {} : { nodeCount }),
        }),
  );

const anyGroups = fc
  .record({ aim: anyAim, groups: fc.nat(2), count: fc.integer({ min: 1, max: 3 }) })
  .map(({ aim, groups, count }): Unranked => (id, position, priority): GroupDemand => ({
    kind: "groups",
    id,
    position,
    priority,
    ...aim,
    groups,
    size: { unit: "nodes", count },
  }));

/** A few demands of every kind, ranked. */
export const anyDemands: fc.Arbitrary<readonly Demand[]> = fc
  .array(fc.tuple(fc.oneof(anyTarget, anyJob, anyGroups), fc.nat(1)), { minLength: 1, maxLength: 4 })
  .map((drawn) => drawn.map(([make, priority], i) => make(`d${i}`, i, priority)));
