import type { Calls, Endpoint, EndpointCalls, ClusterRecord } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import type { CallBounds } from "../../domain/policy.ts";
import { instant, plusSeconds, secondsBetween } from "../../domain/units.ts";

/** The speed and failures of calls to CycleCloud (docs/protocol.md, Slow calls). */

/** One call that has ended. */
export interface MeasuredCall {
  readonly endpoint: Endpoint;
  readonly seconds: Seconds;
  /** When it ended. */
  readonly at: Instant;
  /** Absent: it succeeded. */
  readonly failure?: string;
  /** There was a connection, and no answer came: CycleCloud may hold the request, and may have stood still. */
  readonly unanswered?: true;
}

/** Quicker calls change no bounds. */
export const QUICK_SECONDS: Seconds = 1;
/** An endpoint that was not called for this time may be quick, or work, again. */
const FORGET_SECONDS: Seconds = 900;
const RECENT_SECONDS: Seconds = 300;
/** The largest time limit of a call. Longer times count as this. */
const LONGEST_CALL_SECONDS: Seconds = 90;

/** An answer that took this long shows that CycleCloud stood still, or half of the limit of a call if that is less. */
const STANDSTILL_SECONDS: Seconds = 30;
/** With short limits, calls can give up long before CycleCloud goes on. By this time another call has begun and shows that. */
const BETWEEN_CALLS_SECONDS: Seconds = 60;
/** A question begins up to this long after the status of its observation. */
const TOGETHER_SECONDS: Seconds = 1;
/**
 * Without a good observation for longer than this, and than two slow statuses take, CycleCloud may have stood still unnoticed: those that
 * waited for it may have ended.
 */
const UNSEEN_SECONDS: Seconds = 90;
/** What an endpoint usually takes is the median of nine answers. Answers that are not known were quick. */
const ANSWERS_KEPT = 9;

/**
 * Notes the calls that ended since the last commit, and until when CycleCloud stood still by them (docs/protocol.md, Standstills). `measured`:
 * oldest first.
 */
export function noteCalls(
  record: ClusterRecord,
  measured: readonly MeasuredCall[],
  bounds: StandstillBounds,
  now: Instant,
): ClusterRecord {
  const { calls: before = {}, ...held } = record;
  const rest = withStandstill(held, before, measured, bounds);
  const calls: { -readonly [E in keyof Calls]: Calls[E] } = {};
  for (const endpoint of ENDPOINTS) {
    const known = before[endpoint];
    const recent = known !== undefined && secondsBetween(known.at, now) < FORGET_SECONDS ? known : undefined;
    const ended = measured.filter((call) => call.endpoint === endpoint && !failsAlone(record, call));
    const next = ended.reduce(afterCall, recent);
    if (next !== undefined && (next.seconds >= QUICK_SECONDS || next.failure !== undefined))
      calls[endpoint] = next;
  }
  return Object.keys(calls).length === 0 ? rest : { ...rest, calls };
}

/** Whether a status failed although one that began later was answered: only its own instance does not reach CycleCloud. */
function failsAlone({ lastGoodLookAt = instant(0) }: ClusterRecord, call: MeasuredCall): boolean {
  return call.endpoint === "status" && call.failure !== undefined && lastGoodLookAt > beganAt(call);
}

const beganAt = ({ at, seconds }: MeasuredCall): number => at - 1000 * seconds;

/** All endpoints, in the order in which they are shown. */
export const ENDPOINTS = [
  "status",
  "nodes",
  "operations",
  "create",
  "start",
  "terminate",
] as const satisfies readonly Endpoint[];

function afterCall(known: EndpointCalls | undefined, call: MeasuredCall): EndpointCalls {
  const { at, failure } = call;
  const seconds = nextSeconds(known?.seconds ?? 0, call);
  const answers = answersAfter(known?.answers ?? [], call);
  const next = { seconds, at, ...(answers.length === 0 ? {} : { answers }) };
  if (failure === undefined) return next;
  return { ...next, failure: { since: known?.failure?.since ?? at, message: failure } };
}

