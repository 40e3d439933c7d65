import type { BucketOffer, InFlightSupply, SupplyNode, World } from "../../domain/allocation.ts";
import type { Bucket, Node, NodeArray, NodePhase, Snapshot } from "../../domain/cluster.ts";
import { spotIn } from "../../domain/attributes.ts";
import { groupsOfArray } from "../../domain/configured-groups.ts";
import { OWN_DEFAULTS } from "../../domain/default-resource.ts";
import type { ArrayName, PlacementGroup } from "../../domain/ids.ts";
import { sameMachineType } from "../../domain/ids.ts";
import { InTurn } from "../../domain/in-turn.ts";
import type { Policy } from "../../domain/policy.ts";
import { findPrice } from "../../domain/price.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Purpose } from "../../domain/bucket.ts";
import { dynamicArrayOf } from "../../domain/bucket.ts";
import type { InFlight, Ledger, LedgerNode } from "../../domain/record.ts";
import { stillInFlight } from "../../domain/record.ts";
import { catalogueOf } from "../../domain/vm-size-data.ts";
import { dynamicOffers, dynamicSupply } from "./dynamic-supply.ts";
import { unknownNodes } from "../nodes/missing.ts";
import { managedArrays } from "../nodes/ledger.ts";
import { capsInForce } from "../senders/caps-in-force.ts";
import type { BucketUsage, Usage } from "./ceilings.ts";
import { Ceilings } from "./ceilings.ts";
import type { OpenBucket } from "./counterparts.ts";
import { counterpartsOf, oppositesOf } from "./counterparts.ts";
import { familyOf } from "./quota-family.ts";
import type { ClusterPlace, ResourceRules } from "./cluster-buckets.ts";
import { coresOf, Places } from "./cluster-buckets.ts";
import { nothingLeft } from "./host-view.ts";
import { ReportedSupply } from "./reported-supply.ts";
import { isStarting, mayBeStarted } from "../intents/node-starts.ts";
import type { WorldInput } from "./world-input.ts";
import { scaleSetsOf } from "./scale-sets.ts";

/**
 * What the allocator may use, from one look and our own memory. Capacity is what is up or coming in arrays that are ours, unless excluded,
 * whether or not its bucket still exists or takes new nodes (cyclecloud-wire.md A.3, semantics 5), and what is in doubt; other failed,
 * going, off and unknown nodes are none (A.5). A deallocated node is supply that must be started first, and counts against limits from when it was asked to. The limits are those of A.3, semantics 1 to 6.
 */
export function buildWorld(input: WorldInput): World {
  const { snapshot, policy } = input;
  const managed = judgeArrays(snapshot, policy);
  const dynamic = dynamicSupply(input, managed);
  const { arrays } = dynamic;
  const places = new Places([...snapshot.arrays, ...dynamic.copies], rulesOf(policy));
  const reported = new ReportedSupply(input.reports);
  const nodes = collectNodes(input, managed, places, reported);
  const inFlight = collectInFlight(input, managed, places);
  const usage = countUsage(places.all());
  const catalogue = catalogueOf(policy);
  const ceilings = new Ceilings(snapshot.limit, usage.cluster, (location, size) =>
    familyOf(catalogue, location, size),
  );
  const opened = snapshot.arrays
    .filter((array) => managed.get(array.name) === "managed")
    .toSorted((a, b) => b.priority - a.priority)
    .flatMap((array) =>
      array.buckets.map((bucket) => openBucket(input, array, bucket, places, usage, ceilings)),
    )
    .map((one) => ({ ...one, offer: reported.believed(one.offer) }));
  const own = opened.map(({ offer }) => offer);
  const opposites = oppositesOf(opened, ceilings);
  const dynamicOnes = dynamicOffers(input, own, opposites, places);
  const buckets = [...own, ...dynamicOnes.map((one) => reported.believed(one))];
  const counterparts = counterpartsOf(buckets, input.demands, opposites, places, policy);
  const scaleSets = scaleSetsOf(input);
  const closed = closedReason(snapshot);
  const limits = ceilings.limits();
  const caps = capsInForce(policy, input.demands ?? []);
  const ours = nodes.some(({ deallocated }) => deallocated === true)
    ? nodes.flatMap((node) => withStartCharges(node, buckets, limits))
    : nodes;
  const others = reported.hosts(policy);
  return {
    nodes: others.length === 0 ? ours : [...ours, ...others],
    inFlight,
    buckets,
    limits,
    arrays,
    ...(dynamic.refused.size === 0 ? {} : { refusedArrays: dynamic.refused }),
    ...(scaleSets.size === 0 ? {} : { scaleSets }),
    ...(input.pools === undefined ? {} : { pools: input.pools }),
    ...(caps.length === 0 ? {} : { caps }),
    ...(counterparts.size === 0 ? {} : { counterparts }),
    ...(closed === undefined ? {} : { closed }),
    ...(namesGroups(policy) ? { namesGroups: true } : {}),
    ...(input.groupFills === undefined ? {} : { groupFills: input.groupFills }),
    ...formerGroups(input.ledger),
  };
}

