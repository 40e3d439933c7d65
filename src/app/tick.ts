import { describeTotals } from "./describe-totals.ts";
import type { Plan } from "../domain/plan.ts";
import { ENDPOINTS, patienceSeconds, QUICK_SECONDS, recentCalls } from "../decide/pace/calls.ts";
import type { ClusterRecord } from "../domain/record.ts";
import { stillInFlight } from "../domain/record.ts";
import type { Bodies } from "../domain/bodies.ts";
import type { NodeId, WakeId } from "../domain/ids.ts";
import type { Policy } from "../domain/policy.ts";
import type { Instant } from "../domain/units.ts";
import { plusSeconds } from "../domain/units.ts";
import { loadCurrent, loadWhole } from "./commit.ts";
import type { PhaseShown } from "./phase-shown.ts";
import { phaseShown } from "./phase-shown.ts";
import type { HistoryRow, Site } from "./ports.ts";
import { priceNodes } from "../decide/world/price-nodes.ts";
import { noteFailure } from "./note-failure.ts";
import type { ReconcileOutcome } from "./reconcile-cluster.ts";
import { reconcileCluster } from "./reconcile-cluster.ts";
import type { App } from "./app.ts";
import type { CurrentWhole } from "./current.ts";

/** What the timer did for one cluster. */
export interface TickReport {
  readonly cluster: string;
  readonly outcome:
    | ReconcileOutcome
    | { readonly kind: "failed"; readonly message: string }
    | { readonly kind: "timed-out" };
}

/** A tick that somebody asked for is waited for so long; well inside the host's five minutes. */
const DEADLINE_SECONDS = 200;
/**
 * The timer's runs never overlap (platform.md section 3), so that it waits for each cluster less than the minute until the next: one
 * that hangs must not delay the next look at the others.
 */
const TIMER_DEADLINE_SECONDS = 50;
/** History is kept so long. */
const HISTORY_DAYS = 30;
/** A collection of garbage begins, and history is pruned, in one tick of so many minutes; what a tick leaves over the next goes on with. */
const HOUSEKEEPING_MINUTES = 10;

/** The timer: every cluster side by side, if a tick of it is due. Never throws for one cluster's sake. */
export async function tickAll(app: App): Promise<readonly TickReport[]> {
  return Promise.all(
    [...app.ports.sites.values()].map((site) =>
      inTime(app, site, TIMER_DEADLINE_SECONDS, () => reconcileCluster(app, site, "due")),
    ),
  );
}

/** The wake message of a cluster: what the timer does for it, if the loop waits for this message and a tick is due. Never throws. */
export async function tickByWake(app: App, site: Site, id: WakeId): Promise<TickReport> {
  return inTime(app, site, TIMER_DEADLINE_SECONDS, () => reconcileCluster(app, site, "due", undefined, id));
}

/** A tick that somebody asked for: due or not. */
export async function tickInTime(app: App, site: Site): Promise<TickReport> {
  return inTime(app, site, DEADLINE_SECONDS, () => reconcileCluster(app, site, "tick"));
}

type Reconcile = () => Promise<ReconcileOutcome>;

/** One cluster's tick, bounded in time. What it started goes on in the background if it hangs; its effects have their own bound. */
async function inTime(
  app: App,
  site: Site,
  deadlineSeconds: number,
  reconcile: Reconcile,
): Promise<TickReport> {
  const work = tickOne(app, site, reconcile);
  const report = await within(app, work, deadlineSeconds);
  if (report !== undefined) {
    logTick(app, report);
    return report;
  }
  void logLate(app, site, work);
  return { cluster: site.cluster, outcome: { kind: "timed-out" } };
}

/** undefined: it is not done in time, and goes on. */
async function within<T>({ ports }: App, work: Promise<T>, seconds: number): Promise<T | undefined> {
  const ended = new AbortController();
  const timeout = ports.clock.sleep(seconds * 1000, ended.signal).then(() => undefined);
  const result = await Promise.race([work, timeout]);
  ended.abort();
  return result;
}

/** A tick that nobody waits for any more is timed out only once it has had the time that slow calls take, too. */
async function logLate(app: App, site: Site, work: Promise<TickReport>): Promise<void> {
  const report = await within(app, work, await patienceWith(app, site));
  logTick(app, report ?? { cluster: site.cluster, outcome: { kind: "timed-out" } });
}

async function patienceWith(app: App, { cluster }: Site): Promise<number> {
  try {
    return patienceSeconds((await loadCurrent(app, cluster)).record);
  } catch {
    // Nobody waits for this: a record that cannot be loaded is the trouble of whoever needs it.
    return 0;
  }
}

