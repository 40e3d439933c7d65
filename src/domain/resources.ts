import type { Size } from "./size.ts";
import { bytesOf, isSize, sizeJson } from "./size.ts";

/** A single value of the constraint language and of resources. */
export type Scalar = string | number | boolean | null;

/** The value of a resource of a node: an amount or a size, of which slots take a part, or a mark by which nodes are selected. */
export type ResourceValue = Scalar | Size;

/**
 * The resources of one node, by name: ncpus, ngpus, mem, memgb, and all that default resources, a node array's
 * Configuration.autoscale.resources or a scheduler report add. A null value means "defined, without a value" (scalelib.md 4).
 */
export type Resources = Readonly<Record<string, ResourceValue>>;

/** The countable part of a value: a number itself, a size in bytes, 0 for anything else. */
export function amountOf(value: ResourceValue | undefined): number {
  if (typeof value === "number") return value;
  return typeof value === "object" && value !== null ? bytesOf(value) : 0;
}

/** Resources as written in JSON: sizes as text, "memory::4g". */
export type WrittenResources = Readonly<Record<string, Scalar>>;

/** The resources in the form of JSON. */
export function writeResources(resources: Resources): WrittenResources {
  return Object.fromEntries(
    Object.entries(resources).map(([name, value]) => [name, isSize(value) ? sizeJson(value) : value]),
  );
}

/** Relative tolerance for comparing resources: 0.1 taken ten times from 1 leaves exactly nothing. */
export const TOLERANCE = 1e-9;
