import type { BucketFacts, CaseFacts, NodeFacts } from "./allocator-case.ts";
import { sizeOfBucket } from "./allocator-case.ts";
import type { Json } from "./compare.ts";
import type { Created } from "./naive-limits.ts";
import { familyIn, hasMachine, roomIn } from "./naive-limits.ts";

/** How many more nodes a bucket may have, by each limit, as the vectors show it. */
export interface NaiveFigures {
  readonly available: number;
  readonly bucket: number;
  readonly cluster: number;
  /** By the cluster's limit of nodes, which the vectors do not show. */
  readonly clusterNodes: number;
  readonly family: number;
  readonly nodearray: number;
  /** null: the bucket has no group. */
  readonly placement_group: number | null;
  readonly regional: number;
}

/**
 * The figures of a bucket once a plan has been carried out, counted from the status alone as in naive-limits.ts; undefined: the status has
 * no such bucket. `created`: nodes that the plan makes, or starts.
 */
export function naiveFigures(
  facts: CaseFacts,
  vmSizes: Json,
  created: readonly Created[],
  bucket: string,
): NaiveFigures | undefined {
  const of = facts.buckets.find(({ id, valid }) => id === sizeOfBucket(bucket) && valid);
  const array = facts.arrays.find(({ name }) => name === of?.array);
  if (of === undefined || array === undefined) return undefined;
  const made = created.flatMap((row) => {
    const size = facts.buckets.find(({ id }) => id === sizeOfBucket(row.bucket));
    return size === undefined ? [] : [{ ...row, of: size }];
  });
  const coresMade = (belongs: (one: BucketFacts) => boolean): number =>
    sum(made.filter((row) => belongs(row.of)).map((row) => row.count * row.of.cores));
  const nodesMade = (belongs: (one: BucketFacts) => boolean): number =>
    sum(made.filter((row) => belongs(row.of)).map(({ count }) => count));
  const nodesIn = (cores: number): number => Math.max(0, Math.floor(cores / of.cores));
  const firstOf = (isSame: (one: BucketFacts) => boolean): BucketFacts =>
    facts.buckets.find((one) => one.valid && isSame(one)) ?? of;

  const isInRegion = (one: BucketFacts): boolean => one.region === of.region && one.spot === of.spot;
  const isInFamily = (one: BucketFacts): boolean =>
    isInRegion(one) && familyIn(vmSizes, one) === familyIn(vmSizes, of);
  const isInArray = (one: BucketFacts): boolean => one.array === of.array;
  const regional = nodesIn(roomIn(firstOf(isInRegion).regional) - coresMade(isInRegion));
  const family = of.spot ? regional : nodesIn(roomIn(firstOf(isInFamily).family) - coresMade(isInFamily));

  const there = facts.nodes.filter(hasMachine);
  const ofArray = there.filter((node) => node.array === of.array);
  const cluster = nodesIn(facts.maxCores - coresOf(facts, there) - coresMade(() => true));
  const clusterNodes = facts.maxCount - there.length - nodesMade(() => true);
  const arrayAtFirst = Math.min(
    nodesIn(array.maxCores - coresOf(facts, ofArray)),
    Math.max(0, array.maxCount - ofArray.length),
  );
  const nodearray = Math.min(
    nodesIn(array.maxCores - coresOf(facts, ofArray) - coresMade(isInArray)),
    Math.max(0, array.maxCount - ofArray.length - nodesMade(isInArray)),
  );

  const group = bucket.split("/")[2];
  const inGroup = group === undefined ? undefined : roomInGroup(facts, of, group);
  const madeHere = sum(made.filter((row) => row.bucket === bucket).map(({ count }) => count));
  const madeOfSize = nodesMade((one) => one.id === of.id);
  const placementGroup = inGroup === undefined ? null : Math.max(0, inGroup - madeHere);
  const own = Math.min(of.available, arrayAtFirst) - madeOfSize;
  const all = [of.available - madeOfSize, clusterNodes, cluster, nodearray, family, regional];
  return {
    available: Math.max(0, Math.min(...all, placementGroup ?? Infinity)),
    bucket: Math.max(0, Math.min(own, placementGroup ?? Infinity)),
    cluster,
    clusterNodes,
    family,
    nodearray,
    placement_group: placementGroup,
    regional,
  };
}

function coresOf({ buckets }: CaseFacts, nodes: readonly NodeFacts[]): number {
  return sum(nodes.map((node) => buckets.find(({ id }) => id === `${node.array}/${node.size}`)?.cores ?? 0));
}

/** What is left in a group before the plan: by the status, or by its nodes, whichever are more. */
function roomInGroup({ nodes }: CaseFacts, of: BucketFacts, group: string): number {
  const inside = nodes.filter(
    (node) => hasMachine(node) && `${node.array}/${node.size}` === of.id && node.group === group,
  );
  return of.groupSize - Math.max(of.groups.get(group) ?? 0, inside.length);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
