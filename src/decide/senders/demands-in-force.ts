import type { Bodies } from "../../domain/bodies.ts";
import type { RankedDemand } from "../../domain/demand.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";

/**
 * The demands of all live sets, in no particular order. With `now`, sets that have expired since the last plan are left out.
 */
export function demandsInForce(
  record: ClusterRecord,
  bodies: Bodies,
  now?: Instant,
): readonly RankedDemand[] {
  const all: RankedDemand[] = [];
  for (const [set, entry] of record.sets) {
    // Its demand may be there all the same: that of another set with equal content.
    if (bodies.aside?.has(set) === true) continue;
    if (!entry.live || (now !== undefined && entry.expiresAt <= now)) continue;
    for (const demand of bodies.demands.get(entry.digest)?.demands ?? []) all.push({ set, demand });
  }
  return all;
}
