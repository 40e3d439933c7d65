import type { ObservationTokens } from "../../domain/calls.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import { plannedPauseSeconds } from "./next-tick.ts";
import { patienceSeconds, statusSeconds } from "./calls.ts";

/** How many observations there are, and how long one may be decided on (docs/protocol.md, Observations and Plans). */

/** The bucket holds this many observations, and gets one more every 6 s: at most 13 in any 60 s. */
const OBSERVATION_TOKENS = 3;
const TOKEN_SECONDS: Seconds = 6;
/** Maximum number of observations under way at once. */
const OBSERVATIONS_TOGETHER = 2;
/** An observation that has not ended after this time is taken for lost: its instance is gone, as the call ends within its time limit. */
const LOST_OBSERVATION_SECONDS: Seconds = 90;
/** A second observation begins beside the first no sooner than this. */
const SECOND_OBSERVATION_SECONDS: Seconds = 5;
/** A status may be so old when it is decided on, besides what slow calls take. */
const OBSERVATION_GOOD_SECONDS: Seconds = 30;
/** A plan that others keep from being saved has the record for itself for so long. */
const PLAN_FIRST_SECONDS: Seconds = 5;

/**
 * Tokens at this moment. A bucket that is ahead of our clock, because an instance whose clock is ahead has looked, holds less than it says:
 * else each of two clocks would see the other's observations as long ago. How far ahead it may be is bounded, and the bound is what we wait at most.
 */
function tokensAt(record: ClusterRecord, now: Instant): number {
  const { looks, lookedAt } = record;
  if (lookedAt === undefined) return OBSERVATION_TOKENS;
  // An older release that has looked leaves the bucket as it was.
  const tokens = looks?.at === lookedAt ? looks.tokens : 0;
  const filled = tokens + secondsBetween(lookedAt, now) / TOKEN_SECONDS;
  return Math.min(OBSERVATION_TOKENS, Math.max(-OBSERVATION_TOKENS, filled));
}

/** A thousandth of a token is lost to rounding. */
const WHOLE_TOKEN = 0.999;

/** When the bucket holds an observation; now, if it does. */
export function nextToken(record: ClusterRecord, now: Instant): Instant {
  const tokens = tokensAt(record, now);
  return tokens >= WHOLE_TOKEN ? now : plusSeconds(now, (1 - tokens) * TOKEN_SECONDS);
}

/** A second observation begins only when the first takes unusually long, as its instance may be gone; a third not before one of them is over. */
export function nextTogether(record: ClusterRecord, now: Instant): Instant {
  const underWay = observationsUnderWay(record, now);
  const [oldest] = underWay;
  const newest = underWay.at(-1);
  if (oldest === undefined || newest === undefined) return now;
  if (underWay.length >= OBSERVATIONS_TOGETHER) return plusSeconds(oldest, LOST_OBSERVATION_SECONDS);
  return plusSeconds(newest, Math.max(SECOND_OBSERVATION_SECONDS, 2 * statusSeconds(record)));
}

function observationsUnderWay({ looks, lookedAt }: ClusterRecord, now: Instant): readonly Instant[] {
  if (looks === undefined || looks.at !== lookedAt) return [];
  const isLate = (began: Instant): boolean =>
    Math.abs(secondsBetween(began, now)) >= LOST_OBSERVATION_SECONDS;
  return (looks.underWay ?? []).filter((began) => !isLate(began));
}

/** The record with one observation more, which begins now. */
export function beginObservation(record: ClusterRecord, now: Instant): ClusterRecord {
  const tokens = tokensAt(record, now) - 1;
  return withObservations(record, { tokens, at: now, underWay: [...observationsUnderWay(record, now), now] });
}

/** The record once an observation that began then has ended. Observations that began before it can save nothing any more. */
export function endObservation(record: ClusterRecord, began: Instant): ClusterRecord {
  const { looks } = record;
  if (looks?.underWay === undefined) return record;
  return withObservations(record, { ...looks, underWay: looks.underWay.filter((other) => other > began) });
}

/** A bucket far ahead of our clock is set to it, with no token: else no instance would observe before that time has come. */
export function mendObservations(record: ClusterRecord, now: Instant): ClusterRecord {
  if (record.lookedAt === undefined || record.lookedAt <= now) return record;
  return withObservations(record, { tokens: tokensAt(record, now), at: now });
}

function withObservations(
  record: ClusterRecord,
  { tokens, at, underWay = [] }: ObservationTokens,
): ClusterRecord {
  const looks = { tokens: Math.round(tokens * 1000) / 1000, at };
  return { ...record, lookedAt: at, looks: underWay.length === 0 ? looks : { ...looks, underWay } };
}

/** What an observation is too old for: creates and starts that others have committed since it began. Marks and grants are in the ledger. */
export type Effects = Pick<ClusterRecord, "epoch"> & { readonly created: number; readonly started: number };

export function effectsOf({ epoch, totals }: ClusterRecord): Effects {
  return { epoch, created: totals.created, started: totals.started ?? 0 };
}

/** Whether nobody has committed creates or starts since. */
export function hasSameEffects(record: ClusterRecord, effects: Effects): boolean {
  const { epoch, created, started } = effectsOf(record);
  return epoch === effects.epoch && created === effects.created && started === effects.started;
}

/** Whether an observation that arrived then is too old to be decided on: its process has stood still. */
export function isObservationOld(record: ClusterRecord, arrivedAt: Instant, now: Instant): boolean {
  return secondsBetween(arrivedAt, now) > OBSERVATION_GOOD_SECONDS + patienceSeconds(record);
}

/** Whether an observation that began then is older than the one that was saved last. A moment that is still to come says nothing. */
export function isOlderObservation(
  seen: { readonly at: Instant } | undefined,
  began: Instant,
  now: Instant,
): boolean {
  return seen !== undefined && began < seen.at && seen.at <= now;
}

/** Without a believed look for so long the autoscaler was away, or could not see. A rest of the cluster is no outage. */
export function outageSeconds(
  record: Pick<ClusterRecord, "calls" | "lastGoodLookAt" | "restsUntil">,
  policy: Policy,
): number {
  const pause = plannedPauseSeconds(record, record.lastGoodLookAt);
  return 2 * policy.snapshotIntervalSeconds + pause + patienceSeconds(record);
}

/** A believed observation that cannot be decided on still shows that we were there. It does not end an outage: only a plan notes that. */
export function noteGoodObservation(
  record: ClusterRecord,
  at: Instant,
  policy: Policy,
  now: Instant,
): ClusterRecord {
  const last = record.lastGoodLookAt;
  if (last === undefined || last >= at || secondsBetween(last, now) > outageSeconds(record, policy))
    return record;
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
