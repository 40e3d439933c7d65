import type { Bodies } from "../../domain/bodies.ts";
import { EVERY_ARRAY } from "../../domain/configured-groups.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord } from "../../domain/record.ts";

/** Node arrays that the configuration names and the cluster does not have. No error: a template may be imported later. Empty before the first observation. */
export function unknownNodearrays(record: ClusterRecord, bodies: Bodies, policy: Policy): readonly string[] {
  if (bodies.seen === undefined) return [];
  const arrays = [...bodies.seen.arrays, ...(record.dynamicArrays ?? [])];
  const known = new Set<string>([EVERY_ARRAY, ...arrays.map(({ name }) => name)]);
  // The name of a generated array begins with the name of its array: "hpc:64", "hpc:16n".
  const isKnown = (name: string): boolean => known.has(name) || known.has(name.replace(/:\d+n?$/, ""));
  const {
    arrayModes,
    exclusiveArrays = [],
    nodearrays = [],
    idleTimeouts,
    bootTimeouts,
    placementGroups,
  } = policy;
  const named = [arrayModes, idleTimeouts, bootTimeouts, placementGroups].flatMap((one) => [
    ...(one?.keys() ?? []),
  ]);
  const exclusive = exclusiveArrays === true ? [] : exclusiveArrays;
  return [...new Set([...nodearrays, ...exclusive, ...named])].filter((name) => !isKnown(name));
}