/** Whether the configuration names a placement group of any array, also of one that is not autoscaled, as scalelib counts them. */
function namesGroups({ placementGroups }: Policy): boolean {
  return [...(placementGroups?.values() ?? [])].some((groups) => groups.length > 0);
}

/** Groups whose nodes we remember, also those that have gone. */
function formerGroups(ledger: Ledger): Pick<World, "formerGroups"> {
  const names = new Set<string>();
  for (const { purpose } of ledger.values()) {
    if (purpose.kind === "group" && purpose.group !== undefined) names.add(purpose.group);
  }
  return names.size === 0 ? {} : { formerGroups: names };
}

function rulesOf(policy: Policy): ResourceRules {
  const { defaultResources = [] } = policy;
  return { configured: defaultResources, own: OWN_DEFAULTS, catalogue: catalogueOf(policy) };
}

/** The same cluster with the nodes that are up and nothing else: only they can stand in for a node that is to be stopped. */
export function readyOnly(world: World): World {
  return { ...world, nodes: world.nodes.filter((node) => node.ready), inFlight: [], buckets: [], limits: [] };
}

function judgeArrays(snapshot: Snapshot, policy: Policy): Map<ArrayName, "managed" | "not-managed"> {
  const managed = managedArrays(snapshot, policy);
  return new Map(snapshot.arrays.map(({ name }) => [name, managed.has(name) ? "managed" : "not-managed"]));
}

/** Phases in which a node has a VM, may get one or may still have one: they count against limits (A.3, semantics 3). */
function countsAgainstLimits(phase: NodePhase): boolean {
  return phase !== "off" && phase !== "deallocated";
}

function collectNodes(
  input: WorldInput,
  arrays: World["arrays"],
  places: Places,
  reported: ReportedSupply,
): readonly SupplyNode[] {
  const supply: SupplyNode[] = [];
  const entries = new InTurn(input.ledger);
  input.snapshot.nodes.forEach((node) => {
    const known = entries.get(node.nodeId);
    const starting = node.phase === "deallocated" && isStarting(known);
    const startable = mayBeStarted(node, known);
    // A node that is switched off may use a quota, of which a status that lacks the node knows nothing.
    const lost = node.missing !== undefined && node.missing.named !== true && node.phase !== "off";
    if (!countsAgainstLimits(node.phase) && !starting && !startable && !lost) return;
    const place = places.at(node.array, node.machineType, node.placementGroup);
    const uncounted = starting || lost;
    if (countsAgainstLimits(node.phase) && !uncounted) {
      place.nodes += 1;
      place.nodeCores += coresOf(node, place);
    } else if (uncounted) {
      // As with a create that no status shows yet: whether CycleCloud counts it is unknown.
      place.waiting += 1;
      if (node.spot !== undefined) place.waitingOpposite += isOpposite(place, node.spot);
    }
    const doubted = input.doubted?.has(node.nodeId) === true;
    const usable = node.phase === "ready" || node.phase === "coming" || doubted || starting || startable;
    if (!usable || arrays.get(node.array) !== "managed" || input.excluded.has(node.nodeId)) return;
    const dynamic = dynamicArrayOf(known?.purpose);
    const home =
      dynamic === undefined ? place : places.at(dynamic, place.bucket.machineType, node.placementGroup);
    const plain = supplyNode(node, known, home, places, input);
    const fromReport = reported.of(plain);
    const one = fromReport === undefined ? plain : { ...plain, ...fromReport };
    supply.push(input.full?.has(node.nodeId) === true ? { ...one, left: nothingLeft(one.resources) } : one);
  });
  return supply;
}

