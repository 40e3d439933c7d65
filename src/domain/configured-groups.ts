import type { ArrayName, PlacementGroup } from "./ids.ts";

/** The key whose groups every array has (scalelib.md 7). */
export const EVERY_ARRAY = "default";

/** Placement groups that the configuration names, by array; {@link EVERY_ARRAY}: those that every array has. */
export type ConfiguredGroups = ReadonlyMap<string, readonly PlacementGroup[]>;

/** The groups of an array's buckets: those of every array, then its own, each once (scalelib.md 7). */
export function groupsOfArray(groups: ConfiguredGroups, array: ArrayName): readonly PlacementGroup[] {
  return [...new Set([...(groups.get(EVERY_ARRAY) ?? []), ...(groups.get(array) ?? [])])];
}
