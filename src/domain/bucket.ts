import type { ArrayName, MachineType, PlacementGroup } from "./ids.ts";
import type { Node } from "./cluster.ts";

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

/** What a node of a group is told to be. */
export function groupText({ key, group }: Extract<Purpose, { kind: "group" }>): string {
  return group === undefined ? `${key}, without a placement group` : `group ${group} of ${key}`;
}

/** What a node was created for. */
export type Purpose =
  | { readonly kind: "array" }
  /** One of a dynamic node array; the bucket is of the array that it extends. A release that knows none takes it for one of that. */
  | { readonly kind: "dynamic"; readonly array: ArrayName }
  /**
   * Part of the group named by its placement group; `key` is the array with the group size, as "execute:16n". Without a name: the provider
   * knows no placement groups, so the node is one of as many as the groups have. `dynamic`: that array is a dynamic one.
   */
  | { readonly kind: "group"; readonly key: string; readonly group?: string; readonly dynamic?: ArrayName };

/** The dynamic node array that a node was created for; undefined: for one that CycleCloud has. */
export function dynamicArrayOf(purpose: Purpose | undefined): ArrayName | undefined {
  switch (purpose?.kind) {
    case "dynamic":
      return purpose.array;
    case "group":
      return purpose.dynamic;
    default:
      return undefined;
  }
}

/** What a node of a dynamic node array is created for. */
export function purposeInDynamic(purpose: Purpose, array: ArrayName): Purpose {
  return purpose.kind === "group" ? { ...purpose, dynamic: array } : { kind: "dynamic", array };
}

/** Where a node is. */
export function bucketOf({ array, machineType, placementGroup }: Node): BucketKey {
  return { array, machineType, ...(placementGroup === undefined ? {} : { placementGroup }) };
}
