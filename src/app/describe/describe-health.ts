import type { Bodies } from "../../domain/bodies.ts";
import type { ClusterName } from "../../domain/ids.ts";
import { isObserving } from "../../domain/mode.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { isoTime, secondsBetween } from "../../domain/units.ts";
import type { HealthShown } from "../../wire/api/parts.ts";
import type { Current } from "../record/current.ts";
import { loadCurrent } from "../record/load-record.ts";
import type { StopKeys } from "../ports/site.ts";
import { PortError } from "../ports/port-error.ts";
import { reviveLoop } from "../reconcile/revive-loop.ts";
import { retiredKeys, retiredKeyText } from "./stop-key-use.ts";
import type { App } from "../process/app.ts";
import { leftOutBy, triedAgainAt } from "../../decide/record/processes.ts";
import { isStarting, notesOn, staleSeconds, isTickLate, FAILURES, stateOf } from "./health-notes.ts";
import { unneededText } from "./unneeded-text.ts";
import { quoteText } from "../../domain/secrets.ts";

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
    restingUntil: outage === undefined ? undefined : isoTime(outage.until),
    awaiting: outage?.awaiting.slice(0, SHOWN_AWAITED),
    clusterState: seen === undefined ? undefined : stateOf(seen),
  };
}
