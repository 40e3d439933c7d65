import { HAND_ON_SECONDS } from "./calls.ts";
import type { Snapshot } from "../../domain/cluster.ts";
import type { Owner, WakeId } from "../../domain/ids.ts";
import { wakeId } from "../../domain/ids.ts";
import type { Plan } from "../../domain/plan.ts";
import type { Ledger } from "../../domain/ledger.ts";
import type { ClusterRecord, PendingWake } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { instant, plusSeconds, secondsBetween } from "../../domain/units.ts";

/** When the next tick is due, and which wake message ticks if the timer does not (docs/protocol.md, Ticks). */

/** The timer ticks this often. */
export const TICK_SECONDS: Seconds = 60;
/** A tick is due this much earlier, because the timer and two clocks may differ. */
const EARLY_SECONDS: Seconds = 10;
/** A cluster that needs no plan is observed this often. */
export const REST_OBSERVATION_SECONDS: Seconds = 900;
/** A stopped cluster with demand is observed this often, because an administrator may start it. */
const STOPPED_OBSERVATION_SECONDS: Seconds = 300;
/** The wake message arrives this long after the tick is due, so that a running timer is first. */
const WAKE_AFTER_SECONDS: Seconds = 5;
/**
 * While the timer runs, the wake message arrives three ticks later, because it costs an execution and has nothing to do (docs/decisions.md,
 * "While the timer runs, wake messages come every four minutes").
 */
const WATCH_SECONDS: Seconds = 3 * TICK_SECONDS + WAKE_AFTER_SECONDS;
/** A wake message that is this late counts as lost. The platform may have to start an instance for it first. */
const WAKE_LOST_SECONDS: Seconds = 60;

/** If a tick and its wake message are this late, the loop needs help. The start of an instance and a slow observation take less. */
const LATE_SECONDS: Seconds = 120;

/** An instance that is cut off from CycleCloud leaves a tick to the others until it is this late. */
const LEFT_SECONDS: Seconds = 60;

/** The instance that runs, and the wake message that started the run. Absent: none did. */
interface Ticker {
  readonly owner: Owner;
  readonly broughtBy?: WakeId;
}

/** Whether a tick is due. A moment further ahead than any rest comes from a wrong clock and counts as due. */
export function isTickDue({ nextTickAt }: ClusterRecord, now: Instant): boolean {
  if (nextTickAt === undefined) return true;
  const seconds = secondsBetween(now, nextTickAt);
  return seconds <= EARLY_SECONDS || seconds > REST_OBSERVATION_SECONDS + TICK_SECONDS;
}

/** Whether the loop waits for this wake message. It accepts any if it waits for none, or if its own is lost. */
export function isAwaitedWake({ pendingWake }: ClusterRecord, id: WakeId, now: Instant): boolean {
  return pendingWake === undefined || pendingWake.id === id || isLost(pendingWake, now);
}

/** Whether no tick is coming: the tick is late, and so is the wake message that replaces the timer. */
export function isLoopLost(record: ClusterRecord, now: Instant): boolean {
  const { nextTickAt, lastGoodLookAt, pendingWake } = record;
  const dueAt = nextTickAt ?? lastGoodLookAt;
  if (dueAt === undefined || secondsBetween(dueAt, now) <= LATE_SECONDS) return false;
  return pendingWake === undefined || secondsBetween(pendingWake.at, now) > LATE_SECONDS;
}

/**
 * The record when a tick begins. The next one is due in the next minute, even if this one fails. Only its plan can let the cluster rest.
 */
export function beginTick(record: ClusterRecord, ticker: Ticker, now: Instant): ClusterRecord {
  const nextTickAt = nextTick(now, TICK_SECONDS);
  const rests = isResting(record);
  const expected = rests ? nextTick(now, REST_OBSERVATION_SECONDS) : nextTickAt;
  const watched = { ...record, nextTickAt };
  const { pendingWake } = record;
  const isKept =
    pendingWake !== undefined &&
    pendingWake.id !== ticker.broughtBy &&
    pendingWake.at >= expected &&
    pendingWake.at <= plusSeconds(expected, WATCH_SECONDS);
  if (isKept) return watched;
  const isWoken = rests || ticker.broughtBy !== undefined;
  return withWake(watched, ticker, plusSeconds(expected, isWoken ? WAKE_AFTER_SECONDS : WATCH_SECONDS));
}

/** Whether an instance that is cut off from CycleCloud takes this tick: no other one has in time. */
export function isTickOverdue({ nextTickAt }: ClusterRecord, now: Instant): boolean {
  return nextTickAt === undefined || secondsBetween(nextTickAt, now) >= LEFT_SECONDS;
}