function answersAfter(known: readonly Seconds[], { seconds, unanswered }: MeasuredCall): readonly Seconds[] {
  if (unanswered === true) return known;
  return [...known, Math.round(seconds * 10) / 10].slice(-ANSWERS_KEPT);
}

/**
 * The record after a standstill that these calls show. An answer that took unusually long shows one, and so does a call without an answer,
 * unless only that call hangs.
 */
function withStandstill<R extends Pick<ClusterRecord, "provesFrom" | "lastGoodLookAt">>(
  record: R,
  before: Calls,
  measured: readonly MeasuredCall[],
  bounds: StandstillBounds,
): R {
  const answers = new Map(ENDPOINTS.map((endpoint) => [endpoint, before[endpoint]?.answers ?? []]));
  const longSeconds = Math.min(STANDSTILL_SECONDS, bounds.callLimitSeconds / 2);
  let next = record;
  for (const call of measured) {
    const known = answers.get(call.endpoint) ?? [];
    answers.set(call.endpoint, answersAfter(known, call));
    const isLong = call.seconds >= longSeconds;
    const stoodStill =
      call.unanswered === true
        ? !hangsAlone(record, call, longSeconds)
        : isLong && call.seconds > 2 * usualSeconds(known);
    if (stoodStill) next = withProofFrom(next, provesAfter(call.at, bounds));
  }
  return next;
}

/**
 * Whether CycleCloud worked while it did not answer this call: a good status began later. A change needs one that began this many seconds
 * later, and before its caller gave up: one that came sooner may have been answered just before CycleCloud stood still with the change in its
 * sockets, and one that came afterwards may have been answered when it went on.
 */
function hangsAlone(
  { lastGoodLookAt = instant(0) }: Pick<ClusterRecord, "lastGoodLookAt">,
  call: MeasuredCall,
  seconds: Seconds,
): boolean {
  const began = beganAt(call);
  switch (call.endpoint) {
    case "status":
      return lastGoodLookAt >= began;
    case "nodes":
    case "operations":
      return lastGoodLookAt >= began - 1000 * TOGETHER_SECONDS;
    case "create":
    case "start":
    case "terminate":
      return lastGoodLookAt >= began + 1000 * seconds && lastGoodLookAt <= call.at;
  }
}

/**
 * The record after an observation that began long after the last good one, while an effect was open. The instances that waited for
 * CycleCloud may have ended before they noted that it stood still. It goes on at the latest when the observation has arrived.
 */
export function noteUnseen(
  record: ClusterRecord,
  { began, arrivedAt }: { readonly began: Instant; readonly arrivedAt: Instant },
  bounds: StandstillBounds,
): ClusterRecord {
  const { lastGoodLookAt, intents } = record;
  if (lastGoodLookAt === undefined || intents.length === 0) return record;
  const isSeen = secondsBetween(lastGoodLookAt, began) <= UNSEEN_SECONDS + 2 * statusSeconds(record);
  return isSeen ? record : withProofFrom(record, provesAfter(arrivedAt, bounds));
}

type StandstillBounds = Pick<CallBounds, "callLimitSeconds" | "lagSeconds">;

/** From when on something proves again after CycleCloud has gone on: it has done what it held, and shows it. */
function provesAfter(wentOn: Instant, { callLimitSeconds, lagSeconds }: StandstillBounds): Instant {
  return plusSeconds(wentOn, Math.max(callLimitSeconds, BETWEEN_CALLS_SECONDS) + lagSeconds);
}

function withProofFrom<R extends Pick<ClusterRecord, "provesFrom">>(record: R, from: Instant): R {
  const { provesFrom } = record;
  return provesFrom !== undefined && provesFrom >= from ? record : { ...record, provesFrom: from };
}

/** The median of the last nine answers. */
function usualSeconds(answers: readonly Seconds[]): Seconds {
  return answers.toSorted((a, b) => b - a)[(ANSWERS_KEPT - 1) / 2] ?? 0;
}