const forArray: Purpose = { kind: "array" };

function supplyNode(
  node: Node,
  known: LedgerNode | undefined,
  place: ClusterPlace,
  places: Places,
  input: WorldInput,
): SupplyNode {
  const starts = node.phase === "deallocated" && isStarting(known);
  const supply: { -readonly [K in keyof SupplyNode]: SupplyNode[K] } = {
    nodeId: node.nodeId,
    bucket: place.bucket,
    purpose: known?.purpose ?? forArray,
    resources: places.resources(node, place),
    properties: () => places.view(node, place).properties,
    cores: coresOf(node, place),
    order:
      known?.start !== undefined && starts
        ? (known.start.plannedAt ?? known.start.since)
        : input.order(node, known),
    ready: node.phase === "ready" && input.doubted?.has(node.nodeId) !== true,
  };
  // One after the other, as spreading them would cost more than all the rest: there are thousands of nodes.
  if (node.hostname !== undefined) supply.hostname = node.hostname;
  if (mayBeStarted(node, known)) supply.deallocated = true;
  if (starts) supply.starting = true;
  return supply;
}

/**
 * A deallocated node still uses its quota (A.5), and what CycleCloud calls available is what can be created under it: neither is asked of
 * a start again. Cluster and array have their limits, which CycleCloud itself does not keep when it starts (A.3, semantics 3). Where
 * nothing says what its bucket's limits are, a node is not started.
 */
function withStartCharges(
  node: SupplyNode,
  buckets: readonly BucketOffer[],
  limits: World["limits"],
): readonly SupplyNode[] {
  if (node.deallocated !== true) return [node];
  const { array, machineType } = node.bucket;
  const offer = buckets.find(
    ({ bucket }) => bucket.array === array && sameMachineType(bucket.machineType, machineType),
  );
  if (offer === undefined) return [];
  const counted = new Set(["nodearray", "cluster"]);
  const charges = offer.charges.filter(({ limit }) => counted.has(limits[limit]?.id.kind ?? ""));
  return [{ ...node, charges }];
}

function collectInFlight(
  input: WorldInput,
  arrays: World["arrays"],
  places: Places,
): readonly InFlightSupply[] {
  const asked: readonly Asked[] = [
    ...input.inFlight.map((entry) => ({
      ...entry,
      count: stillInFlight(entry),
      order: entry.plannedAt ?? entry.since,
    })),
    ...input.pendingCreates.map((create) => ({
      ...create,
      spot: spotIn(create.attributes),
      order: input.now,
    })),
    ...unknownBeyond(input),
  ];
  return asked
    .filter(({ count }) => count > 0)
    .flatMap(({ bucket, purpose, count, order, spot: said }) => {
      const place = places.at(bucket.array, bucket.machineType, bucket.placementGroup);
      place.waiting += count;
      const dynamic = dynamicArrayOf(purpose);
      const home =
        dynamic === undefined ? place : places.at(dynamic, place.bucket.machineType, bucket.placementGroup);
      const spot = said ?? home.array?.spot ?? false;
      place.waitingOpposite += isOpposite(place, spot) * count;
      if (arrays.get(bucket.array) !== "managed") return [];
      const { available, properties } = places.viewAs(home, spot);
      const { bucket: where, cores } = home;
      return [
        { bucket: where, purpose, resources: available, properties: () => properties, cores, count, order },
      ];
    });
}

