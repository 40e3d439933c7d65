import type { Size } from "./size.ts";
import { bytesOf, isSize, sizeJson } from "./size.ts";

/** A single value of the constraint language and of resources. */
export type Scalar = string | number | boolean | null;

/** What a resource of a node is: an amount (of which slots take), a size (likewise), or a mark to choose nodes by. */
export type ResourceValue = Scalar | Size;

/**
 * What one node offers, by name: ncpus, ngpus, mem, memgb, and whatever default resources, a node array's
 * Configuration.autoscale.resources or a scheduler report add. Present and null is "defined, without a value" (scalelib.md 4).
 */
export type Resources = Readonly<Record<string, ResourceValue>>;

/** The countable part of a value: numbers as they are, sizes in bytes, nothing of anything else. */
export function amountOf(value: ResourceValue | undefined): number {
  if (typeof value === "number") return value;
  return typeof value === "object" && value !== null ? bytesOf(value) : 0;
}

/** Resources as they stand in JSON: sizes as text, "memory::4g". */
export type WrittenResources = Readonly<Record<string, Scalar>>;

export function writeResources(resources: Resources): WrittenResources {
  return Object.fromEntries(
    Object.entries(resources).map(([name, value]) => [name, isSize(value) ? sizeJson(value) : value]),
  );
}
