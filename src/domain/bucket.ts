import type { ArrayName, MachineType, PlacementGroup } from "./ids.ts";
import type { Node } from "./cluster.ts";
import { withoutAbsent } from "./without-absent.ts";

/** A bucket, where nodes can be created: node array x VM size x placement group or none. */
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

/** The name of a node's group in texts. */
export function groupText({ key, group }: Extract<Purpose, { kind: "group" }>): string {
  return group === undefined ? `${key}, without a placement group` : `group ${group} of ${key}`;
}

/** The purpose for which a node was created. */
export type Purpose =
  | { readonly kind: "array" }
  /**
   * Part of a dynamic node array. The bucket is of the array that it extends. A release that does not know dynamic arrays treats the node
   * as part of that array.
   */
  | { readonly kind: "dynamic"; readonly array: ArrayName }
  /** Created under exactly this name, because a request set named it. A release that does not know this treats it as part of its array. */
  | { readonly kind: "named"; readonly name: string }
  /**
   * Part of a group. `group`: its placement group. Absent: the provider has no placement groups, and the node is one of the ordinary nodes
   * that replace groups. `key`: the array with the group size, as "execute:16n". `dynamic`: the name of the array if it is dynamic.
   */
  | { readonly kind: "group"; readonly key: string; readonly group?: string; readonly dynamic?: ArrayName };

/** The dynamic node array that a node was created for. Undefined for an array of CycleCloud. */
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

/** The array that a node counts for, under its usual name: "execute", a dynamic one, or the grouped "execute:64". */
export function arrayShown(purpose: Purpose, array: ArrayName): string {
  return purpose.kind === "group" ? purpose.key : (dynamicArrayOf(purpose) ?? array);
}

/** Whether a node is of an array: that in which it was made, or a dynamic or grouped one there. */
export function isOfArray({ purpose, array }: { purpose: Purpose; array: ArrayName }, name: string): boolean {
  return array === name || dynamicArrayOf(purpose) === name || arrayShown(purpose, array) === name;
}

/** The purpose of a node of a dynamic node array. */
export function purposeInDynamic(purpose: Purpose, array: ArrayName): Purpose {
  return purpose.kind === "group" ? { ...purpose, dynamic: array } : { kind: "dynamic", array };
}

/** The bucket of a node. */
export function bucketOf({ array, machineType, placementGroup }: Node): BucketKey {
  return { array, machineType, ...withoutAbsent({ placementGroup }) };
}

/** A text that identifies a bucket. It is the same for all spellings of the VM size. */
export function bucketId(bucket: BucketKey): string {
  const id = bucketIdWithoutGroup(bucket);
  return bucket.placementGroup === undefined ? id : `${id}/${bucket.placementGroup}`;
}

/** {@link bucketId} without the placement group. */
export function bucketIdWithoutGroup({ array, machineType }: BucketKey): string {
  return `${array}/${machineType.toLowerCase()}`;
}
