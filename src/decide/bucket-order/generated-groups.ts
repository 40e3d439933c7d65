import type { BucketOffer } from "../../domain/world.ts";
import type { ArrayName, PlacementGroup } from "../../domain/ids.ts";
import { placementGroup } from "../../domain/ids.ts";

/** How many fresh groups each VM size of an array gets (`buffer`), and the maximum number of groups of the array (`most`). */
export interface GroupSupply {
  readonly buffer: number;
  readonly most: number;
}

/** scalelib's defaults of `generated_placement_group_buffer` and `max_placement_groups`. */
export const DEFAULT_GROUP_SUPPLY: GroupSupply = { buffer: 2, most: 10_000 };

/**
 * Names groups that do not exist yet (scalelib.md 8): "SIZE_pg0", "SIZE_pg1" and so on, without names that the array has. An array that is not for
 * HPC gets none. Do not call this if the configuration names groups (`World.namesGroups`).
 */
export function generateGroups(
  offers: readonly BucketOffer[],
  supplyOf: (array: ArrayName) => GroupSupply,
): ReadonlyMap<BucketOffer, readonly PlacementGroup[]> {
  const generated = new Map<BucketOffer, readonly PlacementGroup[]>();
  const known = new Map<ArrayName, Set<string>>();
  for (const { bucket, groupSizes, pinnedGroup } of offers) {
    const names = known.get(bucket.array) ?? new Set<string>();
    known.set(bucket.array, names);
    for (const group of groupSizes.keys()) names.add(group.toLowerCase());
    if (pinnedGroup !== undefined) names.add(pinnedGroup.toLowerCase());
  }
  for (const offer of offers) {
    const { maxPlacementGroupSize, onlyFor, notHpc } = offer;
    if (maxPlacementGroupSize === undefined || onlyFor !== undefined || notHpc === true) continue;
    const names = known.get(offer.bucket.array) ?? new Set<string>();
    const { buffer, most } = supplyOf(offer.bucket.array);
    const groups: PlacementGroup[] = [];
    for (let i = 0; groups.length < Math.min(buffer, most - names.size + groups.length); i += 1) {
      const name = `${offer.bucket.machineType}_pg${i}`;
      if (names.has(name.toLowerCase())) continue;
      names.add(name.toLowerCase());
      groups.push(placementGroup(name));
    }
    generated.set(offer, groups);
  }
  return generated;
}
