import type { Proposal } from "../domain/plan.ts";
import { countDemands } from "../domain/plan.ts";
import { ENDPOINTS, patienceSeconds, QUICK_SECONDS, recentCalls } from "../decide/pace/calls.ts";
import type { ClusterRecord } from "../domain/record.ts";
import { arrayShown, bucketText } from "../domain/bucket.ts";
import { stillInFlight } from "../domain/record.ts";
import type { Node } from "../domain/cluster.ts";
import { compareText } from "../domain/text.ts";
import type { Bodies } from "../domain/bodies.ts";
import type { NodeId, WakeId } from "../domain/ids.ts";
import type { Policy } from "../domain/policy.ts";
import type { Instant, Seconds } from "../domain/units.ts";
import { isoTime, minusSeconds, secondsBetween } from "../domain/units.ts";
import { loadCurrent, loadWhole } from "./record/load-record.ts";
import type { PhaseShown } from "../wire/api/parts.ts";
import { describeTroubles } from "./describe/describe-troubles.ts";
import { phaseShown } from "./describe/describe-nodearrays.ts";
import { withoutAbsent } from "../domain/without-absent.ts";
import type { NewHistoryRow } from "../wire/api/explanation-answers.ts";
import type { Site } from "./ports/ports.ts";
import { PortError } from "./ports/port-error.ts";
import { livesOf } from "../decide/nodes/node-life.ts";
import type { LedgerNode } from "../domain/ledger.ts";
import { priceNodes } from "../decide/world/price-nodes.ts";
import { noteFailure } from "./record/commit.ts";
import type { ReconcileOutcome } from "./effects/run.ts";
import { reconcileCluster } from "./reconcile/reconcile-cluster.ts";
import type { App } from "./process/lanes.ts";
import type { CurrentWhole } from "./record/load-record.ts";

/** The timer's result for one cluster. */
export interface TickReport {
  readonly cluster: string;
  readonly outcome:
    | ReconcileOutcome
    | { readonly kind: "failed"; readonly message: string }
    | { readonly kind: "timed-out" };
}

/** Time limit of a requested tick. Well below the host's five minutes. */
const DEADLINE_SECONDS: Seconds = 200;
/**
 * Time limit of the timer for one cluster, below its interval of a minute. The timer's runs never overlap (platform.md section 3), so one
 * cluster that hangs must not delay the next observations of the others.
 */
const TIMER_DEADLINE_SECONDS: Seconds = 50;
/** History is kept for this many days. */
const HISTORY_DAYS = 30;
/** Nodes that have gone are kept up to this number, the last ones. */
const MOST_NODES = 20_000;
/** How often a process counts them. */
const COUNT_SECONDS: Seconds = 6 * 3600;
/** Garbage collection and pruning of history begin in one tick of this many minutes. Later ticks continue work that is left over. */
const HOUSEKEEPING_MINUTES = 10;

/** The timer: all clusters in parallel, each if its tick is due. Never throws because of one cluster. */
export async function tickAll(app: App): Promise<readonly TickReport[]> {
  return Promise.all(
    [...app.ports.sites.values()].map((site) =>
      inTime(app, site, TIMER_DEADLINE_SECONDS, () => reconcileCluster(app, site, "due")),
    ),
  );
}

/** The wake message of a cluster: the same as the timer, if the loop waits for this message and a tick is due. Never throws. */
export async function tickByWake(app: App, site: Site, id: WakeId): Promise<TickReport> {
  return inTime(app, site, TIMER_DEADLINE_SECONDS, () => reconcileCluster(app, site, "due", undefined, id));
}

/** A requested tick, due or not. */
export async function tickInTime(app: App, site: Site): Promise<TickReport> {
  return inTime(app, site, DEADLINE_SECONDS, () => reconcileCluster(app, site, "tick"));
}

type Reconcile = () => Promise<ReconcileOutcome>;

