import { SizeNames } from "../../domain/size-names.ts";
import { withoutPlacementGroup, autoscaleSettingsOf, spotIn } from "../../domain/attributes.ts";
import type { NodeArray } from "../../domain/cluster.ts";
import type { DynamicDefinition } from "../../domain/dynamic-array.ts";
import type { ArrayName, PlacementGroup } from "../../domain/ids.ts";
import { sameMachineType, placementGroup } from "../../domain/ids.ts";
import { findPrice } from "../../domain/price.ts";
import type { Reason } from "../../domain/reason.ts";
import type { BucketOffer, World } from "../../domain/world.ts";
import type { Ceilings } from "./ceilings.ts";
import type { ClusterBuckets } from "./cluster-buckets.ts";
import type { Opposites } from "./counterparts.ts";
import { chargesFor } from "./counterparts.ts";
import type { Dynamic } from "./dynamic-arrays.ts";
import { probeCharges } from "./open-bucket.ts";
import type { WorldInput } from "./world-input.ts";
import { dynamicArrayOf } from "../../domain/bucket.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** The offers of dynamic arrays: those of the arrays that they extend, with the VM sizes in the order of the definition. */
export function dynamicOffers(
  input: WorldInput,
  own: readonly BucketOffer[],
  opposites: Opposites,
  clusterBuckets: ClusterBuckets,
  ceilings: Ceilings,
): readonly BucketOffer[] {
  const byArray = new Map<ArrayName, BucketOffer[]>();
  for (const offer of own) {
    const offers = byArray.get(offer.bucket.array) ?? [];
    byArray.set(offer.bucket.array, offers);
    offers.push(offer);
  }
  const offers: BucketOffer[] = [];
  for (const dynamic of input.dynamics?.values() ?? []) {
    const { definition, parent, refusal } = dynamic;
    if (refusal !== undefined || parent === undefined || definition === undefined) continue;
    for (const offer of chooseOffers(byArray.get(parent.name) ?? [], definition))
      offers.push(extend(input, offer, dynamic, definition, parent, opposites, clusterBuckets, ceilings));
  }
  return offers;
}

function chooseOffers(
  offers: readonly BucketOffer[],
  { machineTypes }: DynamicDefinition,
): readonly BucketOffer[] {
  if (machineTypes === undefined) return offers;
  const names = new SizeNames(offers.map(({ bucket }) => bucket.machineType));
  return machineTypes.flatMap((type) =>
    offers.filter(({ bucket }) => sameMachineType(bucket.machineType, names.of(type))),
  );
}

function extend(
  input: WorldInput,
  parent: BucketOffer,
  { name }: Dynamic,
  definition: DynamicDefinition,
  array: NodeArray,
  opposites: Opposites,
  clusterBuckets: ClusterBuckets,
  ceilings: Ceilings,
): BucketOffer {
  const { machineType } = parent.bucket;
  const clusterBucket = clusterBuckets.at(name, machineType, undefined);
  const pinned = parent.pinnedGroup ?? pinnedGroupOf(definition);
  const pauses = pausesOf(input, name, parent);
  const spot = clusterBucket.array?.spot === true;
  const price =
    input.policy.prices === undefined
      ? undefined
      : findPrice(input.policy.prices, array.region, machineType, { spot });
  const { configuredGroups: _theirs, price: _price, spot: _spot, notHpc: _hpc, ...rest } = parent;
  return {
    ...rest,
    bucket: clusterBucket.bucket,
    resources: clusterBucket.view.available,
    properties: () => clusterBucket.view.properties,
    inGroup: (group) => {
      const { available, properties } = clusterBuckets.at(name, machineType, group).view;
      return { resources: available, properties: () => properties };
    },
    ...withoutAbsent({ price }),
    ...(spot ? { spot } : {}),
    charges: [
      ...chargesFor(parent, { spot }, opposites),
      ...probeCharges(input, parent.bucket, name, ceilings),
    ],
    ...(clusterBucket.array?.notHpc === true ? { notHpc: true } : {}),
    ...withoutAbsent({ pinnedGroup: pinned }),
    ...attributesOf(definition),
    ...pauses,
    parent,
  };
}

