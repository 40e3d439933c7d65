import { leavesObservation, HAND_ON_SECONDS } from "../../decide/pace/calls.ts";
import {
  beginTick,
  isAwaitedWake,
  isTickDue,
  isTickOverdue,
  leaveTick,
  passWakeOn,
  isLoopLost,
} from "../../decide/pace/next-tick.ts";
import {
  beginObservation,
  effectsOf,
  mendObservations,
  nextTogether,
} from "../../decide/pace/observation-times.ts";
import {
  isCovered,
  isFollowUpDue,
  isWakePending,
  notBefore,
  takeOver,
  withoutDueWake,
} from "../../decide/record/whose-turn.ts";
import { endRest } from "../../decide/senders/shares.ts";
import { beginPlanning } from "../../decide/record/processes.ts";
import type { Owner, WakeId } from "../../domain/ids.ts";
import type { ClusterRecord, PendingWake } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import type { Change } from "../record/commit.ts";
import { commitRecord } from "../record/commit.ts";
import type { Current } from "../record/load-record.ts";
import type { Cause, ReconcileOutcome, Reconcile, Begun, Beginning, Run } from "../effects/run.ts";
import { wakeId } from "../../domain/ids.ts";
import type { App } from "../process/lanes.ts";
import { PortError } from "../ports/port-error.ts";

/** A tick that waits for its turn reads the record at this interval. */
const POLL_SECONDS: Seconds = 5;

/**
 * Decides from the record that holds the demand, so that of a thousand messages in five seconds only the first few load it again. No
 * observation is needed if a plan has covered the demand, or if the instance that observes next has been woken and will find it.
 */
export function needsNoObservation(
  known: ClusterRecord,
  owner: Owner,
  now: Instant,
): ReconcileOutcome | undefined {
  if (isCovered(known, now)) return { kind: "covered" };
  const until = notBefore(known, owner, now, { forDemand: true });
  return until !== undefined && isWakePending(known, now, until) ? { kind: "waiting", until } : undefined;
}

/** Reserves the observation in the record, which limits the rate of all instances together. Otherwise returns why not now. */
export async function reserveObservation(run: Reconcile, cause: Cause): Promise<Begun | ReconcileOutcome> {
  const { clock, queue } = run.app.ports;
  const sendFirst = wakeSender(run);
  for (;;) {
    const change = (current: Current) => begin(run, current, cause, clock.now());
    const committed = await commitRecord(run.app, run.site.cluster, change, sendFirst);
    if (committed.kind === "contended") return { kind: "overtaken", byPlan: false };
    const beginning = committed.result;
    if (beginning.kind !== "waiting") return beginning;
    if (cause !== "demand" && clock.now() < run.deadline) {
      await clock.sleep(Math.min(POLL_SECONDS * 1000, Math.max(1, beginning.until - clock.now())));
      continue;
    }
    if (beginning.wake) await queue.wake(run.site.cluster, beginning.until);
    return { kind: "waiting", until: beginning.until };
  }
}

/** The change of the record that begins an observation, or the reason why none begins now. */
function begin(run: Reconcile, current: Current, cause: Cause, now: Instant): Change<Beginning> {
  const { record, stored } = current;
  if (cause === "demand" && isCovered(record, now, stored?.version.configuration))
    return { result: { kind: "covered" } };
  const idle = cause === "due" ? beginNothing(run, record, now) : undefined;
  if (idle !== undefined) return idle;
  const until = notBefore(record, run.owner, now, { forDemand: cause === "demand" });
  if (until !== undefined) return wait(run, record, cause, until, now);
  const left = leave(run, record, cause, now);
  if (left !== undefined) return left;
  const ticking = cause === "due" ? beginTick(record, run, now) : record;
  const rested = endRest(ticking, run.policy, { forDemand: cause === "demand" }, now);
  const { record: reserved, taken } = takeOver(withoutDueWake(rested, now), run.owner, now, run.policy);
  const resumed = taken.filter(({ effect }) => effect.kind === "create").map((intent) => intent.id);
  const open = [...new Set([...record.inFlight.map((entry) => entry.requestId), ...resumed])];
  const begun = beginObservation(reserved, now);
  return {
    save: { record: beginPlanning(begun, run.app.lanes.process, now), changes: {} },
    result: {
      kind: "begun",
      at: now,
      effects: effectsOf(record),
      isFirst: record.plan === 0,
      open,
      taken,
      lateFrom: nextTogether(begun, now),
      ...newWake(record, reserved),
    },
  };
}

/** The observation begins later. For demand a wake message comes then. */
function wait(
  run: Reconcile,
  record: ClusterRecord,
  cause: Cause,
  until: Instant,
  now: Instant,
): Change<Beginning> {
  const ours = run.woken && record.wakeAt !== undefined && record.wakeAt <= now;
  const wake = cause === "demand" && (ours || !isWakePending(record, now, until));
  const result: Beginning = { kind: "waiting", until, wake };
  const mended = mendObservations(record, now);
  if (!wake) return mended === record ? { result } : { save: { record: mended, changes: {} }, result };
  const wakeFor = isFollowUpDue(record, now) ? "follow-up" : "demand";
  return { save: { record: { ...mended, wakeAt: until, wakeFor }, changes: {} }, result };
}