/** One cluster's tick with a time limit. A tick that hangs goes on in the background; its effects have their own limit. */
async function inTime(
  app: App,
  site: Site,
  deadlineSeconds: Seconds,
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

/** Undefined if the work does not end in time. It then goes on. */
async function within<T>({ ports }: App, work: Promise<T>, seconds: Seconds): Promise<T | undefined> {
  const ended = new AbortController();
  const timeout = ports.clock.sleep(seconds * 1000, ended.signal).then(() => undefined);
  const result = await Promise.race([work, timeout]);
  ended.abort("over");
  return result;
}

/** Logs a tick whose caller has left. It counts as timed out only after the additional time of slow calls. */
async function logLate(app: App, site: Site, work: Promise<TickReport>): Promise<void> {
  const report = await within(app, work, await patienceWith(app, site));
  logTick(app, report ?? { cluster: site.cluster, outcome: { kind: "timed-out" } });
}

async function patienceWith(app: App, { cluster }: Site): Promise<number> {
  try {
    return patienceSeconds((await loadCurrent(app, cluster)).record);
  } catch {
    // No caller waits for this. A record that cannot be loaded is reported by the code that needs it.
    return 0;
  }
}

function logTick({ ports }: App, { cluster, outcome }: TickReport): void {
  // Happens once a minute for each resting cluster: not an event.
  if (outcome.kind === "not-due" || outcome.kind === "superseded") return;
  const trouble = outcome.kind === "troubled" ? { trouble: outcome.failure.kind } : {};
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
  logTroubles(app, site, current, policy, now);
  await history.append(site.cluster, withoutAbsent(historyRow(current, policy, now)));
  await keepNodes(app, site, current, policy);
  const isHousekeeping = Math.floor(now / 60_000) % HOUSEKEEPING_MINUTES === 0;
  await store.collect(site.cluster, now, isHousekeeping ? "begin" : "go-on");
  if (!isHousekeeping) return;
  await history.prune(site.cluster, minusSeconds(now, HISTORY_DAYS * 86_400));
  await plans.prune(site.cluster, minusSeconds(now, policy.planHistorySeconds));
  await pruneNodes(app, site, now);
}

/**
 * Keeps the nodes that have gone, of which the ledger knows for an hour: what a tick leaves undone, a later one does, in any process. No decision
 * depends on it (docs/decisions.md, "A node's history is written once, when it has gone").
 */
async function keepNodes(
  { lanes, ports }: App,
  { cluster }: Site,
  { bodies: { ledger, seen } }: CurrentWhole,
  policy: Policy,
): Promise<void> {
  const known = lanes.memoryOf(cluster).nodes;
  const gone = new Map<NodeId, Instant>();
  const missing: LedgerNode[] = [];
  ledger.forEach((node, id) => {
    if (node.goneAt === undefined) return;
    gone.set(id, node.goneAt);
    if (known.kept.get(id) !== node.goneAt) missing.push(node);
  });
  try {
    if (missing.length > 0) await ports.nodeHistory.keep(cluster, livesOf(missing, seen, policy));
    known.kept = gone;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    ports.log("nodes-not-kept", { cluster, nodes: missing.length, kind: error.kind, message: error.message });
  }
}

async function pruneNodes({ lanes, ports }: App, { cluster }: Site, now: Instant): Promise<void> {
  const known = lanes.memoryOf(cluster).nodes;
  const { countedAt } = known;
  const isCount = countedAt === undefined || secondsBetween(countedAt, now) >= COUNT_SECONDS;
  const before = minusSeconds(now, HISTORY_DAYS * 86_400);
  const pruned = await ports.nodeHistory.prune(cluster, before, isCount ? MOST_NODES : undefined);
  if (isCount && pruned === 0) known.countedAt = now;
}

/**
 * What is wrong with a cluster after each tick, so that an alert sees what lasts (infra/modules/events.kql): a line for each kind of trouble,
 * and one for each pause after a failed boot or after nodes that went down. A pause is logged until it is forgotten: the alert counts different ends.
 */
function logTroubles(
  { ports }: App,
  { cluster, stopKeys }: Site,
  { record, bodies }: CurrentWhole,
  policy: Policy,
  now: Instant,
): void {
  const counts = new Map<string, number>();
  for (const { kind, count } of describeTroubles(record, bodies, [], now, now, stopKeys, policy))
    counts.set(kind, (counts.get(kind) ?? 0) + count);
  for (const [kind, count] of counts) ports.log("trouble", { cluster, kind, number: count });
  for (const { bucket, cause, until } of record.backoffs)
    if (cause === "boot-failed" || cause === "went-down")
      ports.log("boot-failed", { cluster, bucket: bucketText(bucket), until: isoTime(until) });
}

/** One row of history. Exported for tests. */
export function historyRow({ bodies, record }: CurrentWhole, policy: Policy, now: Instant): NewHistoryRow {
  const { seen, ledger, plan } = bodies;
  const known = (seen?.nodes ?? []).filter(({ nodeId }) => ledger.has(nodeId));
  const { created, terminated, started } = record.totals;
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
    inFlight: record.inFlight.reduce((sum, entry) => sum + stillInFlight(entry), 0),
    liveSets: [...record.sets.values()].filter((entry) => entry.live).length,
    created,
    terminated,
    started,
    unmet: plan === undefined ? 0 : countDemands(plan).unmet,
    mode: plan?.withheld && plan.mode,
    withheld: plan?.withheld && countWithheld(plan.withheld),
    trouble: record.trouble?.kind,
    idle: idle.length,
    pricePerHour: price?.pricePerHour,
    idlePricePerHour: idlePrice?.pricePerHour,
    currency: price?.currency,
    unpricedNodes: price?.unpricedNodes,
    arrays: countArrays(known, idle, bodies, policy),
    callSeconds: slowCallsIn(record, now),
  };
}

