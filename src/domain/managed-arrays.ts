import type { Policy } from "./policy.ts";
import type { ArrayName } from "./ids.ts";
import type { Snapshot } from "./cluster.ts";

/** Which arrays are ours: autoscaled by their own configuration, and named by ours if it names any. */
export function managedArrays(snapshot: Snapshot, policy: Policy): ReadonlySet<ArrayName> {
  const named = policy.nodearrays === undefined ? undefined : new Set(policy.nodearrays);
  return new Set(
    snapshot.arrays
      .filter((array) => array.autoscaled && (named === undefined || named.has(array.name)))
      .map((array) => array.name),
  );
}
