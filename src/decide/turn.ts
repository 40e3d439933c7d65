import type { Owner, RequestId } from "../domain/ids.ts";
import type { ClusterRecord, Intent, LookTokens } from "../domain/record.ts";
import type { Policy } from "../domain/policy.ts";
import type { Instant } from "../domain/units.ts";
import { plusSeconds, secondsBetween } from "../domain/units.ts";
import { patienceSeconds, statusSeconds } from "./calls.ts";
import type { Look } from "./observe.ts";
import { LEASE_SECONDS } from "./settle.ts";

/** Whose turn it is to look, and when (docs/protocol.md, Looks): all of it read from the record, so that every instance agrees. */

/** The bucket holds so many looks, and gets one more every 6 s: at most 13 in any 60 s. */
const LOOK_TOKENS = 3;
const TOKEN_SECONDS = 6;
/** So many looks are under way at once. */
const LOOKS_TOGETHER = 2;
/** A look that has not ended after so long is taken for lost: its instance is gone, as the call ends within its time limit. */
const LOST_LOOK_SECONDS = 90;
/** What is expected to change soon is looked for again after so long. */
const SOON_SECONDS = 5;
/** A wake message that is so late is taken for lost. */
const WAKE_LATE_SECONDS = 10;
/** A status may be so old when it is decided on, besides what slow calls take. */
const LOOK_GOOD_SECONDS = 30;
/** A plan that others keep from being saved has the record for itself for so long. */
const PLAN_FIRST_SECONDS = 5;

/** A plan has observed this generation, nothing is under way, and no follow-up is due. */
export function isCovered(record: ClusterRecord, now: Instant): boolean {
  const followUpDue = record.wakeFor === "follow-up" && record.wakeAt !== undefined && record.wakeAt <= now;
  return (
    record.observedGeneration === record.generation &&
    record.intents.length === 0 &&
    record.awaitsReport !== true &&
    !followUpDue &&
    record.plan > 0
  );
}

/**
 * The earliest moment for the next look; undefined: now. Demand that comes while a look is under way is covered by it. While somebody's
 * create is under way nobody plans; it usually settles long before its lease ends, so that it is asked for again every 5 s.
 */
export function notBefore(record: ClusterRecord, owner: Owner, now: Instant): Instant | undefined {
  const nextLook = latest(nextToken(tokensAt(record, now), now), nextTogether(record, now));
  if (nextLook > now) return nextLook;
  const leases = record.intents
    .filter((intent) => intent.effect.kind === "create" && intent.owner !== owner && intent.leaseUntil > now)
    .map((intent) => intent.leaseUntil);
  if (leases.length === 0) return undefined;
  return earliest(leases.reduce(latest), plusSeconds(now, SOON_SECONDS));
}

/**
 * Tokens at this moment. A bucket that is ahead of our clock, because an instance whose clock is ahead has looked, holds less than it says:
 * else each of two clocks would see the other's looks as long ago. How far ahead it may be is bounded, and the bound is what we wait at most.
 */
function tokensAt(record: ClusterRecord, now: Instant): number {
  const { looks, lookedAt } = record;
  if (lookedAt === undefined) return LOOK_TOKENS;
  // An older release that has looked leaves the bucket as it was.
  const tokens = looks?.at === lookedAt ? looks.tokens : 0;
  const filled = tokens + secondsBetween(lookedAt, now) / TOKEN_SECONDS;
  return Math.min(LOOK_TOKENS, Math.max(-LOOK_TOKENS, filled));
}

/** A thousandth of a token is lost to rounding. */
const WHOLE_TOKEN = 0.999;

function nextToken(tokens: number, now: Instant): Instant {
  return tokens >= WHOLE_TOKEN ? now : plusSeconds(now, (1 - tokens) * TOKEN_SECONDS);
}

/** A second look begins only when the first takes unusually long, as its instance may be gone; a third not before one of them is over. */
function nextTogether(record: ClusterRecord, now: Instant): Instant {
  const underWay = looksUnderWay(record, now);
  const [oldest] = underWay;
  const newest = underWay.at(-1);
  if (oldest === undefined || newest === undefined) return now;
  if (underWay.length >= LOOKS_TOGETHER) return plusSeconds(oldest, LOST_LOOK_SECONDS);
  return plusSeconds(newest, Math.max(SOON_SECONDS, 2 * statusSeconds(record)));
}

function looksUnderWay({ looks, lookedAt }: ClusterRecord, now: Instant): readonly Instant[] {
  if (looks === undefined || looks.at !== lookedAt) return [];
  const isLate = (began: Instant): boolean => Math.abs(secondsBetween(began, now)) >= LOST_LOOK_SECONDS;
  return (looks.underWay ?? []).filter((began) => !isLate(began));
}

/** The record with one look more, which begins now. */
export function beginLook(record: ClusterRecord, now: Instant): ClusterRecord {
  const tokens = tokensAt(record, now) - 1;
  return withLooks(record, { tokens, at: now, underWay: [...looksUnderWay(record, now), now] });
}

/** The record once a look that began then has ended. Looks that began before it can save nothing any more. */
export function endLook(record: ClusterRecord, began: Instant): ClusterRecord {
  const { looks } = record;
  if (looks?.underWay === undefined) return record;
  return withLooks(record, { ...looks, underWay: looks.underWay.filter((other) => other > began) });
}

/** A bucket far ahead of our clock is set to it, with no token: else nobody would look before that time has come. */
export function mendLooks(record: ClusterRecord, now: Instant): ClusterRecord {
  if (record.lookedAt === undefined || record.lookedAt <= now) return record;
  return withLooks(record, { tokens: tokensAt(record, now), at: now });
}

