import type { Allocation, NodeLoad } from "../../src/domain/allocation.ts";
import type { BucketOffer, World } from "../../src/domain/world.ts";
import type { BucketKey, Purpose } from "../../src/domain/bucket.ts";
import type { JobDemand, RankedDemand } from "../../src/domain/demand.ts";
import type { NodeId } from "../../src/domain/ids.ts";
import type { ResourceValue } from "../../src/domain/resources.ts";
import type { Constraint } from "../../src/domain/constraint.ts";
import type { EmptyNode, NaivePools } from "./naive-constraints.ts";
import { sharedName } from "./naive-constraints.ts";

/** One node after the plan, by itself. */
export interface NaiveNode extends EmptyNode {
  readonly origin: NodeLoad["origin"];
  readonly nodeId?: NodeId;
  readonly hostname?: string;
  readonly name?: string;
  readonly purpose: Purpose;
  readonly cores: number;
  readonly ready: boolean;
  readonly isSpot: boolean;
  /** Needed or new or in flight, and no node that stays deallocated. */
  readonly isThere: boolean;
  readonly jobs: NodeLoad["jobs"];
}

/** One case with its answer, laid out for counting. */
export interface Sheet {
  readonly world: World;
  readonly demands: readonly RankedDemand[];
  readonly answer: Allocation;
  readonly nodes: readonly NaiveNode[];
  readonly pools: NaivePools;
  /** What could not be laid out. */
  readonly faults: readonly string[];
}

export const textOf = ({ array, machineType, placementGroup }: BucketKey): string =>
  `${array}/${machineType.toLowerCase()}/${placementGroup ?? ""}`;
export const placeText = ({ array, machineType }: BucketKey): string =>
  `${array}/${machineType.toLowerCase()}`;

export function offerAt(world: World, bucket: BucketKey): BucketOffer | undefined {
  return world.buckets.find((offer) => placeText(offer.bucket) === placeText(bucket));
}

export function outcomeOf({ answer }: Pick<Sheet, "answer">, { set, demand }: RankedDemand) {
  return answer.outcomes.find((one) => one.set === set && one.id === demand.id);
}

export const nameOf = ({ set, demand }: RankedDemand): string => `${set}/${demand.id}`;

export interface RankedJob extends RankedDemand {
  readonly demand: JobDemand;
}

export function jobsOf(demands: readonly RankedDemand[]): readonly RankedJob[] {
  return demands.flatMap(({ set, demand }) => (demand.kind === "job" ? [{ set, demand }] : []));
}

/** The share of a gang on each of its nodes; undefined: the job is no gang. */
export function shareOf({ nodeCount, iterations }: JobDemand): number | undefined {
  return nodeCount === undefined || nodeCount === 0 ? undefined : iterations;
}

/** Lays out all nodes: those that exist, those in flight, those to be made, each with what the plan puts on it. */
export function layOut(world: World, demands: readonly RankedDemand[], answer: Allocation): Sheet {
  const faults: string[] = [];
  const bare = [...existing(world, answer), ...coming(world, answer)];
  const free = new Map<string, number[]>();
  bare.forEach((node, i) => {
    const key = keyOf(node.origin, node.bucket, node.nodeId);
    free.set(key, [...(free.get(key) ?? []), i]);
  });
  const jobs = new Map<number, NodeLoad["jobs"]>();
  for (const load of answer.loads) {
    const key = keyOf(load.origin, load.bucket, load.nodeId);
    const places = free.get(key)?.splice(0, load.count) ?? [];
    if (places.length < load.count || load.count < 1)
      faults.push(`${load.count} loads at ${key}, ${places.length} nodes`);
    for (const i of places) jobs.set(i, load.jobs);
  }
  const nodes = bare.map((node, i): NaiveNode => ({ ...node, jobs: jobs.get(i) ?? [] }));
  return { world, demands, answer, nodes, pools: poolsOf(world, demands), faults };
}

const keyOf = (origin: string, bucket: BucketKey, id: NodeId | undefined): string =>
  `${origin} ${textOf(bucket)} ${id ?? ""}`;

type Bare = Omit<NaiveNode, "jobs">;

function existing(world: World, { needed, starts }: Allocation): readonly Bare[] {
  return world.nodes.map((node) => {
    const isOff = node.deallocated === true && !starts.includes(node.nodeId);
    const properties = propertiesOf(node.bucket, node.properties);
    return {
      ...node,
      origin: "existing",
      properties,
      isSpot: isSpot(world, node.bucket, properties),
      ready: node.ready && node.deallocated !== true,
      isThere: needed.has(node.nodeId) && !isOff,
    };
  });
}

function coming(world: World, { creates }: Allocation): readonly Bare[] {
  const flying = world.inFlight.map((entry) => ({ ...entry, origin: "in-flight" as const }));
  const planned = creates.flatMap((create) => {
    const offer = offerAt(world, create.bucket);
    if (offer === undefined) return [];
    // A job that may not create a node after a recent capacity failure may use one that another demand creates.
    const { capacityFailureSeconds: _made, ...made } = offer;
    return [{ ...made, ...create, origin: "planned" as const }];
  });
  return [...flying, ...planned].flatMap((entry) => {
    const { purpose } = entry;
    const properties = propertiesOf(entry.bucket, entry.properties);
    const node: Bare = {
      ...entry,
      ...(purpose.kind === "named" ? { name: purpose.name } : {}),
      properties,
      isSpot: isSpot(world, entry.bucket, properties),
      ready: false,
      isThere: true,
    };
    return Array.from({ length: entry.count }, () => node);
  });
}

/** By its own properties; where nothing is known of them, by its bucket. */
function isSpot(
  world: World,
  bucket: BucketKey,
  properties: Readonly<Record<string, ResourceValue>>,
): boolean {
  return (properties["spot"] ?? offerAt(world, bucket)?.spot) === true;
}

/** The group is that of the bucket, whatever an offer says, which stands for all groups. */
export function propertiesOf(
  bucket: BucketKey,
  properties: World["nodes"][number]["properties"],
): Readonly<Record<string, ResourceValue>> {
  const { array, machineType, placementGroup } = bucket;
  const group = placementGroup ?? null;
  return {
    nodearray: array,
    vm_size: machineType,
    ...properties?.(),
    placement_group: group,
    colocated: group !== null,
  };
}

export function poolsOf(world: World, demands: readonly RankedDemand[]): NaivePools {
  const left = new Map<string, number>();
  const values = new Map(
    (world.pools ?? []).flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const])),
  );
  for (const { name, total, used } of world.pools ?? []) left.set(name, Math.max(0, total - used));
  const collect = (constraint: Constraint): void => {
    if (constraint.kind === "shared-consumable") {
      for (const { source, current } of constraint.pools)
        left.set(sharedName(constraint.resource, source), current);
    } else if (constraint.kind === "not") collect(constraint.of);
    else if ("of" in constraint) constraint.of.forEach(collect);
  };
  for (const { demand } of jobsOf(demands)) demand.constraints.forEach(collect);
  return { left, values };
}

/** The node that a scheduler means by a host's name: without regard to case and domain. */
export function hostAt(nodes: readonly NaiveNode[], hostname: string): NaiveNode | undefined {
  const label = (name: string): string => name.toLowerCase().split(".")[0] ?? "";
  return nodes.find((node) => node.hostname !== undefined && label(node.hostname) === label(hostname));
}
