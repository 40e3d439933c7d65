import type { Bodies } from "../src/domain/bodies.ts";
import type { Policy } from "../src/domain/policy.ts";
import type { ClusterRecord } from "../src/domain/record.ts";
import { EVERY_OTHER } from "../src/wire/policy/timeouts.ts";

/** Configured arrays that the cluster does not have. They are no error, because a template may be imported later. */
export function namesNotInStatus(record: ClusterRecord, bodies: Bodies, policy: Policy): readonly string[] {
  if (bodies.seen === undefined) return [];
  const arrays = [...bodies.seen.arrays, ...(record.dynamicArrays ?? [])];
  const known = new Set<string>([EVERY_OTHER, ...arrays.map(({ name }) => name)]);
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
