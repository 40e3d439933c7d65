import type { ArrayName, PlacementGroup } from "./ids.ts";

/** The key whose groups every array has (scalelib.md 7). */
export const EVERY_ARRAY = "default";

/** Placement groups that the configuration names, by array. {@link EVERY_ARRAY} has those of all arrays. */
export type ConfiguredGroups = ReadonlyMap<string, readonly PlacementGroup[]>;

/** The groups of an array's buckets: those of all arrays, then its own, without duplicates (scalelib.md 7). */
export function groupsOfArray(groups: ConfiguredGroups, array: ArrayName): readonly PlacementGroup[] {
  return [...new Set([...(groups.get(EVERY_ARRAY) ?? []), ...(groups.get(array) ?? [])])];
}
