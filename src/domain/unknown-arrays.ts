import { EVERY_ARRAY } from "./policy.ts";
import type { Policy } from "./policy.ts";

/** Node arrays that a configuration names and that are not among the known ones. No error: a template may be imported later. */
export function unknownArrays(policy: Policy, arrays: Iterable<string>): readonly string[] {
  const known = new Set<string>([EVERY_ARRAY, ...arrays]);
  // The name of a generated array begins with the name of its array: "hpc:64", "hpc:16n".
  const isKnown = (name: string): boolean => known.has(name) || known.has(name.replace(/:\d+n?$/, ""));
  const {
    arrayModes,
    exclusiveArrays = [],
    nodearrays = [],
    idleTimeouts,
    bootTimeouts,
    downTimeout,
    failedTimeout,
    deallocatedTimeout,
    placementGroups,
    senders = [],
  } = policy;
  const ends = [downTimeout, failedTimeout, deallocatedTimeout].map((one) => one?.byArray);
  const timeouts = [idleTimeouts, bootTimeouts, ...ends];
  const ofSenders = senders.map(({ configuration }) => configuration?.byArray);
  const named = [arrayModes, ...timeouts, placementGroups, ...ofSenders].flatMap((one) => [
    ...(one?.keys() ?? []),
  ]);
  const exclusive = exclusiveArrays === true ? [] : exclusiveArrays;
  return [...new Set([...nodearrays, ...exclusive, ...named])].filter((name) => !isKnown(name));
}
