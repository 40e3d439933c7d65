import type { ObservationTokens, ClusterRecord } from "../../domain/record.ts";
import type { SetName } from "../../domain/ids.ts";
import type { SenderRules } from "../../domain/sender-rules.ts";
import { senderOf } from "../senders/sender-rule.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import { REST_OBSERVATION_SECONDS, TICK_SECONDS } from "./next-tick.ts";
import { patienceSeconds, statusSeconds } from "./calls.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** When observations may begin, and how long a plan may use one (docs/protocol.md, Observations and Plans). */

/**
 * The token bucket holds this many observations, and gets one more each 6 s: at most 13 in any 60 s (docs/decisions.md, "A token bucket of
 * observations, no fixed pause").
 */
const OBSERVATION_TOKENS = 3;
const TOKEN_SECONDS: Seconds = 6;
/** Maximum number of observations under way at once. */
const OBSERVATIONS_TOGETHER = 2;
/** An observation that has not ended after this time counts as lost. The call has a time limit, so its instance must be gone. */
const LOST_OBSERVATION_SECONDS: Seconds = 90;
/** A second observation begins at the earliest this long after the first, if that has not ended. */
const SECOND_OBSERVATION_SECONDS: Seconds = 5;
/** Maximum age of a status that a plan uses, in addition to the duration of slow calls. */
const OBSERVATION_GOOD_SECONDS: Seconds = 30;
/**
 * What was under way when a plan got priority is saved by then, and so is a change that only turns arrays to observe, which never waits, where
 * one comes each second. The plan is decided on them.
 */
export const LANDING_SECONDS: Seconds = 1.3;
/** If other commits or changes of the configuration prevent a plan from being saved, they wait for this time. */
const PLAN_FIRST_SECONDS: Seconds = 5;
/** The same for a plan that was not saved in that time. */
const SLOW_PLAN_FIRST_SECONDS: Seconds = 15;

/**
 * The number of tokens at this moment. If the last observation is in our future, because the clock of its instance is ahead of ours, there
 * are fewer tokens than stored. Otherwise two instances would each count the other's observations as long ago. The number is never below
 * -{@link OBSERVATION_TOKENS}, which bounds the time that we wait (docs/decisions.md, "The bucket may owe up to three observations").
 */
function tokensAt(record: ClusterRecord, now: Instant): number {
  const { looks, lookedAt } = record;
  if (lookedAt === undefined) return OBSERVATION_TOKENS;
  const tokens = looks?.at === lookedAt ? looks.tokens : 0;
  const filled = tokens + secondsBetween(lookedAt, now) / TOKEN_SECONDS;
  return Math.min(OBSERVATION_TOKENS, Math.max(-OBSERVATION_TOKENS, filled));
}

/** One token, less the error of rounding to thousandths. */
const WHOLE_TOKEN = 0.999;

/**
 * When the bucket has a whole token: now, or the moment at which it is full enough. `forDemand`: it leaves one for demand of other senders, if
 * that of the same sender has changed again.
 */
export function nextToken(
  record: ClusterRecord,
  now: Instant,
  { forDemand }: { readonly forDemand: boolean },
): Instant {
  const left = forDemand && record.changed?.isOfAnother === false ? 1 : 0;
  const tokens = tokensAt(record, now) - left;
  return tokens >= WHOLE_TOKEN ? now : plusSeconds(now, (1 - tokens) * TOKEN_SECONDS);
}

/** Notes that the demand of a set has changed. Without rules names can be invented, so that nothing is kept for other senders. */
export function noteChanged(record: ClusterRecord, set: SetName, senders: SenderRules): ClusterRecord {
  if (senders.length === 0 || record.changed?.isOfAnother === true) return record;
  const { servedLast } = record.looks ?? {};
  const isOfAnother = servedLast === undefined || senderOf(senders, set) !== senderOf(senders, servedLast);
  return { ...record, changed: { set, isOfAnother } };
}

/**
 * When an observation may begin beside those that are under way. A second one begins only if the first takes unusually long, because its
 * instance may be gone. A third one waits until one of them has ended.
 */
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

/** Notes an observation that begins now. */
export function beginObservation(record: ClusterRecord, now: Instant): ClusterRecord {
  const tokens = tokensAt(record, now) - 1;
  const underWay = [...observationsUnderWay(record, now), now];
  const { changed, ...rest } = record;
  const servedLast = changed?.set ?? record.looks?.servedLast;
  return withObservations(rest, {
    tokens,
    at: now,
    underWay,
    ...withoutAbsent({ servedLast }),
  });
}

/** Notes that an observation has ended. Observations that began before it are removed too, because they can no longer be saved. */
export function endObservation(record: ClusterRecord, began: Instant): ClusterRecord {
  const { looks } = record;
  if (looks?.underWay === undefined) return record;
  return withObservations(record, { ...looks, underWay: looks.underWay.filter((other) => other > began) });
}

