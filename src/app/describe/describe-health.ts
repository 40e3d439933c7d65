import type { Bodies } from "../../domain/bodies.ts";
import type { ClusterName } from "../../domain/ids.ts";
import { isObserving, observingText } from "../../domain/mode.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord, Calls, Endpoint } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { isoTime, secondsBetween } from "../../domain/units.ts";
import type { HealthShown } from "../../wire/api/parts.ts";
import type { Current } from "../record/load-record.ts";
import { loadCurrent } from "../record/load-record.ts";
import type { StopKeys } from "../ports/ports.ts";
import { PortError } from "../ports/port-error.ts";
import { reviveLoop } from "../reconcile/reserve-observation.ts";
import { retiredKeys, retiredKeyText } from "./node-troubles.ts";
import type { App } from "../process/lanes.ts";
import { leftOutBy, triedAgainAt } from "../../decide/record/processes.ts";
import { unneededText } from "./describe-troubles.ts";
import { quoteText } from "../../domain/secrets.ts";
import { ENDPOINTS, patienceSeconds, recentCalls } from "../../decide/pace/calls.ts";
import { plannedPauseSeconds } from "../../decide/pace/observation-times.ts";
import type { Snapshot } from "../../domain/cluster.ts";
import type { ReconcileFailure } from "../../domain/troubles.ts";
import { countQueues } from "./describe-queues.ts";

/** Maximum number of sets named individually. */
const SHOWN_AWAITED = 200;

/** A cluster of which nothing is known. */
const UNKNOWN: Omit<HealthShown, "ok" | "notes"> = {
  starting: undefined,
  observing: undefined,
  warnings: [],
  lastLookAgeSeconds: undefined,
  trouble: undefined,
  restingUntil: undefined,
  awaiting: undefined,
  clusterState: undefined,
};

/** Never throws: one cluster whose record cannot be read must not hide the others. */
export async function checkHealth(app: App, cluster: ClusterName): Promise<HealthShown> {
  try {
    const [current, policy] = await Promise.all([loadCurrent(app, cluster), app.ports.policyOf(cluster)]);
    const record = sinceAsked(app, current);
    await reviveLoop(app, record);
    const stopKeys = app.ports.sites.get(cluster)?.stopKeys;
    return describeHealth(record, undefined, policy, app.ports.clock.now(), stopKeys);
  } catch (error) {
    if (error instanceof PortError)
      return { ...UNKNOWN, ok: false, notes: [`${error.kind}: ${error.message}`] };
    return unreadable(app, cluster, error);
  }
}

/** A cluster without a record is new for as long as this process has been asked about it. A timer that never runs ends that. */
export function sinceAsked({ lanes, ports }: App, { record, stored }: Current): ClusterRecord {
  if (stored !== undefined) return record;
  const { cluster } = record;
  const epochAt = lanes.askedUnborn.get(cluster) ?? ports.clock.now();
  lanes.askedUnborn.set(cluster, epochAt);
  return { ...record, epochAt };
}

/** For example a record that was changed by hand. The error's message may contain stored data, so it goes to the log only. */
function unreadable({ ports }: App, cluster: ClusterName, error: unknown): HealthShown {
  ports.log("health-failed", { cluster, kind: "defect", message: String(error) });
  const message = `the record cannot be read (${error instanceof Error ? error.name : typeof error})`;
  const trouble = { at: isoTime(ports.clock.now()), kind: "failed", message };
  return { ...UNKNOWN, ok: false, notes: [`${FAILURES.failed}: ${message}`], trouble };
}

/** Processes died over a plan of this record. Undefined: none did, or a single one, which may be the end of an instance. */
function deathsText(record: ClusterRecord, now: Instant): string | undefined {
  const { deaths } = record;
  const sets = leftOutBy(record, now);
  if (deaths === undefined || sets === 0) return undefined;
  const which = sets === 1 ? "the request set" : `the ${sets} request sets`;
  return `the app ended ${deaths.count} times while it planned this cluster, probably for want of memory: ${which} whose content came last ${sets === 1 ? "is" : "are"} left out until ${isoTime(triedAgainAt(deaths.at))}, when a plan tries with all`;
}