/** The record if a due tick is left to another instance: its wake message arrives soon. */
export function leaveTick(record: ClusterRecord, ticker: Ticker, now: Instant): ClusterRecord {
  const { pendingWake } = record;
  const comesSoon =
    pendingWake !== undefined &&
    pendingWake.id !== ticker.broughtBy &&
    pendingWake.at >= now &&
    pendingWake.at <= plusSeconds(now, WAKE_AFTER_SECONDS);
  return comesSoon ? record : withWake(record, ticker, plusSeconds(now, HAND_ON_SECONDS));
}

/** The record if no tick is due. A wake message that has arrived is sent again for the next tick, and a lost one is replaced. */
export function passWakeOn(record: ClusterRecord, ticker: Ticker, now: Instant): ClusterRecord {
  const { pendingWake, nextTickAt = now } = record;
  const isUnderWay =
    pendingWake !== undefined && pendingWake.id !== ticker.broughtBy && !isLost(pendingWake, now);
  if (isUnderWay) return record;
  const after = isResting(record) ? WAKE_AFTER_SECONDS : WATCH_SECONDS;
  return withWake(record, ticker, plusSeconds(nextTickAt, after));
}

/** The record after an observation that failed or is not believed. The next tick and its wake message come within a minute. */
export function tickSoon(record: ClusterRecord, ticker: Ticker, now: Instant): ClusterRecord {
  const next = nextTick(now, TICK_SECONDS);
  const { nextTickAt } = record;
  const isFar = nextTickAt !== undefined && nextTickAt > next;
  return withWakeInTime(isFar ? { ...record, nextTickAt: next } : record, ticker, now);
}

/** The record after a plan. `restSeconds`: the time to the next observation. Undefined: one minute. */
export function tickAfterPlan(
  record: ClusterRecord,
  restSeconds: Seconds | undefined,
  ticker: Ticker,
  now: Instant,
): ClusterRecord {
  const { restsUntil: _before, ...current } = record;
  if (restSeconds === undefined) return tickSoon(current, ticker, now);
  const restsUntil = nextTick(now, restSeconds);
  return withWakeInTime({ ...current, nextTickAt: restsUntil, restsUntil }, ticker, now);
}

/** How often a cluster with this plan is observed. Undefined: each minute. `record`: the record after the plan. */
export function restSeconds(
  record: ClusterRecord,
  seen: Snapshot,
  ledger: Ledger,
  plan: Plan,
): number | undefined {
  const { intents, inFlight, outage, createsFrom, wakeAt, lost, missing } = record;
  const isQuiet =
    intents.length === 0 &&
    inFlight.length === 0 &&
    outage === undefined &&
    (createsFrom === undefined || createsFrom <= plan.at) &&
    wakeAt === undefined &&
    missing === undefined &&
    (lost === undefined || secondsBetween(lost.at, plan.at) > REST_OBSERVATION_SECONDS);
  const isEmpty =
    (seen.unlisted ?? []).length === 0 &&
    !seen.nodes.some(({ nodeId, phase }) => ledger.has(nodeId) && phase !== "off" && phase !== "deallocated");
  if (!isQuiet || !isEmpty) return undefined;
  if (plan.demands.length === 0 && plan.leftOut === undefined) return REST_OBSERVATION_SECONDS;
  const isStopped = seen.state !== "Started" || seen.targetState !== "Started";
  return isStopped ? STOPPED_OBSERVATION_SECONDS : undefined;
}

function withWakeInTime(record: ClusterRecord, ticker: Ticker, now: Instant): ClusterRecord {
  const { pendingWake, nextTickAt = nextTick(now, TICK_SECONDS) } = record;
  const isInTime =
    pendingWake !== undefined &&
    !isLost(pendingWake, now) &&
    pendingWake.at <= plusSeconds(nextTickAt, WATCH_SECONDS);
  return isInTime ? record : withWake(record, ticker, plusSeconds(nextTickAt, WAKE_AFTER_SECONDS));
}

function withWake(record: ClusterRecord, { owner }: Ticker, at: Instant): ClusterRecord {
  return { ...record, pendingWake: { id: wakeId(`tick-${owner}-${at}`), at } };
}

const isLost = ({ at }: PendingWake, now: Instant): boolean => secondsBetween(at, now) >= WAKE_LOST_SECONDS;

/** Whether the cluster rests. A failed observation ends a rest, so that the next one comes soon. */
const isResting = ({ restsUntil, trouble }: ClusterRecord): boolean =>
  restsUntil !== undefined && trouble === undefined;

/** The next tick. Ticks are due at full minutes, and those of resting clusters at full quarters of an hour, like timer and housekeeping. */
function nextTick(now: Instant, seconds: Seconds): Instant {
  const step = seconds * 1000;
  return instant((Math.floor((now + EARLY_SECONDS * 1000) / step) + 1) * step);
}
