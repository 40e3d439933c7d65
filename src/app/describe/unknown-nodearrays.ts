import type { Bodies } from "../../domain/bodies.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { unknownArrays } from "../../domain/unknown-arrays.ts";

/** Node arrays that the configuration names and the cluster does not have. Empty before the first observation. */
export function unknownNodearrays(record: ClusterRecord, bodies: Bodies, policy: Policy): readonly string[] {
  if (bodies.seen === undefined) return [];
  const arrays = [...bodies.seen.arrays, ...(record.dynamicArrays ?? [])];
  return unknownArrays(
    policy,
    arrays.map(({ name }) => name),
  );
}