/** Health in short: whether the last accepted observation is recent, and the cause if it is not. Without `bodies`, only from the record. */
export function describeHealth(
  record: ClusterRecord,
  bodies: Bodies | undefined,
  policy: Policy,
  now: Instant,
  stopKeys?: StopKeys,
): HealthShown {
  const age = record.lastGoodLookAt === undefined ? undefined : secondsBetween(record.lastGoodLookAt, now);
  const { trouble } = record;
  const fresh = age !== undefined && age <= staleSeconds(record, policy) && !isTickLate(record, policy, now);
  const outage = record.outage === undefined || record.outage.until <= now ? undefined : record.outage;
  const seen = bodies?.seen;
  const deaths = deathsText(record, now);
  return {
    ok: fresh && trouble === undefined,
    starting: isStarting(record, now) ? true : undefined,
    observing: isObserving(policy) ? true : undefined,
    notes: notesOn(record, seen, policy, now).map(quoteText),
    warnings: [
      ...(record.unneeded === undefined ? [] : [unneededText(record.unneeded)]),
      ...retiredKeys(record, stopKeys).map(retiredKeyText),
      ...(deaths === undefined ? [] : [deaths]),
    ],
    lastLookAgeSeconds: age,
    trouble:
      trouble === undefined
        ? undefined
        : { at: isoTime(trouble.at), kind: trouble.kind, message: quoteText(trouble.message) },
    restingUntil: isoTime(outage?.until),
    awaiting: outage?.awaiting.slice(0, SHOWN_AWAITED),
    clusterState: seen === undefined ? undefined : stateOf(seen),
  };
}

/** Maximum number of names in one sentence. */
const SHOWN_NAMES = 10;

/** An observation or a tick older than this indicates a fault: a cluster that does not rest is observed every minute. */
const STALE_OBSERVATION_INTERVALS = 5;

/** Calls that take this long are mentioned. */
const SLOW_SECONDS: Seconds = 5;

function notesOn(
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

/** The record is so new that its first observation may still come, and nothing has failed. */
function isStarting({ epochAt, lastGoodLookAt, trouble }: ClusterRecord, now: Instant): boolean {
  if (lastGoodLookAt !== undefined || trouble !== undefined) return false;
  return secondsBetween(epochAt, now) < STARTING_SECONDS;
}

function staleSeconds(record: ClusterRecord, policy: Policy): number {
  const pause = plannedPauseSeconds(record, record.lastGoodLookAt);
  return STALE_OBSERVATION_INTERVALS * policy.snapshotIntervalSeconds + pause + patienceSeconds(record);
}

/** Demand may trigger observations while no tick runs. Then history, housekeeping and work without a message stand still. */
function isTickLate(record: ClusterRecord, policy: Policy, now: Instant): boolean {
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

const FAILURES: Readonly<Record<ReconcileFailure["kind"], string>> = {
  unreachable: "CycleCloud cannot be reached",
  throttled: "CycleCloud asks to wait",
  denied: "CycleCloud refuses the credentials",
  unexpected: "CycleCloud's answer is unexpected",
  suspicious: "the last observation is not accepted yet",
  "not-found": "CycleCloud does not know the cluster",
  failed: "the app itself failed, and tries again at each tick",
};

function stateOf(seen: Snapshot): string {
  return `${seen.state ?? "never started"} (target ${seen.targetState ?? "none"})`;
}

interface HealthOfAll {
  readonly clusters: readonly HealthShown[];
  /** Undefined if the queues cannot be read. */
  readonly queues: Awaited<ReturnType<typeof countQueues>>;
}

/** The health of all clusters and of the queues, for callers without a key. */
export interface HealthDesk {
  /** At most 5 s old, also if it is a failure. Simultaneous callers share the work. */
  all(): Promise<HealthOfAll>;
}

/** Probes call about every ten seconds. */
const AGE_SECONDS: Seconds = 5;

export function createHealthDesk(app: App): HealthDesk {
  const { clock, sites } = app.ports;
  let last: { readonly at: Instant; readonly health: Promise<HealthOfAll> } | undefined;
  const checkAll = async (): Promise<HealthOfAll> => {
    const [queues, ...clusters] = await Promise.all([
      countQueues(app),
      ...[...sites.keys()].map((name) => checkHealth(app, name)),
    ]);
    return { clusters, queues };
  };
  return {
    all() {
      const now = clock.now();
      const age = last === undefined ? undefined : secondsBetween(last.at, now);
      if (last !== undefined && age !== undefined && age >= 0 && age < AGE_SECONDS) return last.health;
      last = { at: now, health: checkAll() };
      return last.health;
    },
  };
}