function logTick({ ports }: App, { cluster, outcome }: TickReport): void {
  // Once a minute for each cluster that rests: that is no event.
  if (outcome.kind === "not-due" || outcome.kind === "superseded") return;
  const trouble = outcome.kind === "troubled" ? { trouble: outcome.trouble.kind } : {};
  ports.log("tick", { cluster, outcome: outcome.kind, ...trouble });
}

async function tickOne(app: App, site: Site, reconcile: Reconcile): Promise<TickReport> {
  try {
    const outcome = await reconcile();
    if (outcome.kind !== "not-due" && outcome.kind !== "superseded") await keepHistory(app, site);
    return { cluster: site.cluster, outcome };
  } catch (error) {
    await noteFailure(app, site.cluster, "tick-failed", error);
    const message = error instanceof Error ? error.message : String(error);
    return { cluster: site.cluster, outcome: { kind: "failed", message } };
  }
}

async function keepHistory(app: App, site: Site): Promise<void> {
  const { clock, history, plans, policyOf, store } = app.ports;
  const now = clock.now();
  const [current, policy] = await Promise.all([loadWhole(app, site.cluster), policyOf(site.cluster)]);
  await history.append(site.cluster, historyRow(current, policy, now));
  const isHousekeeping = Math.floor(now / 60_000) % HOUSEKEEPING_MINUTES === 0;
  await store.collect(site.cluster, now, isHousekeeping ? "begin" : "go-on");
  if (!isHousekeeping) return;
  await history.prune(site.cluster, plusSeconds(now, -HISTORY_DAYS * 86_400));
  await plans.prune(site.cluster, plusSeconds(now, -policy.planHistorySeconds));
}

/** One row of history. Exported for tests. */
export function historyRow({ bodies, record }: CurrentWhole, policy: Policy, now: Instant): HistoryRow {
  const { seen, ledger, plan } = bodies;
  const known = (seen?.nodes ?? []).filter(({ nodeId }) => ledger.has(nodeId));
  const nodes: Partial<Record<PhaseShown, number>> = {};
  for (const node of known) {
    const phase = phaseShown(node, plan);
    nodes[phase] = (nodes[phase] ?? 0) + 1;
  }
  const idle = known.filter((node) => phaseShown(node, plan) === "ready" && isIdle(node.nodeId, bodies));
  const price = seen === undefined ? undefined : priceNodes(known, seen, policy);
  const idlePrice = seen === undefined ? undefined : priceNodes(idle, seen, policy);
  return {
    at: now,
    plan: record.plan,
    nodes,
    idle: idle.length,
    ...price,
    ...(idlePrice === undefined ? {} : { idlePricePerHour: idlePrice.pricePerHour }),
    inFlight: record.inFlight.reduce((sum, entry) => sum + stillInFlight(entry), 0),
    liveSets: [...record.sets.values()].filter((entry) => entry.live).length,
    ...describeTotals(record.totals),
    unmet: plan?.demands.filter((demand) => demand.placed < demand.asked).length ?? 0,
    ...withheldIn(plan),
    ...(record.trouble === undefined ? {} : { trouble: record.trouble.kind }),
    ...slowCallsIn(record, now),
  };
}

function slowCallsIn(record: ClusterRecord, now: Instant): Pick<HistoryRow, "callSeconds"> {
  const calls = recentCalls(record, now);
  const slow = ENDPOINTS.flatMap((endpoint) => {
    const seconds = calls[endpoint]?.seconds ?? 0;
    return seconds >= QUICK_SECONDS ? [[endpoint, seconds] as const] : [];
  });
  return slow.length === 0 ? {} : { callSeconds: Object.fromEntries(slow) };
}

function withheldIn(plan: Plan | undefined): Pick<HistoryRow, "mode" | "withheld"> {
  if (plan?.withheld === undefined) return {};
  const { creates, starts, terminates } = plan.withheld;
  const create = creates.reduce((sum, { count }) => sum + count, 0);
  const mode = plan.mode === undefined ? {} : { mode: plan.mode };
  return { ...mode, withheld: { create, start: starts.length, stop: terminates.length } };
}

/** Nothing that is asked for needs it, and nobody says that it is busy. */
function isIdle(node: NodeId, { ledger, plan }: Bodies): boolean {
  if (plan === undefined || ledger.get(node)?.busyness.state === "busy") return false;
  const verdict = plan.nodes.get(node)?.kind;
  return verdict !== "needed" && verdict !== "busy";
}
