import type { SetName } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Outage } from "../../domain/troubles.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import { outageSeconds } from "./observation-times.ts";

/** The rest of scale-down after a time in which the autoscaler was away, or could not see (docs/protocol.md, Recovery). */

/** Scale-down rests so long after an outage, unless every set that was live is pushed again before. */
export const REST_SECONDS: Seconds = 300;

/** The rest that is in force at a plan; undefined: scale-down does not rest. */
export function nextOutage(record: ClusterRecord, policy: Policy, now: Instant): Outage | undefined {
  const current = currentOutage(record, policy, now);
  if (!isAfterGap(record, policy, now)) return current;
  const from = record.lastGoodLookAt ?? now;
  const gap: Outage = { from, to: now, until: plusSeconds(now, REST_SECONDS), awaiting: [] };
  // A rest that lasts its full time stays one: a push says nothing of sets that nobody knows.
  if (current?.awaiting.length === 0) return gap;
  const live = [...record.sets].filter(([, entry]) => entry.live).map(([name]) => name);
  const awaiting = stillAwaited(record, { ...gap, awaiting: live }, policy);
  return live.length > 0 && awaiting.length === 0 ? current : { ...gap, awaiting };
}

/** Whether scale-down rests now, also by what was pushed since the last plan. */
export function isResting(record: ClusterRecord, policy: Policy, now: Instant): boolean {
  return currentOutage(record, policy, now) !== undefined;
}

/** Whether idle clocks begin again: nobody watched the nodes, or what the record says of them is of an earlier epoch. */
export function isMemoryOld(record: ClusterRecord, policy: Policy, now: Instant): boolean {
  const { epochAt, lastGoodLookAt } = record;
  const isOlder = epochAt !== undefined && lastGoodLookAt !== undefined && lastGoodLookAt < epochAt;
  return isOlder || isAfterGap(record, policy, now);
}

function isAfterGap(record: ClusterRecord, policy: Policy, now: Instant): boolean {
  const { lastGoodLookAt } = record;
  return lastGoodLookAt === undefined || secondsBetween(lastGoodLookAt, now) > outageSeconds(record, policy);
}

function currentOutage(record: ClusterRecord, policy: Policy, now: Instant): Outage | undefined {
  const current = record.outage;
  if (current === undefined || now >= current.until) return undefined;
  // With nobody to wait for (a new record) it lasts its full time.
  if (current.awaiting.length === 0) return current;
  const awaiting = stillAwaited(record, current, policy);
  return awaiting.length === 0 ? undefined : { ...current, awaiting };
}

/**
 * The awaited sets that were not pushed again. A report alone is no push: it renews no demand. A message that was sent before the outage is
 * none, nor is what came soon after the last observation: the autoscaler may have gone after it, and what the sender said next is not known.
 */
function stillAwaited(record: ClusterRecord, outage: Outage, policy: Policy): readonly SetName[] {
  const noticed = plusSeconds(outage.from, outageSeconds(record, policy));
  const after = noticed < outage.to ? noticed : outage.to;
  return outage.awaiting.filter((name) => {
    const entry = record.sets.get(name);
    return entry === undefined || entry.sentAt <= outage.from || entry.acceptedAt <= after;
  });
}
