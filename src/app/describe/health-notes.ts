import { ENDPOINTS, patienceSeconds, recentCalls } from "../../decide/pace/calls.ts";
import { plannedPauseSeconds } from "../../decide/pace/next-tick.ts";
import type { Snapshot } from "../../domain/cluster.ts";
import { observingText } from "../../domain/mode.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Calls, Endpoint } from "../../domain/calls.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { ReconcileFailure } from "../../domain/troubles.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { isoTime, secondsBetween } from "../../domain/units.ts";

/** Maximum number of names in one sentence. */
const SHOWN_NAMES = 10;

/** An observation or a tick older than this indicates a fault: a cluster that does not rest is observed every minute. */
const STALE_OBSERVATION_INTERVALS = 5;

/** Calls that take this long are mentioned. */
const SLOW_SECONDS: Seconds = 5;

export function notesOn(
  record: ClusterRecord,
  seen: Snapshot | undefined,
  policy: Policy,
  now: Instant,
): readonly string[] {
  const { createsFrom, lastGoodLookAt, nextTickAt, trouble, outage } = record;
  const age = lastGoodLookAt === undefined ? undefined : secondsBetween(lastGoodLookAt, now);
  const notes: string[] = [];
  if (age === undefined)
    notes.push("no observation of CycleCloud has succeeded yet: the timer tries every minute");
  else if (age > staleSeconds(record, policy))
    notes.push(
      `the last accepted observation is ${Math.round(age)} s old${trouble === undefined ? ": does the timer run?" : ", and what is shown dates from then"}`,
    );
  else if (nextTickAt !== undefined && isTickLate(record, policy, now))
    notes.push(
      `a tick was due at ${isoTime(nextTickAt)}, and neither the timer nor its wake message has come: do the functions snapshot and demand run?`,
    );
  if (trouble !== undefined) notes.push(`${FAILURES[trouble.kind]}: ${trouble.message}`);
  notes.push(...notesOnCalls(recentCalls(record, now)));
  const observing = observingText(policy);
  if (observing !== undefined) notes.push(observing);
  if (seen !== undefined && (seen.state !== "Started" || seen.targetState !== "Started"))
    notes.push(`the cluster is ${stateOf(seen)}: nothing is created or stopped`);
  if (createsFrom !== undefined && createsFrom > now && lastGoodLookAt !== undefined)
    notes.push(
      `the autoscaler's record of this cluster is new or was restored, and the cluster has nodes: nothing is created before ${isoTime(createsFrom)}, so that earlier creates show first`,
    );
  if (outage !== undefined && outage.until > now) {
    const waiting =
      outage.awaiting.length === 0
        ? ""
        : `, or until these sets are pushed: ${outage.awaiting.slice(0, SHOWN_NAMES).join(", ")}`;
    notes.push(
      `scale-down rests after a start or an interruption of the autoscaler until ${isoTime(outage.until)}${waiting}`,
    );
  }
  return notes;
}

/** A new record that is not observed after this time indicates a fault. */
const STARTING_SECONDS: Seconds = 300;

/** The record is so new that its first observation may still come, and nothing has failed. A release that wrote no `epochAt` is long ago. */
export function isStarting({ epochAt, lastGoodLookAt, trouble }: ClusterRecord, now: Instant): boolean {
  if (lastGoodLookAt !== undefined || trouble !== undefined || epochAt === undefined) return false;
  return secondsBetween(epochAt, now) < STARTING_SECONDS;
}

export function staleSeconds(record: ClusterRecord, policy: Policy): number {
  const pause = plannedPauseSeconds(record, record.lastGoodLookAt);
  return STALE_OBSERVATION_INTERVALS * policy.snapshotIntervalSeconds + pause + patienceSeconds(record);
}

/** Demand may trigger observations while no tick runs. Then history, housekeeping and work without a message stand still. */
export function isTickLate(record: ClusterRecord, policy: Policy, now: Instant): boolean {
  const { nextTickAt } = record;
  const intervals = STALE_OBSERVATION_INTERVALS - 1;
  const bound = intervals * policy.snapshotIntervalSeconds + patienceSeconds(record);
  return nextTickAt !== undefined && secondsBetween(nextTickAt, now) > bound;
}

/** The slow and the failing calls. A failing status is a separate trouble. */
function notesOnCalls(calls: Calls): readonly string[] {
  const slow = ENDPOINTS.filter((endpoint) => (calls[endpoint]?.seconds ?? 0) >= SLOW_SECONDS);
  const seconds = (endpoint: Endpoint): number => Math.round(calls[endpoint]?.seconds ?? 0);
  const notes = slow.includes("status")
    ? [`CycleCloud takes ${seconds("status")} s per call`]
    : slow.map((endpoint) => `CycleCloud takes ${seconds(endpoint)} s per call of ${CALLED[endpoint]}`);
  for (const endpoint of ENDPOINTS) {
    const failure = calls[endpoint]?.failure;
    if (failure === undefined || endpoint === "status") continue;
    notes.push(
      `CycleCloud's ${CALLED[endpoint]} has failed since ${isoTime(failure.since)}: ${failure.message}`,
    );
  }
  return notes;
}

const CALLED: Readonly<Record<Endpoint, string>> = {
  status: "status",
  nodes: "nodes?request_id=",
  operations: "operations/",
  create: "nodes/create",
  start: "nodes/start",
  terminate: "nodes/terminate",
};

export const FAILURES: Readonly<Record<ReconcileFailure["kind"], string>> = {
  unreachable: "CycleCloud cannot be reached",
  throttled: "CycleCloud asks to wait",
  denied: "CycleCloud refuses the credentials",
  unexpected: "CycleCloud's answer is unexpected",
  suspicious: "the last observation is not accepted yet",
  "not-found": "CycleCloud does not know the cluster",
  failed: "the app itself failed, and tries again at each tick",
};

export function stateOf(seen: Snapshot): string {
  return `${seen.state ?? "never started"} (target ${seen.targetState ?? "none"})`;
}
