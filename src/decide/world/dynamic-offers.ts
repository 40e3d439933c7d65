import { withoutPlacementGroup } from "../../domain/attributes.ts";
import type { NodeArray } from "../../domain/cluster.ts";
import type { DynamicDefinition } from "../../domain/dynamic-array.ts";
import type { ArrayName } from "../../domain/ids.ts";
import { sameMachineType } from "../../domain/ids.ts";
import { findPrice } from "../../domain/price.ts";
import type { Reason } from "../../domain/reason.ts";
import type { BucketOffer } from "../../domain/world.ts";
import type { Ceilings } from "./ceilings.ts";
import type { ClusterBuckets } from "./cluster-buckets.ts";
import type { Opposites } from "./counterparts.ts";
import { chargesFor } from "./counterparts.ts";
import type { Dynamic } from "./dynamic-arrays.ts";
import { pinnedGroupOf } from "./dynamic-supply.ts";
import { probeCharges } from "./probe.ts";
import type { WorldInput } from "./world-input.ts";

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
    ...(price === undefined ? {} : { price }),
    ...(spot ? { spot } : {}),
    charges: [
      ...chargesFor(parent, { spot }, opposites),
      ...probeCharges(input, parent.bucket, name, ceilings),
    ],
    ...(clusterBucket.array?.notHpc === true ? { notHpc: true } : {}),
    ...(pinned === undefined ? {} : { pinnedGroup: pinned }),
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
    ...(refusal === undefined ? {} : { refusal }),
    ...(groupRefusals.size === 0 ? {} : { groupRefusals }),
  };
}

function attributesOf({ attributes }: DynamicDefinition): Pick<BucketOffer, "attributes"> {
  const sent = withoutPlacementGroup(attributes);
  return sent === undefined ? {} : { attributes: sent };
}
