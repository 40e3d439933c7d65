import { HAND_ON_SECONDS } from "../pace/calls.ts";
import type { Owner, RequestId } from "../../domain/ids.ts";
import type { CallBounds } from "../../domain/policy.ts";
import type { Intent } from "../../domain/intent.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import { nextTogether, nextToken } from "../pace/observation-times.ts";
import { certainAtLast, certainBefore, isWorthResending, LEASE_SECONDS } from "../intents/send-times.ts";
import type { Settled } from "../intents/evidence.ts";
import { dropSilentCreates } from "../intents/settle-create.ts";

/** Which instance observes next, and when (docs/protocol.md, Observations). It follows from the record, so that all instances agree. */

/** A change that is expected soon is checked again after this time. */
const SOON_SECONDS: Seconds = 5;
/** A wake message that is this late counts as lost. */
const WAKE_LATE_SECONDS: Seconds = 10;

/**
 * Whether no plan is needed: the last one used this generation and this configuration, no create or start is open, and no follow-up is due.
 * `configuration`: the one that the stored record names. Absent: not known, and the last plan's counts.
 */
export function isCovered(record: ClusterRecord, now: Instant, configuration = record.plannedUnder): boolean {
  return (
    record.observedGeneration === record.generation &&
    record.plannedUnder === configuration &&
    record.intents.every(({ effect }) => effect.kind === "terminate") &&
    record.awaitsReport !== true &&
    !isFollowUpDue(record, now) &&
    (record.createsFrom === undefined || record.createsFrom > now) &&
    record.plan > 0
  );
}

/** Whether an observation is due that a message without new demand asked for. */
export function isFollowUpDue({ wakeFor, wakeAt }: ClusterRecord, now: Instant): boolean {
  return wakeFor === "follow-up" && wakeAt !== undefined && wakeAt <= now;
}

/**
 * The earliest moment for the next observation. Undefined: now. Demand that comes during an observation is covered by it. While the create of
 * another instance is under way there is no plan. It usually settles long before its lease ends, so it is checked each 5 s.
 */
export function notBefore(
  record: ClusterRecord,
  owner: Owner,
  now: Instant,
  why: { readonly forDemand: boolean },
): Instant | undefined {
  const nextObservation = latest(nextToken(record, now, why), nextTogether(record, now));
  if (nextObservation > now) return nextObservation;
  const leases = record.intents
    .filter((intent) => intent.effect.kind === "create" && intent.owner !== owner && intent.leaseUntil > now)
    .map((intent) => intent.leaseUntil);
  if (leases.length === 0) return undefined;
  return earliest(leases.reduce(latest), plusSeconds(now, SOON_SECONDS));
}

/** Whether a wake message is under way that arrives by this moment and does not count as lost. */
export function isWakePending(record: ClusterRecord, now: Instant, by: Instant): boolean {
  return (
    record.wakeAt !== undefined &&
    record.wakeAt <= by &&
    secondsBetween(record.wakeAt, now) < WAKE_LATE_SECONDS
  );
}

/**
 * The record with a wake message by which another instance observes, because the observation of this one that began at `began` has no answer.
 * Undefined: none is needed, because another one has observed since, or a message is under way.
 */
export function handOn(record: ClusterRecord, began: Instant, now: Instant): ClusterRecord | undefined {
  const { lastGoodLookAt } = record;
  const wakeAt = plusSeconds(now, HAND_ON_SECONDS);
  if (lastGoodLookAt !== undefined && lastGoodLookAt > began) return undefined;
  if (isWakePending(record, now, wakeAt)) return undefined;
  return { ...record, wakeAt, wakeFor: isCovered(record, now) ? "follow-up" : "demand" };
}

/** The record without the wake message that is due: the current one. */
export function withoutDueWake(record: ClusterRecord, now: Instant): ClusterRecord {
  if (record.wakeAt === undefined || record.wakeAt > now) return record;
  const { wakeAt: _at, wakeFor: _for, ...rest } = record;
  return rest;
}

/**
 * Takes over intents whose lease is over. Any instance may send such a create again. A start is only asked about, and never sent again. A
 * terminate stays open until an observation shows its outcome. A create without any news for 15 minutes ends here.
 *
 * The new owner may send a create until the last moment and die after that, so the record has a late `certainFrom`. The intents of `taken`
 * have the `certainFrom` of the sends before.
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
    // Its owner may have sent it, except if its only send was refused.
    const sent = intent.sent === "never" ? "maybe" : intent.sent;
    const ours: Intent = { ...intent, owner, leaseUntil: plusSeconds(now, LEASE_SECONDS), sent };
    taken.push({ ...ours, certainFrom: certainBefore(intent, bounds) });
    return { ...ours, certainFrom: certainAtLast(intent, bounds) };
  });
  return { record: taken.length === 0 ? record : { ...record, intents }, taken };
}

/** The record without a wake message for demand that the plan has used already. */
export function withoutCoveredWake(record: ClusterRecord): ClusterRecord {
  if (record.wakeFor !== "demand" || record.observedGeneration !== record.generation) return record;
  const { wakeAt: _at, wakeFor: _for, ...rest } = record;
  return rest;
}

/**
 * When the intents that were just settled need another tick: because some are still open, a bucket has just been paused, a start was just
 * refused, or a create had no effect. Undefined if they need none. `before`: the record before they were settled.
 */
export function followUpAt(
  before: ClusterRecord,
  { record, ledger }: Pick<Settled, "record" | "ledger">,
  settled: ReadonlySet<RequestId>,
  now: Instant,
  bounds: CallBounds,
): Instant | undefined {
  const left = record.intents.filter((intent) => settled.has(intent.id));
  // The next observation shows the outcome of a stop, and its node asks again within half a minute.
  if (left.some(({ effect }) => effect.kind === "terminate")) return plusSeconds(now, SOON_SECONDS);
  const open = left.map((intent) => askAgainAt(intent, now, bounds));
  const soonest = open.length === 0 ? undefined : open.reduce((a, b) => (a < b ? a : b));
  if (soonest !== undefined) return soonest > now ? soonest : plusSeconds(now, SOON_SECONDS);
  const pausedNow = record.backoffs.some((entry) => entry.until - entry.seconds * 1000 === now);
  const refusedNow = [...ledger.values()].some(
    ({ start }) => start?.state === "refused" && start.since === now,
  );
  const isShort = pausedNow || refusedNow || hadNoEffect(before, record, settled);
  return isShort ? plusSeconds(now, SOON_SECONDS) : undefined;
}

/** Whether a create among them ended without an effect, so that its demand must be planned again. */
function hadNoEffect(before: ClusterRecord, after: ClusterRecord, settled: ReadonlySet<RequestId>): boolean {
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

/** When to ask about an open intent. A create that is not sent again is asked about when the answer is certain, and by each observation. */
function askAgainAt(intent: Intent, now: Instant, bounds: CallBounds): Instant {
  const { effect, sent, leaseUntil, certainFrom } = intent;
  const waits = effect.kind === "create" && sent === "maybe" && !isWorthResending(intent, now, bounds);
  return waits && certainFrom > leaseUntil ? certainFrom : leaseUntil;
}