/** Sets a bucket that is ahead of our clock to our clock. Otherwise no instance would observe before that moment. */
export function mendObservations(record: ClusterRecord, now: Instant): ClusterRecord {
  if (record.lookedAt === undefined || record.lookedAt <= now) return record;
  return withObservations(record, { ...record.looks, tokens: tokensAt(record, now), at: now, underWay: [] });
}

function withObservations(
  record: ClusterRecord,
  { tokens, at, underWay = [], ...rest }: ObservationTokens,
): ClusterRecord {
  const looks = { ...rest, tokens: Math.round(tokens * 1000) / 1000, at };
  return { ...record, lookedAt: at, looks: underWay.length === 0 ? looks : { ...looks, underWay } };
}

/** The creates and starts so far. An observation that began before a later one must not be used. Marks and grants are in the ledger. */
export type Effects = Pick<ClusterRecord, "epoch"> & { readonly created: number; readonly started: number };

/** The creates and starts in this record (docs/decisions.md, "Only totals of created and started nodes make an observation old"). */
export function effectsOf({ epoch, totals }: ClusterRecord): Effects {
  return { epoch, created: totals.created, started: totals.started ?? 0 };
}

/** Whether no creates or starts were committed since then. */
export function hasSameEffects(record: ClusterRecord, effects: Effects): boolean {
  const { epoch, created, started } = effectsOf(record);
  return epoch === effects.epoch && created === effects.created && started === effects.started;
}

/** Whether an observation is too old for a plan, because its process was suspended. `arrivedAt`: when its status arrived. */
export function isObservationOld(record: ClusterRecord, arrivedAt: Instant, now: Instant): boolean {
  return secondsBetween(arrivedAt, now) > OBSERVATION_GOOD_SECONDS + patienceSeconds(record);
}

/** Whether an observation is older than the one that was saved last. One that was saved with a future moment is ignored. `began`: when it began. */
export function isOlderObservation(
  seen: { readonly at: Instant } | undefined,
  began: Instant,
  now: Instant,
): boolean {
  return seen !== undefined && began < seen.at && seen.at <= now;
}

/** By how many seconds the planned pause after this observation is longer than a minute. */
export function plannedPauseSeconds(
  { restsUntil }: Pick<ClusterRecord, "restsUntil">,
  lookedAt: Instant | undefined,
): number {
  if (restsUntil === undefined || lookedAt === undefined) return 0;
  const seconds = Math.min(REST_OBSERVATION_SECONDS, secondsBetween(lookedAt, restsUntil));
  return Math.max(0, seconds - TICK_SECONDS);
}

/** If there was no believed observation for this time, the autoscaler had an outage. The planned rest of a cluster is none. */
export function outageSeconds(
  record: Pick<ClusterRecord, "calls" | "lastGoodLookAt" | "restsUntil">,
  policy: Policy,
): number {
  const pause = plannedPauseSeconds(record, record.lastGoodLookAt);
  return 2 * policy.snapshotIntervalSeconds + pause + patienceSeconds(record);
}

/** Notes a believed observation that no plan can use. It shows that the autoscaler works, but only a plan ends an outage. */
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

/** Gives the plan priority after other commits prevented it from being saved; for longer if the plan before had the usual time and lost it. */
export function letPlanFirst(record: ClusterRecord, now: Instant): ClusterRecord {
  const rest = endPriority(record);
  if (!lostPriority(record, now)) return { ...rest, planBy: plusSeconds(now, PLAN_FIRST_SECONDS) };
  return { ...rest, planBy: plusSeconds(now, SLOW_PLAN_FIRST_SECONDS), planSlow: true };
}

/** The record of a plan that is saved. */
export function endPriority({ planBy: _by, planSlow: _slow, ...rest }: ClusterRecord): ClusterRecord {
  return rest;
}

/** Whether marks, grants and changes of the configuration have to wait for such a plan. */
export function isPlanFirst(record: ClusterRecord, now: Instant): boolean {
  const { planBy } = record;
  return planBy !== undefined && now < planBy && secondsBetween(now, planBy) <= prioritySeconds(record);
}

/** Whether the plan that has priority is not to be decided yet: see {@link LANDING_SECONDS}. */
export function isLanding(record: ClusterRecord, now: Instant): boolean {
  if (record.planBy === undefined || !isPlanFirst(record, now)) return false;
  return secondsBetween(now, record.planBy) > prioritySeconds(record) - LANDING_SECONDS;
}

function prioritySeconds({ planSlow }: ClusterRecord): Seconds {
  return planSlow === true ? SLOW_PLAN_FIRST_SECONDS : PLAN_FIRST_SECONDS;
}

/** Whether the last plan that had priority for the usual time was not saved in it. */
export function lostPriority({ planBy, planSlow }: ClusterRecord, now: Instant): boolean {
  return planBy !== undefined && planBy <= now && planSlow !== true;
}