function withLooks(record: ClusterRecord, { tokens, at, underWay = [] }: LookTokens): ClusterRecord {
  const looks = { tokens: Math.round(tokens * 1000) / 1000, at };
  return { ...record, lookedAt: at, looks: underWay.length === 0 ? looks : { ...looks, underWay } };
}

function latest(a: Instant, b: Instant): Instant {
  return a > b ? a : b;
}

function earliest(a: Instant, b: Instant): Instant {
  return a < b ? a : b;
}

/** What a look is too old for: creates and starts that others have committed since it began. Marks and grants are in the ledger. */
export type Effects = Pick<ClusterRecord, "epoch"> & { readonly created: number; readonly started: number };

export function effectsOf({ epoch, totals }: ClusterRecord): Effects {
  return { epoch, created: totals.created, started: totals.started ?? 0 };
}

/** Whether nobody has committed creates or starts since. */
export function hasSameEffects(record: ClusterRecord, effects: Effects): boolean {
  const { epoch, created, started } = effectsOf(record);
  return epoch === effects.epoch && created === effects.created && started === effects.started;
}

/** Whether a look that arrived then is too old to be decided on: its process has stood still. */
export function isLookOld(record: ClusterRecord, arrivedAt: Instant, now: Instant): boolean {
  return secondsBetween(arrivedAt, now) > LOOK_GOOD_SECONDS + patienceSeconds(record);
}

/** Whether a look that began then is older than the one that was saved last. A moment that is still to come says nothing. */
export function isOlderLook(seen: { readonly at: Instant } | undefined, began: Instant, now: Instant): boolean {
  return seen !== undefined && began < seen.at && seen.at <= now;
}

/** Without a believed look for so long the autoscaler was away, or could not see. */
export function outageSeconds(record: Pick<ClusterRecord, "calls">, policy: Policy): number {
  return 2 * policy.snapshotIntervalSeconds + patienceSeconds(record);
}

/** A believed look that cannot be decided on still shows that we were there. It does not end an outage: only a plan notes that. */
export function noteGoodLook(record: ClusterRecord, at: Instant, policy: Policy, now: Instant): ClusterRecord {
  const last = record.lastGoodLookAt;
  if (last === undefined || last >= at || secondsBetween(last, now) > outageSeconds(record, policy)) return record;
  return { ...record, lastGoodLookAt: at };
}

/** The record once a plan could not be saved for others' marks and grants. */
export function letPlanFirst(record: ClusterRecord, now: Instant): ClusterRecord {
  return { ...record, planBy: plusSeconds(now, PLAN_FIRST_SECONDS) };
}

/** Whether marks and grants have to wait for a plan that could not be saved for others' marks and grants. */
export function isPlanFirst({ planBy }: ClusterRecord, now: Instant): boolean {
  return planBy !== undefined && now < planBy && secondsBetween(now, planBy) <= PLAN_FIRST_SECONDS;
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
 * either: it stands until a look has shown what became of it.
 */
export function takeOver(
  record: ClusterRecord,
  owner: Owner,
  now: Instant,
): { readonly record: ClusterRecord; readonly taken: readonly Intent[] } {
  const taken: Intent[] = [];
  const intents = record.intents.map((intent) => {
    if (intent.leaseUntil > now && intent.owner !== owner) return intent;
    if (intent.effect.kind === "terminate") return intent;
    // Its owner may have sent it before it went: unless its only send is known to have been refused, that is unknown.
    const sent = intent.sent === "never" ? "maybe" : intent.sent;
    const ours: Intent = { ...intent, owner, leaseUntil: plusSeconds(now, LEASE_SECONDS), sent };
    taken.push(ours);
    return ours;
  });
  return { record: taken.length === 0 ? record : { ...record, intents }, taken };
}

/**
 * Without the terminates whose owner is gone: after its lease it sends none any more, so that this look shows what became of them, and
 * what is still to be stopped is decided again. Not sooner: until then they may have had their effect, and their nodes are no capacity.
 */
export function dropLostStops(record: ClusterRecord, { snapshot }: Look): ClusterRecord {
  const intents = record.intents.filter(
    ({ effect, leaseUntil }) => effect.kind !== "terminate" || leaseUntil > snapshot.at,
  );
  return intents.length === record.intents.length ? record : { ...record, intents };
}

/** The plan has seen the demand that the wake message was for: it need not cause another look. */
export function withoutCoveredWake(record: ClusterRecord): ClusterRecord {
  if (record.wakeFor !== "demand" || record.observedGeneration !== record.generation) return record;
  const { wakeAt: _at, wakeFor: _for, ...rest } = record;
  return rest;
}

/** When the intents that were just settled want to be followed up: what is still open, or a bucket that has just been paused. */
export function followUpAt(
  record: ClusterRecord,
  settled: ReadonlySet<RequestId>,
  now: Instant,
): Instant | undefined {
  const open = record.intents.filter((intent) => settled.has(intent.id)).map((intent) => intent.leaseUntil);
  const soonest = open.length === 0 ? undefined : open.reduce((a, b) => (a < b ? a : b));
  if (soonest !== undefined) return soonest > now ? soonest : plusSeconds(now, SOON_SECONDS);
  const pausedNow = record.backoffs.some((entry) => entry.until - entry.seconds * 1000 === now);
  return pausedNow ? plusSeconds(now, SOON_SECONDS) : undefined;
}
