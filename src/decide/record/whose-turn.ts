import type { Owner, RequestId } from "../../domain/ids.ts";
import type { CallBounds } from "../../domain/policy.ts";
import type { Intent } from "../../domain/intent.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import { nextTogether, nextToken } from "../pace/observation-times.ts";
import { certainAtLast, certainBefore, isWorthResending, LEASE_SECONDS } from "../intents/send-times.ts";
import { dropSilentCreates } from "../intents/settle-create.ts";

/** Whose turn it is to look, and when (docs/protocol.md, Observations): all of it read from the record, so that every instance agrees. */

/** What is expected to change soon is looked for again after so long. */
const SOON_SECONDS: Seconds = 5;
/** A wake message that is so late is taken for lost. */
const WAKE_LATE_SECONDS: Seconds = 10;

/** A plan has observed this generation, nothing is under way that brings nodes or waits to be created, and no follow-up is due. */
export function isCovered(record: ClusterRecord, now: Instant): boolean {
  const followUpDue = record.wakeFor === "follow-up" && record.wakeAt !== undefined && record.wakeAt <= now;
  return (
    record.observedGeneration === record.generation &&
    record.intents.every(({ effect }) => effect.kind === "terminate") &&
    record.awaitsReport !== true &&
    !followUpDue &&
    (record.createsFrom === undefined || record.createsFrom > now) &&
    record.plan > 0
  );
}

/**
 * The earliest moment for the next observation; undefined: now. Demand that comes while an observation is under way is covered by it. While somebody's
 * create is under way nobody plans; it usually settles long before its lease ends, so that it is asked for again every 5 s.
 */
export function notBefore(record: ClusterRecord, owner: Owner, now: Instant): Instant | undefined {
  const nextObservation = latest(nextToken(record, now), nextTogether(record, now));
  if (nextObservation > now) return nextObservation;
  const leases = record.intents
    .filter((intent) => intent.effect.kind === "create" && intent.owner !== owner && intent.leaseUntil > now)
    .map((intent) => intent.leaseUntil);
  if (leases.length === 0) return undefined;
  return earliest(leases.reduce(latest), plusSeconds(now, SOON_SECONDS));
}

/** Whether a wake message is under way that comes soon enough; one that is much too late is taken for lost. */
export function isWakePending(record: ClusterRecord, now: Instant, by: Instant): boolean {
  return (
    record.wakeAt !== undefined &&
    record.wakeAt <= by &&
    secondsBetween(record.wakeAt, now) < WAKE_LATE_SECONDS
  );
}

/** The wake that is due is this one. */
export function withoutDueWake(record: ClusterRecord, now: Instant): ClusterRecord {
  if (record.wakeAt === undefined || record.wakeAt > now) return record;
  const { wakeAt: _at, wakeFor: _for, ...rest } = record;
  return rest;
}

/**
 * After the lease anybody may go on with a create, and ask what became of a start, which nobody sends again. A terminate is never replayed
 * either: it stands until an observation has shown what became of it. A create of which nobody has said a word for 15 minutes ends here. In the
 * record a taken create may be sent until the last moment, as its new owner may die after a send; what is handed over with `taken` says
 * what was so before.
 */
export function takeOver(
  before: ClusterRecord,
  owner: Owner,
  now: Instant,
  bounds: CallBounds,
): { readonly record: ClusterRecord; readonly taken: readonly Intent[] } {
  const record = dropSilentCreates(before, now);
  const taken: Intent[] = [];
  const intents = record.intents.map((intent) => {
    if (intent.leaseUntil > now && intent.owner !== owner) return intent;
    if (intent.effect.kind === "terminate") return intent;
    // Its owner may have sent it before it went: unless its only send is known to have been refused, that is unknown.
    const sent = intent.sent === "never" ? "maybe" : intent.sent;
    const ours: Intent = { ...intent, owner, leaseUntil: plusSeconds(now, LEASE_SECONDS), sent };
    taken.push({ ...ours, certainFrom: certainBefore(intent, bounds) });
    return { ...ours, certainFrom: certainAtLast(intent, bounds) };
  });
  return { record: taken.length === 0 ? record : { ...record, intents }, taken };
}

/** The plan has seen the demand that the wake message was for: it need not cause another observation. */
export function withoutCoveredWake(record: ClusterRecord): ClusterRecord {
  if (record.wakeFor !== "demand" || record.observedGeneration !== record.generation) return record;
  const { wakeAt: _at, wakeFor: _for, ...rest } = record;
  return rest;
}

/**
 * When intents that were just settled want to be followed up: what is still open, a bucket that has just been paused, or a create that
 * came to nothing. `before`: the record before they were settled.
 */
export function followUpAt(
  before: ClusterRecord,
  record: ClusterRecord,
  settled: ReadonlySet<RequestId>,
  now: Instant,
  bounds: CallBounds,
): Instant | undefined {
  const left = record.intents.filter((intent) => settled.has(intent.id));
  // The next observation shows what became of a stop, and its node asks again within half a minute.
  if (left.some(({ effect }) => effect.kind === "terminate")) return plusSeconds(now, SOON_SECONDS);
  const open = left.map((intent) => askAgainAt(intent, now, bounds));
  const soonest = open.length === 0 ? undefined : open.reduce((a, b) => (a < b ? a : b));
  if (soonest !== undefined) return soonest > now ? soonest : plusSeconds(now, SOON_SECONDS);
  const pausedNow = record.backoffs.some((entry) => entry.until - entry.seconds * 1000 === now);
  return pausedNow || haveComeToNothing(before, record, settled) ? plusSeconds(now, SOON_SECONDS) : undefined;
}

/** Whether a create among them has ended without an effect: what wanted it is to be planned for again. */
function haveComeToNothing(
  before: ClusterRecord,
  after: ClusterRecord,
  settled: ReadonlySet<RequestId>,
): boolean {
  const known = new Set([
    ...after.intents.map(({ id }) => id),
    ...after.inFlight.map(({ requestId }) => requestId),
  ]);
  return before.intents.some(
    ({ id, effect }) => effect.kind === "create" && settled.has(id) && !known.has(id),
  );
}

function latest(a: Instant, b: Instant): Instant {
  return a > b ? a : b;
}

function earliest(a: Instant, b: Instant): Instant {
  return a < b ? a : b;
}

/** A create that nobody sends any more is asked for when the answer is certain; until then it is asked for at every observation anyway. */
function askAgainAt(intent: Intent, now: Instant, bounds: CallBounds): Instant {
  const { effect, sent, leaseUntil, certainFrom = leaseUntil } = intent;
  const waits = effect.kind === "create" && sent === "maybe" && !isWorthResending(intent, now, bounds);
  return waits && certainFrom > leaseUntil ? certainFrom : leaseUntil;
}