/** Node arrays that a row names. The nodes of all others are counted together. */
const MOST_ARRAYS = 20;

/** The nodes with a VM by the array that they count for, those with most nodes first, and what they cost. Undefined: there are none. */
function countArrays(
  known: readonly Node[],
  idle: readonly Node[],
  { ledger, seen }: Bodies,
  policy: Policy,
): NewHistoryRow["arrays"] {
  if (seen === undefined) return undefined;
  const arrayOf = ({ nodeId, array }: Node): string => {
    const purpose = ledger.get(nodeId)?.purpose;
    return purpose === undefined ? array : arrayShown(purpose, array);
  };
  const withVm = known.filter(({ phase }) => phase !== "off" && phase !== "deallocated");
  const idleBy = Map.groupBy(idle, arrayOf);
  const groups = [...Map.groupBy(withVm, arrayOf)].toSorted(
    ([a, all], [b, others]) => others.length - all.length || compareText(a, b),
  );
  const named = groups.slice(0, MOST_ARRAYS).map(([name, nodes]) => ({ name, nodes, names: [name] }));
  const rest = groups.slice(MOST_ARRAYS);
  const others = {
    name: undefined,
    nodes: rest.flatMap(([, all]) => all),
    names: rest.map(([name]) => name),
  };
  const counted = [...named, ...(rest.length === 0 ? [] : [others])].map(({ name, nodes, names }) => {
    const idleNodes = names.flatMap((one) => idleBy.get(one) ?? []);
    return {
      name,
      nodes: nodes.length,
      idle: idleNodes.length,
      pricePerHour: priceNodes(nodes, seen, policy)?.pricePerHour,
      idlePricePerHour: priceNodes(idleNodes, seen, policy)?.pricePerHour,
    };
  });
  return counted.length === 0 ? undefined : counted;
}

function slowCallsIn(record: ClusterRecord, now: Instant): NewHistoryRow["callSeconds"] {
  const calls = recentCalls(record, now);
  const slow = ENDPOINTS.flatMap((endpoint) => {
    const seconds = calls[endpoint]?.seconds ?? 0;
    return seconds >= QUICK_SECONDS ? [[endpoint, seconds] as const] : [];
  });
  return slow.length === 0 ? undefined : Object.fromEntries(slow);
}

function countWithheld({ creates, starts, terminates }: Proposal): NewHistoryRow["withheld"] {
  const create = creates.reduce((sum, { count }) => sum + count, 0);
  return { create, start: starts.length, stop: terminates.length };
}

/** True if no demand needs the node and its busy state is not busy. */
function isIdle(node: NodeId, { ledger, plan }: Bodies): boolean {
  if (plan === undefined || ledger.get(node)?.busyness.state === "busy") return false;
  const verdict = plan.nodes.get(node)?.kind;
  return verdict !== "needed" && verdict !== "busy";
}