/** The pauses of the bucket and those of this dynamic array only. */
function pausesOf(
  { backoffs, now }: WorldInput,
  name: ArrayName,
  parent: BucketOffer,
): Pick<BucketOffer, "refusal" | "groupRefusals"> {
  let { refusal } = parent;
  const groupRefusals = new Map(parent.groupRefusals);
  for (const backoff of backoffs) {
    const { placementGroup: group, machineType, array } = backoff.bucket;
    const isIts = backoff.dynamic === name && array === parent.bucket.array;
    // A pause may also have the name of the dynamic array in its bucket.
    if (!(isIts || array === name) || backoff.until <= now) continue;
    if (!sameMachineType(machineType, parent.bucket.machineType)) continue;
    const bucket = { array: name, machineType: parent.bucket.machineType };
    const reason: Reason = {
      code: "backing-off",
      bucket: group === undefined ? bucket : { ...bucket, placementGroup: group },
      until: backoff.until,
      message: backoff.message,
    };
    if (group === undefined) refusal ??= reason;
    else groupRefusals.set(group, reason);
  }
  return {
    ...withoutAbsent({ refusal }),
    ...(groupRefusals.size === 0 ? {} : { groupRefusals }),
  };
}

function attributesOf({ attributes }: DynamicDefinition): Pick<BucketOffer, "attributes"> {
  const sent = withoutPlacementGroup(attributes);
  return sent === undefined ? {} : { attributes: sent };
}

/**
 * Dynamic node arrays as the allocator sees them: arrays with buckets of their own. Their nodes count for their own targets, and not for
 * those of the array that they extend. They share its limits and pauses. They share its quotas too, unless only one of the two is spot.
 */
interface DynamicSupply {
  /** Whether each array is ours, including dynamic ones. */
  readonly arrays: World["arrays"];
  /** Each dynamic array as a copy of the array that it extends, with its own name and definition. */
  readonly copies: readonly NodeArray[];
  /** Dynamic arrays that get no new nodes, and why. */
  readonly refused: ReadonlyMap<ArrayName, Reason>;
}

/** Makes the arrays of all dynamic arrays that exist or are defined. */
export function dynamicSupply(input: WorldInput, managed: World["arrays"]): DynamicSupply {
  const arrays = new Map(managed);
  const copies: NodeArray[] = [];
  const refused = new Map<ArrayName, Reason>();
  for (const { name, definition, parent, refusal } of input.dynamics?.values() ?? []) {
    if (refusal !== undefined) refused.set(name, refusal);
    if (refusal?.code === "dynamic-name-taken") continue;
    arrays.set(name, "managed");
    if (parent === undefined || definition === undefined) continue;
    copies.push(copyOf(name, parent, definition));
    if (managed.get(parent.name) !== "managed" && refusal === undefined)
      refused.set(name, { code: "array-not-managed", array: parent.name });
  }
  const copied = new Set(copies.map(({ name }) => name));
  for (const [name, parent] of homesOf(input)) {
    const array = input.snapshot.arrays.find((one) => one.name === parent);
    if (copied.has(name) || array === undefined || managed.has(name)) continue;
    arrays.set(name, "managed");
    copies.push({ ...array, name });
  }
  return { arrays, copies, refused };
}

/** By dynamic array with nodes, the array in which they are created, even if no set defines it any more. */
function homesOf({
  snapshot,
  ledger,
  inFlight,
  pendingCreates,
}: WorldInput): ReadonlyMap<ArrayName, ArrayName> {
  const homes = new Map<ArrayName, ArrayName>();
  snapshot.nodes.forEach(({ nodeId, array }) => {
    const name = dynamicArrayOf(ledger.get(nodeId)?.purpose);
    if (name !== undefined) homes.set(name, array);
  });
  for (const { purpose, bucket } of [...inFlight, ...pendingCreates]) {
    const name = dynamicArrayOf(purpose);
    if (name !== undefined) homes.set(name, bucket.array);
  }
  return homes;
}

function copyOf(name: ArrayName, parent: NodeArray, definition: DynamicDefinition): NodeArray {
  const { attributes = {}, machineTypes } = definition;
  const { resources, configuration, isHpc } = autoscaleSettingsOf(attributes["Configuration"]);
  const { notHpc, ...rest } = parent;
  const spot = spotIn(attributes);
  const group = pinnedGroupOf(definition);
  const names = new SizeNames(parent.buckets.map(({ machineType }) => machineType));
  const buckets = parent.buckets.filter(
    ({ machineType }) => machineTypes?.some((type) => sameMachineType(names.of(type), machineType)) ?? true,
  );
  return {
    ...rest,
    name,
    ...((isHpc ?? notHpc !== true) ? {} : { notHpc: true }),
    resources: { ...parent.resources, ...resources },
    ...(configuration === undefined ? {} : { configuration: { ...parent.configuration, ...configuration } }),
    ...withoutAbsent({ spot, placementGroup: group }),
    buckets,
  };
}

/** The placement group that the definition names. It is the array's only one, as in a template (cyclecloud-wire.md A.3, semantics 11). */
function pinnedGroupOf({ attributes = {} }: DynamicDefinition): PlacementGroup | undefined {
  const group = attributes["PlacementGroupId"];
  return typeof group === "string" && group !== "" ? placementGroup(group) : undefined;
}
