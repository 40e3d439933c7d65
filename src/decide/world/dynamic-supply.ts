// Long: dynamic arrays, their homes and their offers are made in one pass over the same parents.
import type { BucketOffer, World } from "../../domain/world.ts";
import { autoscaleSettingsOf, spotIn, withoutPlacementGroup } from "../../domain/attributes.ts";
import { dynamicArrayOf } from "../../domain/bucket.ts";
import type { NodeArray } from "../../domain/cluster.ts";
import type { DynamicDefinition } from "../../domain/dynamic-array.ts";
import type { ArrayName, PlacementGroup } from "../../domain/ids.ts";
import { placementGroup, sameMachineType } from "../../domain/ids.ts";
import { InTurn } from "../../domain/in-turn.ts";
import { findPrice } from "../../domain/price.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Opposites } from "./counterparts.ts";
import { chargesFor } from "./counterparts.ts";
import type { Dynamic } from "./dynamic-arrays.ts";
import type { Places } from "./cluster-buckets.ts";
import type { WorldInput } from "./world-input.ts";

/**
 * Dynamic node arrays as the allocator sees them: arrays like others, with buckets of their own. Their nodes count for their own targets
 * and not for those of the array that they extend, nor the other way round; limits and pauses are that array's, and so are quotas, unless
 * one of the two is spot and the other is not.
 */
export interface DynamicSupply {
  /** All arrays, dynamic ones as ours as those that they extend. */
  readonly arrays: World["arrays"];
  /** What the nodes of each are like: the array that it extends under its name, with what it lays over that. */
  readonly copies: readonly NodeArray[];
  /** Those that get no new nodes, and why. */
  readonly refused: ReadonlyMap<ArrayName, Reason>;
}

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

/** Where the nodes of each dynamic array are, whoever still defines it. */
function homesOf({
  snapshot,
  ledger,
  inFlight,
  pendingCreates,
}: WorldInput): ReadonlyMap<ArrayName, ArrayName> {
  const homes = new Map<ArrayName, ArrayName>();
  const entries = new InTurn(ledger);
  snapshot.nodes.forEach(({ nodeId, array }) => {
    const name = dynamicArrayOf(entries.get(nodeId)?.purpose);
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
  const buckets = parent.buckets.filter(
    ({ machineType }) => machineTypes?.some((type) => sameMachineType(type, machineType)) ?? true,
  );
  return {
    ...rest,
    name,
    ...((isHpc ?? notHpc !== true) ? {} : { notHpc: true }),
    resources: { ...parent.resources, ...resources },
    ...(configuration === undefined ? {} : { configuration: { ...parent.configuration, ...configuration } }),
    ...(spot === undefined ? {} : { spot }),
    ...(group === undefined ? {} : { placementGroup: group }),
    buckets,
  };
}

/** A group that the definition names is the array's only one, as in a template (cyclecloud-wire.md A.3, semantics 11). */
function pinnedGroupOf({ attributes = {} }: DynamicDefinition): PlacementGroup | undefined {
  const group = attributes["PlacementGroupId"];
  return typeof group === "string" && group !== "" ? placementGroup(group) : undefined;
}

function attributesOf({ attributes }: DynamicDefinition): Pick<BucketOffer, "attributes"> {
  const sent = withoutPlacementGroup(attributes);
  return sent === undefined ? {} : { attributes: sent };
}

/** Where new nodes of dynamic arrays can be made: the offers of the arrays that they extend, in the order that each prefers. */
export function dynamicOffers(
  input: WorldInput,
  own: readonly BucketOffer[],
  opposites: Opposites,
  places: Places,
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
    for (const offer of chosen(byArray.get(parent.name) ?? [], definition))
      offers.push(extend(input, offer, dynamic, definition, parent, opposites, places));
  }
  return offers;
}

function chosen(offers: readonly BucketOffer[], { machineTypes }: DynamicDefinition): readonly BucketOffer[] {
  if (machineTypes === undefined) return offers;
  return machineTypes.flatMap((type) =>
    offers.filter(({ bucket }) => sameMachineType(bucket.machineType, type)),
  );
}

function extend(
  input: WorldInput,
  parent: BucketOffer,
  { name }: Dynamic,
  definition: DynamicDefinition,
  array: NodeArray,
  opposites: Opposites,
  places: Places,
): BucketOffer {
  const { machineType } = parent.bucket;
  const place = places.at(name, machineType, undefined);
  const pinned = parent.pinnedGroup ?? pinnedGroupOf(definition);
  const pauses = pausesOf(input, name, parent);
  const spot = place.array?.spot === true;
  const price =
    input.policy.prices === undefined
      ? undefined
      : findPrice(input.policy.prices, array.region, machineType, spot);
  const { configuredGroups: _theirs, price: _price, spot: _spot, notHpc: _hpc, ...rest } = parent;
  return {
    ...rest,
    bucket: place.bucket,
    resources: place.view.available,
    properties: () => place.view.properties,
    inGroup: (group) => {
      const { available, properties } = places.at(name, machineType, group).view;
      return { resources: available, properties: () => properties };
    },
    ...(price === undefined ? {} : { price }),
    ...(spot ? { spot } : {}),
    charges: chargesFor(parent, spot, opposites),
    ...(place.array?.notHpc === true ? { notHpc: true } : {}),
    ...(pinned === undefined ? {} : { pinnedGroup: pinned }),
    ...attributesOf(definition),
    ...pauses,
    parent,
  };
}

/** Besides the pauses of the bucket, those that only this array has brought upon itself. */
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
    // Whoever paused a bucket as the allocator names it means this one, too.
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
    ...(refusal === undefined ? {} : { refusal }),
    ...(groupRefusals.size === 0 ? {} : { groupRefusals }),
  };
}
