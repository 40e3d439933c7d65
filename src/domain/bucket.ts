import type { ArrayName, MachineType, PlacementGroup } from "./ids.ts";

/** A place where nodes can be created: node array x VM size x placement group or none. */
export interface BucketKey {
  readonly array: ArrayName;
  readonly machineType: MachineType;
  readonly placementGroup?: PlacementGroup;
}

/** The text that identifies a bucket in maps and messages. */
export function bucketText(bucket: BucketKey): string {
  const place = `${bucket.array}/${bucket.machineType}`;
  return bucket.placementGroup === undefined ? place : `${place}/${bucket.placementGroup}`;
}

/** What a node was created for. */
export type Purpose =
  | { readonly kind: "array" }
  /** Part of the group named by its placement group; `key` is the array with the group size, as "execute:16n". */
  | { readonly kind: "group"; readonly key: string; readonly group: string };
