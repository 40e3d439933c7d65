import { asideText } from "../../domain/aside.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { SetName } from "../../domain/ids.ts";
import type { Held, SetEntry } from "../../domain/request-sets.ts";
import { reportsOf, setNamesOf } from "../../domain/request-sets.ts";
import type { Instant } from "../../domain/units.ts";
import { isoTime, secondsBetween } from "../../domain/units.ts";
import type { ClusterShown } from "../../wire/api/cluster-answer.ts";
import type { RequestSetShown } from "../../wire/api/cluster-demand.ts";
import type { Pages } from "./pages.ts";
import { rejectedShown } from "./rejected-shown.ts";

/** Maximum size of the job errors of each set in a list, in bytes. A single set shows more. */
const REJECTED_BYTES = 8000;
const REJECTED_BYTES_ALONE = 400_000;

/** The sets of a cluster, each with the number of its unmet demands. */
export function describeSets(held: Held, bodies: Bodies, now: Instant, pages: Pages): ClusterShown["demand"] {
  const unmet = new Map<SetName, number>();
  for (const outcome of bodies.plan?.demands ?? []) {
    if (outcome.placed < outcome.asked) unmet.set(outcome.set, (unmet.get(outcome.set) ?? 0) + 1);
  }
  const sets = setNamesOf(held).flatMap((name) => {
    const entry = mainEntry(held, name);
    return entry === undefined ? [] : [{ name, entry }];
  });
  const described = ({ name, entry }: (typeof sets)[number]): ClusterShown["demand"][number] => ({
    ...describeEntry(held, name, entry, bodies, now, REJECTED_BYTES),
    unmet: unmet.get(name) ?? 0,
  });
  return pages.cut("demand", sets, described, 0.4);
}

/**
 * One set: revision and times of its demand, and of its report and pools if they came without demand. A set without demand is shown with
 * what it has. Undefined if nothing of it is stored.
 */
export function describeSet(
  held: Held,
  name: SetName,
  bodies: Bodies,
  now: Instant,
): RequestSetShown | undefined {
  const entry = mainEntry(held, name);
  return entry === undefined
    ? undefined
    : describeEntry(held, name, entry, bodies, now, REJECTED_BYTES_ALONE);
}

function describeEntry(
  held: Held,
  name: SetName,
  entry: SetEntry,
  bodies: Bodies,
  now: Instant,
  rejectedBytes: number,
): RequestSetShown {
  const report = held.separateReports.get(name);
  const pools = held.separatePools.get(name);
  const isAside = bodies.aside?.has(name) === true;
  const body = isAside ? undefined : bodies.demands.get(entry.digest);
  return {
    requestSet: name,
    state: stateOf(name, entry, bodies, now),
    ...describeTimes(entry, now),
    demands: isAside ? (entry.size?.jobs ?? 0) : (body?.demands.length ?? 0),
    leftOut: isAside ? leftOutText(name, bodies) : undefined,
    reportsHosts: reportsOf(held).get(name)?.report !== undefined,
    ...rejectedShown(body, rejectedBytes),
    report: report === undefined ? undefined : describePart(report, now),
    pools: pools === undefined ? undefined : describePart(pools, now),
  };
}

/** The words of the last plan, or those of a load that came after it. */
function leftOutText(name: SetName, { plan, aside }: Bodies): string | undefined {
  const why = aside?.get(name);
  const said = plan?.leftOut?.find((one) => one.set === name && one.aside !== undefined);
  return why === undefined ? undefined : asideText(why, said?.why ?? "its jobs");
}

function mainEntry({ sets, separateReports, separatePools }: Held, name: SetName): SetEntry | undefined {
  const [report, pools] = [separateReports.get(name), separatePools.get(name)];
  const other =
    report !== undefined && pools !== undefined && report.expiresAt < pools.expiresAt
      ? pools
      : (report ?? pools);
  return sets.get(name) ?? other;
}

function describePart(entry: SetEntry, now: Instant): NonNullable<RequestSetShown["report"]> {
  return { live: isLive(entry, now), ...describeTimes(entry, now) };
}

function describeTimes(
  { revision, intervalSeconds, acceptedAt, expiresAt }: SetEntry,
  now: Instant,
): Omit<NonNullable<RequestSetShown["report"]>, "live"> {
  return {
    revision: revision.value,
    expirationInterval: intervalSeconds,
    acceptedAt: isoTime(acceptedAt),
    expiresAt: isoTime(expiresAt),
    expiresInSeconds: Math.max(0, secondsBetween(now, expiresAt)),
  };
}

/** For the demand. A set that only reports asks for nothing. */
type SetState = RequestSetShown["state"];

function stateOf(name: SetName, entry: SetEntry, { demands, aside }: Bodies, now: Instant): SetState {
  if (!isLive(entry, now)) return "lapsed";
  if (aside?.has(name) === true) return "live";
  return (demands.get(entry.digest)?.demands.length ?? 0) === 0 ? "empty" : "live";
}

const isLive = ({ live, expiresAt }: SetEntry, now: Instant): boolean => live && expiresAt > now;

/** For all sets, however many are shown. */
export function countSets(held: Held, bodies: Bodies, now: Instant): Readonly<Record<SetState, number>> {
  const counts = { live: 0, empty: 0, lapsed: 0 };
  for (const name of setNamesOf(held)) {
    const entry = mainEntry(held, name);
    if (entry !== undefined) counts[stateOf(name, entry, bodies, now)] += 1;
  }
  return counts;
}
