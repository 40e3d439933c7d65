import type { Allocation } from "../../src/domain/allocation.ts";
import type { InFlightSupply, SupplyNode, World } from "../../src/domain/world.ts";
import type { GroupFill } from "../../src/domain/record.ts";
import type { CreateSet } from "../../src/domain/intent.ts";
import { nodeId } from "../../src/domain/ids.ts";
import { digestOfAttributes } from "../../src/domain/digest.ts";
import { storeLoads } from "../../src/decide/need/weigh.ts";
import { instant } from "../../src/domain/units.ts";
import { newcomers, takenOf } from "./naive-places.ts";
import { offerAt, placeText } from "./naive-nodes.ts";
import { namedProperties } from "./drawn-offers.ts";
import { NOW } from "./small-shapes.ts";
import { scaleSetKey } from "../../src/decide/world/build-world.ts";

/** How far CycleCloud is with what was asked for. */
export type Stage = "in-flight" | "visible" | "ready";
export const STAGES: readonly Stage[] = ["in-flight", "visible", "ready"];

/** Existing nodes have orders below these: what was in flight before comes after them, then what the plan creates, each in its order. */
const ORDER = { inFlight: 15, started: 18, created: 20 };

/**
 * The world once CycleCloud has accepted a plan. `in-flight`: nothing shows yet, creates follow what was in flight before, in their order.
 * `visible`: all of that is there and coming, in the same order. `ready`: and up. Nodes that were deallocated are on their way up, and up.
 */
export function apply(world: World, answer: Allocation, stage: Stage): World {
  const taken = takenOf(world, newcomers(world, answer));
  const started = world.nodes.map((node) => start(node, answer, stage));
  const flying = [
    ...world.inFlight.map((entry) => ({ ...entry, order: ORDER.inFlight })),
    ...answer.creates.flatMap((create) => flightOf(world, create)),
  ];
  const made =
    stage === "in-flight" ? [] : flying.flatMap((entry, i) => show(entry, i, world.inFlight.length, stage));
  return {
    ...world,
    nodes: [...started, ...made],
    inFlight: stage === "in-flight" ? flying : [],
    limits: world.limits.map((limit, i) => ({
      ...limit,
      left: limit.left - (taken[i] ?? 0),
      used: limit.used + (taken[i] ?? 0),
    })),
    buckets: world.buckets.map((offer) => ({
      ...offer,
      groupSizes: grow(offer, world, answer),
      ...pauseOf(offer, answer),
    })),
    groupFills: fillsOf(answer),
    scaleSets: scaleSetsOf(world, answer),
    last: () => ({
      demands: answer.outcomes,
      nodes: new Set(world.nodes.map(({ nodeId: id }) => id)),
      loads: storeLoads(answer),
    }),
  };
}

/** What the nodes of placement groups have been created with. */
function scaleSetsOf({ scaleSets }: World, { creates }: Allocation): NonNullable<World["scaleSets"]> {
  const sets = new Map(scaleSets);
  for (const { bucket, attributes } of creates) {
    const attributesDigest = digestOfAttributes(attributes);
    if (bucket.placementGroup === undefined || attributesDigest === undefined) continue;
    sets.set(scaleSetKey(bucket.array, bucket.machineType, bucket.placementGroup), { attributesDigest });
  }
  return sets;
}

/** The buckets of groups that the plan has given up take nothing for a while. */
function pauseOf(
  { bucket, refusal }: World["buckets"][number],
  { groups }: Allocation,
): Pick<World["buckets"][number], "refusal"> {
  const isGivenUp = groups.some(({ groups: states }) =>
    states.some((state) => state.givenUpAt === NOW && placeText(state.bucket) === placeText(bucket)),
  );
  if (!isGivenUp || refusal?.code === "bucket-invalid") return {};
  return { refusal: { code: "backing-off", bucket, until: instant(NOW + 60_000), message: "given up" } };
}

/** What the next plan knows of groups that lack nodes. */
function fillsOf({ groups }: Allocation): readonly GroupFill[] {
  return groups.flatMap(({ name: key, groups: states }) =>
    states.flatMap(({ bucket, since, givenUpAt }) =>
      since === undefined ? [] : [{ bucket, key, since, ...(givenUpAt === undefined ? {} : { givenUpAt }) }],
    ),
  );
}

function start(node: SupplyNode, { starts }: Allocation, stage: Stage): SupplyNode {
  const isUp = stage === "ready";
  if (node.deallocated !== true) return isUp ? { ...node, ready: true } : node;
  if (!starts.includes(node.nodeId)) return node;
  const { deallocated: _, ...rest } = node;
  const order = ORDER.started + node.order / 100;
  return stage === "in-flight"
    ? { ...rest, ready: false, order, starting: true }
    : { ...rest, ready: isUp, order };
}

function flightOf(world: World, create: CreateSet): readonly InFlightSupply[] {
  const offer = offerAt(world, create.bucket);
  if (offer === undefined) return [];
  const { bucket, purpose, count } = create;
  const { resources, cores, properties } = offer;
  return [
    {
      bucket,
      purpose,
      count,
      order: ORDER.created,
      resources,
      cores,
      ...namedProperties(properties, bucket.placementGroup, undefined),
    },
  ];
}

function show(entry: InFlightSupply, index: number, older: number, stage: Stage): readonly SupplyNode[] {
  const { count, bucket, purpose, resources, cores, properties } = entry;
  const order = index < older ? ORDER.inFlight + index / 100 : ORDER.created + (index - older) / 100;
  return Array.from({ length: count }, (_, i): SupplyNode => {
    const name =
      purpose.kind === "named"
        ? purpose.name
        : `made-${String(index).padStart(2, "0")}-${String(i).padStart(3, "0")}`;
    return {
      nodeId: nodeId(name),
      name,
      hostname: name,
      bucket,
      purpose,
      resources,
      ...namedProperties(properties, bucket.placementGroup, name),
      cores,
      order,
      ready: stage === "ready",
    };
  });
}

function grow(
  offer: World["buckets"][number],
  world: World,
  answer: Allocation,
): World["buckets"][number]["groupSizes"] {
  const sizes = new Map(offer.groupSizes);
  for (const { bucket, count } of newcomers(world, answer)) {
    const group = bucket.placementGroup;
    if (group === undefined || placeText(bucket) !== placeText(offer.bucket)) continue;
    sizes.set(group, (sizes.get(group) ?? 0) + count);
  }
  return sizes;
}