/**
 * Leaves the observation to another instance, because this one gets no answer from CycleCloud: a tick stays due, and a wake message comes soon.
 * Undefined: it begins here, as each tick that a person asked for.
 */
function leave(
  run: Reconcile,
  record: ClusterRecord,
  cause: Cause,
  now: Instant,
): Change<Beginning> | undefined {
  const silent = run.app.lanes.memoryOf(run.site.cluster).calls.silentCall("status");
  if (cause === "tick" || !leavesObservation(record, silent, now)) return undefined;
  const until = plusSeconds(now, HAND_ON_SECONDS);
  if (cause === "demand") return wait(run, record, cause, until, now);
  return isTickOverdue(record, now) ? undefined : noTick(record, leaveTick(record, run, now), until);
}

/** The outcome if this tick is not for us: its wake message is not awaited, or no tick is due. Undefined: begin. */
function beginNothing(run: Reconcile, record: ClusterRecord, now: Instant): Change<Beginning> | undefined {
  const { broughtBy } = run;
  if (broughtBy !== undefined && !isAwaitedWake(record, broughtBy, now))
    return { result: { kind: "superseded" } };
  if (isTickDue(record, now)) return undefined;
  const { nextTickAt = now } = record;
  return noTick(record, passWakeOn(record, run, now), nextTickAt);
}

/** No tick is made here. `after`: the record with the wake message of the next one. */
function noTick(record: ClusterRecord, after: ClusterRecord, until: Instant): Change<Beginning> {
  const result: Beginning = { kind: "not-due", until, ...newWake(record, after) };
  return after === record ? { result } : { save: { record: after, changes: {} }, result };
}

/** The wake message that this change adds to the record. */
function newWake(before: ClusterRecord, { pendingWake }: ClusterRecord): { readonly wake?: PendingWake } {
  const isNew = pendingWake !== undefined && pendingWake.id !== before.pendingWake?.id;
  return isNew ? { wake: pendingWake } : {};
}

/** One process sends a lost wake message again at most this often. */
const APART_SECONDS: Seconds = 60;

/**
 * Sends a cluster's wake message again if its ticks are late and the message is lost, for example because the queue was emptied while the
 * timer is silent. Called where the record is read anyway: probes of health, demand, callbacks of nodes. A check at each start would read
 * every record. Reads and saves nothing. If the message does arrive twice, the second one ends with one read. Never throws.
 */
export async function reviveLoop({ ports, lanes }: App, record: ClusterRecord): Promise<void> {
  const { cluster, pendingWake } = record;
  const now = ports.clock.now();
  if (!isLoopLost(record, now)) return;
  const last = lanes.revivedAt.get(cluster);
  if (last !== undefined && secondsBetween(last, now) < APART_SECONDS) return;
  lanes.revivedAt.set(cluster, now);
  try {
    await ports.queue.wake(cluster, now, pendingWake?.id ?? wakeId(`tick-${ports.entropy.owner()}-${now}`));
    ports.log("loop-revived", { cluster });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const { kind, message } = error;
    ports.log("wake-not-sent", { cluster, kind, message });
  }
}

/**
 * Sends the next tick's wake message before the record names it (docs/decisions.md, "A wake message is sent before the commit that names
 * it"). If this process ends in between, the message that the record names is still there. A message that the record never names ends with
 * one read. A retry does not send the same message twice. Throws PortError only if a wake message triggered this run and is still in the
 * queue: the timer may be silent.
 */
function wakeSender(run: Reconcile): (beginning: Beginning) => Promise<void> {
  const sent = new Set<WakeId>();
  return async (beginning) => {
    if (beginning.kind !== "begun" && beginning.kind !== "not-due") return;
    const { wake } = beginning;
    if (wake === undefined || sent.has(wake.id)) return;
    if (run.broughtBy === undefined) await sendWake(run, wake);
    else await run.app.ports.queue.wake(run.site.cluster, wake.at, wake.id);
    sent.add(wake.id);
  };
}

/** Never throws: the tick itself matters more, and the timer replaces a lost wake message. */
export async function sendWake({ app, site }: Run, wake: PendingWake | undefined): Promise<void> {
  if (wake === undefined) return;
  try {
    await app.ports.queue.wake(site.cluster, wake.at, wake.id);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const { kind, message } = error;
    app.ports.log("wake-not-sent", { cluster: site.cluster, kind, message });
  }
}

/** The wake message that the end of this observation put into the record. Undefined if none. */
export function wakeOfEnd(
  { owner }: Reconcile,
  begun: Begun,
  { pendingWake }: ClusterRecord,
): PendingWake | undefined {
  const isOurs = pendingWake?.id.startsWith(`tick-${owner}-`) === true;
  return isOurs && pendingWake.id !== begun.wake?.id ? pendingWake : undefined;
}