/** Nodes that only their buckets name and that we do not know: those beyond what is in flight there anyway. */
function unknownBeyond(input: WorldInput): readonly Asked[] {
  return unknownNodes(input.snapshot, input.ledger).flatMap(({ array, machineType, count }) => {
    const isThere = ({ bucket }: Pick<InFlight, "bucket">): boolean =>
      bucket.array === array && sameMachineType(bucket.machineType, machineType);
    const known =
      sum(input.inFlight.filter(isThere), stillInFlight) +
      sum(input.pendingCreates.filter(isThere), (create) => create.count);
    const bucket = { array, machineType };
    return [{ bucket, purpose: forArray, count: count - known, order: input.now }];
  });
}

/** Nodes of a bucket that are counted and not listed. */
interface Asked extends Pick<InFlight, "bucket" | "purpose"> {
  readonly count: number;
  readonly order: number;
  readonly spot?: boolean | undefined;
}

/** 1: nodes that are spot, or not, are of the other kind than the array's own. */
function isOpposite({ array }: ClusterPlace, spot: boolean): 0 | 1 {
  return array === undefined || array.spot === spot ? 0 : 1;
}

interface ClusterUsage {
  readonly cluster: Usage;
  readonly arrays: ReadonlyMap<ArrayName, Usage>;
  /** Places by bucket text without the placement group. */
  readonly buckets: ReadonlyMap<string, readonly ClusterPlace[]>;
}

const bucketKeyOf = (array: ArrayName, machineType: string): string =>
  `${array}/${machineType.toLowerCase()}`;

function countUsage(places: Iterable<ClusterPlace>): ClusterUsage {
  const cluster = { nodes: 0, cores: 0 };
  const arrays = new Map<ArrayName, { nodes: number; cores: number }>();
  const buckets = new Map<string, ClusterPlace[]>();
  for (const place of places) {
    const { array, machineType } = place.bucket;
    const ofArray = arrays.get(array) ?? { nodes: 0, cores: 0 };
    arrays.set(array, ofArray);
    for (const usage of [cluster, ofArray]) {
      usage.nodes += place.nodes + place.waiting;
      usage.cores += place.nodeCores + place.waiting * place.cores;
    }
    const key = bucketKeyOf(array, machineType);
    buckets.set(key, [...(buckets.get(key) ?? []), place]);
  }
  return { cluster, arrays, buckets };
}

function openBucket(
  input: WorldInput,
  array: NodeArray,
  bucket: Bucket,
  places: Places,
  whole: ClusterUsage,
  ceilings: Ceilings,
): OpenBucket {
  const place = places.at(array.name, bucket.machineType, undefined);
  const inUse = whole.buckets.get(bucketKeyOf(array.name, bucket.machineType)) ?? [];
  const { refusal, groupRefusals } = refusalsOf(input, array, bucket);
  const usage: BucketUsage = {
    array: whole.arrays.get(array.name) ?? { nodes: 0, cores: 0 },
    nodes: sum(inUse, (one) => one.nodes),
    waiting: sum(inUse, (one) => one.waiting),
    waitingOpposite: sum(inUse, (one) => one.waitingOpposite),
  };
  const offer: BucketOffer = {
    bucket: place.bucket,
    resources: place.view.available,
    properties: () => place.view.properties,
    inGroup: (group) => {
      const { available, properties } = places.at(array.name, bucket.machineType, group).view;
      return { resources: available, properties: () => properties };
    },
    ...(bucket.lastCapacityFailureSeconds === undefined
      ? {}
      : { capacityFailureSeconds: bucket.lastCapacityFailureSeconds }),
    cores: place.cores,
    ...wishesFor(input.policy, array, bucket),
    charges: ceilings.charges(array, bucket, usage),
    groupSizes: groupSizesOf(bucket, inUse),
    ...(refusal === undefined ? {} : { refusal }),
    ...(bucket.maxPlacementGroupSize === undefined
      ? {}
      : { maxPlacementGroupSize: bucket.maxPlacementGroupSize }),
    ...(array.notHpc === true ? { notHpc: true } : {}),
    ...(array.placementGroup === undefined ? {} : { pinnedGroup: array.placementGroup }),
    ...(groupRefusals.size === 0 ? {} : { groupRefusals }),
  };
  return { offer, array, bucket, usage };
}