/** The expected duration after a call. A failed call may have ended early, so it can only raise the duration. */
function nextSeconds(known: number, { seconds, failure }: MeasuredCall): number {
  const slower = Math.max(known, Math.min(LONGEST_CALL_SECONDS, seconds));
  const next = failure === undefined && seconds < known ? (known + seconds) / 2 : slower;
  return Math.round(next * 10) / 10;
}

/** The calls that are shown. Endpoints that were not called for some time are left out, because their state may have changed. */
export function recentCalls({ calls = {} }: Pick<ClusterRecord, "calls">, now: Instant): Calls {
  const recent = ENDPOINTS.flatMap((endpoint) => {
    const known = calls[endpoint];
    return known !== undefined && secondsBetween(known.at, now) <= RECENT_SECONDS ? [[endpoint, known]] : [];
  });
  return Object.fromEntries(recent);
}

/** The expected duration of a status call. 0 if it is less than a second. */
export function statusSeconds({ calls }: Pick<ClusterRecord, "calls">): number {
  return calls?.status?.seconds ?? 0;
}

/** The expected duration of a call to the slowest endpoint. 0 if all are quick. */
function slowestSeconds({ calls = {} }: Pick<ClusterRecord, "calls">): number {
  return Math.max(0, ...ENDPOINTS.map((endpoint) => calls[endpoint]?.seconds ?? 0));
}

/**
 * By how much bounds grow that assume quick calls, because a plan waits for one call and sends another. Such bounds are the age of an
 * observation that answers callbacks, the gap that counts as an outage, and the deadline of a tick.
 */
export function patienceSeconds(record: Pick<ClusterRecord, "calls">): number {
  return 2 * slowestSeconds(record);
}

// What an instance leaves to the others because it gets no answer from CycleCloud (docs/protocol.md, Instances that are cut off;
// docs/decisions.md, "Only its own process knows that an instance is cut off").

/** An instance begins no observation for this long after its own had no answer, if another one has observed since. */
const CUT_OFF_SECONDS: Seconds = 120;

/** Nor a stop for this long, unless it observes before. It may have no other call by which to try, and a node that asks again finds others. */
const STOPS_LEFT_SECONDS: Seconds = 600;

/** While no other instance is known to reach CycleCloud, the next observation is left to another instance for this long after our own began. */
const OWN_TURN_SECONDS: Seconds = 30;

/** What is left to other instances is handed on with a wake message that arrives this much later. */
export const HAND_ON_SECONDS: Seconds = 2;

/** The last call of one kind that this process began. It had no answer, or its password was refused. */
export interface SilentCall {
  readonly began: Instant;
  /** Absent: it is under way. */
  readonly ended?: Instant;
}

/** Whether the next observation is left to another instance, after the last status of this process. */
export function leavesObservation(
  record: ClusterRecord,
  silent: SilentCall | undefined,
  now: Instant,
): boolean {
  if (silent === undefined) return false;
  const isTried = secondsBetween(silent.began, now) < OWN_TURN_SECONDS;
  return isTried || isCutOff(record, silent, CUT_OFF_SECONDS, now);
}

/** Whether stops are left to other instances, after the last status or stop of this process. */
export function leavesStop(record: ClusterRecord, silent: SilentCall | undefined, now: Instant): boolean {
  return silent !== undefined && isCutOff(record, silent, STOPS_LEFT_SECONDS, now);
}

/** Whether another instance has observed since our call began: it reaches CycleCloud, and we do not. `seconds`: believed for so long. */
function isCutOff(
  { lastGoodLookAt }: ClusterRecord,
  { began, ended }: SilentCall,
  seconds: Seconds,
  now: Instant,
): boolean {
  if (lastGoodLookAt === undefined || lastGoodLookAt <= began) return false;
  return ended === undefined || secondsBetween(ended, now) < seconds;
}
