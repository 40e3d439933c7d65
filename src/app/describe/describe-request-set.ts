import { holds, recallSets } from "../../decide/record/finished-sets.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { ClusterName, SetName } from "../../domain/ids.ts";
import type { NodeVerdict } from "../../domain/node-verdict.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Bytes, Instant } from "../../domain/units.ts";
import { latest, isoTime, plusSeconds, secondsBetween } from "../../domain/units.ts";
import type { OneRequestSetShown } from "../../wire/api/request-set-answers.ts";
import type { App } from "../process/lanes.ts";
import { loadToShow } from "../record/load-record.ts";
import type { Current } from "../record/load-record.ts";
import { verdictOn } from "./describe-nodes.ts";
import { describeNames } from "./describe-names.ts";
import { describeProposal, describeWhy } from "./describe-plan.ts";
import { expectReady } from "./expect-ready.ts";
import { metadataOf } from "./explain-cluster.ts";
import type { PageStart } from "./pages.ts";
import { Pages } from "./pages.ts";
import type { Held, SetEntry } from "../../domain/request-sets.ts";
import { reportsOf, setNamesOf, asideText } from "../../domain/request-sets.ts";
import type { ClusterShown } from "../../wire/api/cluster-answer.ts";
import type { RequestSetShown } from "../../wire/api/cluster-demand.ts";
import { rejectedShown } from "./describe-queues.ts";

/**
 * One request set for its sender: its times, and the outcome of each demand in the last plan. Undefined if nothing of it is known. Throws
 * PortError of the store.
 */
export async function describeRequestSet(
  app: App,
  cluster: ClusterName,
  set: SetName,
  start?: PageStart,
): Promise<OneRequestSetShown | undefined> {
  const current = await loadToShow(app, cluster);
  const { bodies } = current;
  const now = app.ports.clock.now();
  const record = await recall(app, current, set);
  const described = describeSet(record, set, bodies, now);
  if (described === undefined) return undefined;
  const outcomes = (bodies.plan?.demands ?? []).filter((outcome) => outcome.set === set);
  const notedOf = metadataOf(record, bodies, set);
  const waits = outcomes.some(({ pending }) => pending > 0);
  const withheld = waits ? bodies.plan?.withheld : undefined;
  // It is unknown when nodes come that are not requested yet.
  const comes = withheld === undefined || withheld.creates.length + withheld.starts.length === 0;
  const isWatched = bodies.plan?.mode === "observe";
  const expected = waits && comes && !isWatched ? readyFor(set, bodies, now) : undefined;
  const pages = new Pages(start);
  const whole = {
    ...described,
    expectedReadyAt: isoTime(expected),
    withheld: withheld === undefined ? undefined : describeProposal(withheld, bodies, "withheld", pages),
    observed: record.observedGeneration === record.generation,
    outcomes: pages.cut("outcomes", outcomes, (outcome): OneRequestSetShown["outcomes"][number] => {
      const { id, kind, unit, asked, placed, pending } = outcome;
      const ends = { ...describeWhy(outcome), metadata: notedOf(id) };
      return { set, id, kind, unit, asked, placed, pending, ...ends };
    }),
  };
  const names = describeNames(record, bodies, set, await app.ports.policyOf(cluster), now);
  return { ...whole, names: names && pages.cut("names", names, (one) => one), ...pages.end() };
}

/** The record including the set, even if it is over and has left the record. */
async function recall({ ports }: App, { record, stored }: Current, set: SetName): Promise<ClusterRecord> {
  if (stored === undefined || holds(record, set)) return record;
  return recallSets(record, await ports.store.finished(stored, [set]), [set]);
}

/** When the last node that a set waits for can be expected. A node that no observation has shown yet takes as long as others did. */
function readyFor(set: SetName, bodies: Bodies, now: Instant): Instant | undefined {
  const ready = expectReady(bodies);
  const waitedFor = (bodies.seen?.nodes ?? [])
    .filter(({ nodeId }) => isNeededBy(verdictOn(bodies, nodeId), set))
    .map((node) => ready.of(node))
    .filter((at) => at !== undefined);
  return waitedFor.length === 0 ? plusSeconds(now, ready.usualSeconds) : latest(...waitedFor);
}

function isNeededBy(verdict: NodeVerdict | undefined, set: SetName): boolean {
  return verdict?.kind === "needed" && verdict.by.some((demand) => demand.startsWith(`${set}/`));
}

/** Maximum size of the job errors of each set in a list, in bytes. A single set shows more. */
const REJECTED_BYTES: Bytes = 8000;
const REJECTED_BYTES_ALONE: Bytes = 400_000;

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
function describeSet(held: Held, name: SetName, bodies: Bodies, now: Instant): RequestSetShown | undefined {
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
  rejectedBytes: Bytes,
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