/** What the configuration says of a bucket, and whether its nodes may be evicted. */
function wishesFor(
  { prices, placementGroups }: Policy,
  array: NodeArray,
  bucket: Bucket,
): Pick<BucketOffer, "price" | "spot" | "configuredGroups"> {
  const price =
    prices === undefined ? undefined : findPrice(prices, array.region, bucket.machineType, array.spot);
  const groups = placementGroups === undefined ? [] : groupsOfArray(placementGroups, array.name);
  return {
    ...(price === undefined ? {} : { price }),
    ...(array.spot ? { spot: true } : {}),
    ...(groups.length === 0 ? {} : { configuredGroups: groups }),
  };
}

/** Nodes in each group in use: by the status or by our own count, whichever is more. */
function groupSizesOf(bucket: Bucket, inUse: readonly ClusterPlace[]): ReadonlyMap<PlacementGroup, number> {
  const sizes = new Map(bucket.placementGroups.map((group) => [group.name, group.activeCount]));
  const waiting = new Map<PlacementGroup, number>();
  for (const place of inUse) {
    const group = place.bucket.placementGroup;
    if (group === undefined) continue;
    sizes.set(group, Math.max(sizes.get(group) ?? 0, place.nodes));
    waiting.set(group, place.waiting);
  }
  for (const [group, count] of waiting) sizes.set(group, (sizes.get(group) ?? 0) + count);
  return sizes;
}

function refusalsOf(
  input: WorldInput,
  array: NodeArray,
  bucket: Bucket,
): { readonly refusal: Reason | undefined; readonly groupRefusals: ReadonlyMap<PlacementGroup, Reason> } {
  const key = { array: array.name, machineType: bucket.machineType };
  const failedAgo = bucket.lastCapacityFailureSeconds;
  const groupRefusals = new Map<PlacementGroup, Reason>();
  let refusal: Reason | undefined = bucket.valid
    ? undefined
    : { code: "bucket-invalid", bucket: key, why: bucket.invalidReason ?? "no reason given" };
  for (const backoff of input.backoffs) {
    const { placementGroup: group, ...where } = backoff.bucket;
    if (backoff.dynamic !== undefined || backoff.until <= input.now || where.array !== array.name) continue;
    if (!sameMachineType(where.machineType, bucket.machineType)) continue;
    const reason: Reason = {
      code: "backing-off",
      bucket: group === undefined ? key : { ...key, placementGroup: group },
      until: backoff.until,
      message: backoff.message,
      ...(failedAgo === undefined ? {} : { capacityFailureSeconds: failedAgo }),
    };
    if (group === undefined) refusal ??= reason;
    else groupRefusals.set(group, reason);
  }
  return { refusal, groupRefusals };
}

/** New nodes only in a cluster that is started and meant to be: a terminated one could start nodes (A.3, ClusterStatus). */
function closedReason(snapshot: Snapshot): Reason | undefined {
  const { state = "none", targetState = "none" } = snapshot;
  if (state === "Started" && targetState === "Started") return undefined;
  return { code: "cluster-not-started", state, targetState };
}

function sum<T>(items: readonly T[], amount: (item: T) => number): number {
  return items.reduce((total, item) => total + amount(item), 0);
}
