import type { SetName } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { SetEntry } from "../../domain/request-sets.ts";
import { isIdle } from "../../domain/request-sets.ts";
import type { Outage } from "../../domain/troubles.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { instant, plusSeconds, secondsBetween } from "../../domain/units.ts";
import { outageSeconds } from "./observation-times.ts";

/** The pause of scale-down after a time in which the autoscaler did not run or could not observe (docs/protocol.md, Recovery). */

/** Scale-down pauses for this time after an outage, or until all sets that were live have been pushed again. */
export const REST_SECONDS: Seconds = 300;

/** What a plan makes of the time since the last observation. */
interface Gap {
  /** The outage for which scale-down pauses at this plan. Undefined if it does not pause. */
  readonly outage: Outage | undefined;
  /** Whether idle times start again, because the nodes were not observed for some time, or not in this epoch. */
  readonly isRestart: boolean;
}

/** The outage at this plan, if there is one, and whether the memory of idle nodes is too old. */
export function nextOutage(record: ClusterRecord, policy: Policy, now: Instant): Gap {
  const { epochAt, lastGoodLookAt } = record;
  const noticed = outageSeconds(record, policy);
  const isAfter = isGap(record, noticed, now);
  const isOlder = epochAt !== undefined && lastGoodLookAt !== undefined && lastGoodLookAt < epochAt;
  const current = currentOutage(record, noticed, now);
  return {
    outage: isAfter ? outageOf(record, current, noticed, now) : current,
    isRestart: isOlder || isAfter,
  };
}

/** The outage that a gap is. `current`: the one before, if it is not over. */
function outageOf(
  record: ClusterRecord,
  current: Outage | undefined,
  noticed: Seconds,
  now: Instant,
): Outage | undefined {
  const from = record.lastGoodLookAt ?? now;
  const gap: Outage = { from, to: now, until: plusSeconds(now, REST_SECONDS), awaiting: [] };
  // If the awaited sets are not known, no push can end the pause early.
  if (current?.awaiting.length === 0) return gap;
  const live = [...record.sets].filter(([, entry]) => entry.live).map(([name]) => name);
  // A set that asked for nothing and reported nothing is not awaited.
  const awaiting = stillAwaited(record, { ...gap, awaiting: live }, noticed).filter(
    (name) => !isIdle(record, name),
  );
  return live.length > 0 && awaiting.length === 0 ? current : { ...gap, awaiting };
}

/** Whether scale-down pauses now. Pushes since the last plan count. */
export function isResting(record: ClusterRecord, policy: Policy, now: Instant): boolean {
  return currentOutage(record, outageSeconds(record, policy), now) !== undefined;
}

/** Whether there was no believed observation for so long that it is an outage. */
export function isAfterGap(record: ClusterRecord, policy: Policy, now: Instant): boolean {
  return isGap(record, outageSeconds(record, policy), now);
}

/** `noticed`: after this number of seconds without an observation it is an outage. */
function isGap({ lastGoodLookAt }: ClusterRecord, noticed: Seconds, now: Instant): boolean {
  return lastGoodLookAt === undefined || secondsBetween(lastGoodLookAt, now) > noticed;
}

function currentOutage(record: ClusterRecord, noticed: Seconds, now: Instant): Outage | undefined {
  const current = record.outage;
  if (current === undefined || now >= current.until) return undefined;
  // If the awaited sets are not known, as in a new record, it lasts its full time.
  if (current.awaiting.length === 0) return current;
  const awaiting = stillAwaited(record, current, noticed);
  return awaiting.length === 0 ? undefined : { ...current, awaiting };
}

/**
 * The awaited sets that were not pushed again. A report alone is no push, because it renews no demand. A message does not count that was sent or
 * arrived before the outage was noticeable: newer demand may be lost.
 */
function stillAwaited(record: ClusterRecord, outage: Outage, seconds: Seconds): readonly SetName[] {
  const noticed = plusSeconds(outage.from, seconds);
  const after = noticed < outage.to ? noticed : outage.to;
  return outage.awaiting.filter((name) => {
    const entry = record.sets.get(name);
    return entry === undefined || entry.acceptedAt <= after || saidAt(entry) <= after;
  });
}

/** Only within a day of our time a revision is a time. */
const DAY_SECONDS: Seconds = 86_400;

/**
 * The latest moment at which the sender certainly said what is held (docs/protocol.md, Recovery). Its message may have waited in front of a host
 * that stood still, and a repeated one has the time of the first.
 */
function saidAt({ sentAt, revision, untimed, repeatedAt }: SetEntry): Instant {
  const revised = instant(revision.value);
  const isTime = untimed !== true && secondsBetween(revised, sentAt) <= DAY_SECONDS;
  if (!isTime || revised >= sentAt) return sentAt;
  return repeatedAt !== undefined && repeatedAt > revised ? repeatedAt : revised;
}
