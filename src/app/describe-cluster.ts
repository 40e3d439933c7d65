import { renderVerdict } from "../domain/plan.ts";
import { renderReason } from "../domain/reason.ts";
import { bucketText, stillInFlight } from "../domain/record.ts";
import type { Bodies, ClusterRecord, LedgerNode, SetEntry } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import { isoTime, secondsBetween } from "../domain/units.ts";
import type { ClusterName, SetName } from "../domain/ids.ts";
import type { Policy } from "../domain/policy.ts";
import type { App } from "./commit.ts";
import { loadCurrent, loadWhole } from "./commit.ts";

/** The state page shows so many nodes, sets and outcomes; counts are always of all. */
const SHOWN = 2000;

/** A look so old means that something is wrong: the timer looks every minute. */
const STALE_LOOK_INTERVALS = 5;

/** Everything an operator needs to know of one cluster, as JSON: demand, plan with reasons, nodes with why they stay, health. */
export async function describeCluster(
  app: App,
  cluster: ClusterName,
): Promise<Readonly<Record<string, unknown>>> {
  const [{ record, bodies }, policy] = await Promise.all([
    loadWhole(app, cluster),
    app.ports.policyOf(cluster),
  ]);
  const now = app.ports.clock.now();
  return {
    cluster,
    now: isoTime(now),
    health: describeHealth(record, bodies, policy, now),
    demand: [...record.sets].slice(0, SHOWN).map(([name, entry]) => describeSet(name, entry, bodies, now)),
    plan: describePlan(bodies),
    nodes: describeNodes(bodies),
    inFlight: record.inFlight.map((entry) => ({
      requestId: entry.requestId,
      bucket: bucketText(entry.bucket),
      added: entry.added,
      stillToShow: stillInFlight(entry),
      since: isoTime(entry.since),
    })),
    intents: record.intents.map((intent) => ({
      id: intent.id,
      effect: intent.effect.kind,
      committedAt: isoTime(intent.committedAt),
      sent: intent.sent,
    })),
    backoffs: record.backoffs
      .filter((entry) => entry.until > now)
      .map((entry) => ({
        bucket: bucketText(entry.bucket),
        until: isoTime(entry.until),
        cause: entry.cause,
        message: entry.message,
      })),
    rejections: record.rejections.map((rejection) => ({ ...rejection, at: isoTime(rejection.at) })),
    generation: record.generation,
    observedGeneration: record.observedGeneration,
  };
}

/** Health in short: whether the last believed look is fresh, and what is wrong if it is not. */
export interface Health {
  readonly ok: boolean;
  readonly lastLookAgeSeconds?: number;
  readonly trouble?: { readonly at: string; readonly kind: string; readonly message: string };
  readonly restingUntil?: string;
  readonly clusterState?: string;
}

export async function checkHealth(app: App, cluster: ClusterName): Promise<Health> {
  const [{ record }, policy] = await Promise.all([loadCurrent(app, cluster), app.ports.policyOf(cluster)]);
  return describeHealth(record, undefined, policy, app.ports.clock.now());
}

function describeHealth(
  record: ClusterRecord,
  bodies: Bodies | undefined,
  policy: Policy,
  now: Instant,
): Health {
  const age = record.lastGoodLookAt === undefined ? undefined : secondsBetween(record.lastGoodLookAt, now);
  const { trouble, outage } = record;
  const state =
    bodies?.seen === undefined
      ? undefined
      : `${bodies.seen.state ?? "never started"} (target ${bodies.seen.targetState ?? "none"})`;
  return {
    ok:
      age !== undefined &&
      age <= STALE_LOOK_INTERVALS * policy.snapshotIntervalSeconds &&
      trouble === undefined,
    ...(age === undefined ? {} : { lastLookAgeSeconds: age }),
    ...(trouble === undefined
      ? {}
      : { trouble: { at: isoTime(trouble.at), kind: trouble.kind, message: trouble.message } }),
    ...(outage === undefined || outage.until <= now ? {} : { restingUntil: isoTime(outage.until) }),
    ...(state === undefined ? {} : { clusterState: state }),
  };
}

/** One request set as a sender sees it. */
export async function describeRequestSet(
  app: App,
  cluster: ClusterName,
  set: SetName,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { record, bodies } = await loadWhole(app, cluster);
  const entry = record.sets.get(set);
  if (entry === undefined) return undefined;
  const outcomes = (bodies.plan?.demands ?? []).filter((outcome) => outcome.set === set);
  return {
    ...describeSet(set, entry, bodies, app.ports.clock.now()),
    observed: record.observedGeneration === record.generation,
    outcomes: outcomes.map((outcome) => ({ ...outcome, reasons: outcome.reasons.map(renderReason) })),
  };
}

function describeSet(
  name: SetName,
  entry: SetEntry,
  bodies: Bodies,
  now: Instant,
): Readonly<Record<string, unknown>> {
  const body = bodies.demands.get(entry.digest);
  const live = entry.live && entry.expiresAt > now;
  return {
    requestSet: name,
    state: !live ? "lapsed" : (body?.demands.length ?? 0) === 0 ? "empty" : "live",
    revision: entry.revision.value,
    expirationInterval: entry.intervalSeconds,
    acceptedAt: isoTime(entry.acceptedAt),
    expiresAt: isoTime(entry.expiresAt),
    demands: body?.demands.length ?? 0,
    reportsHosts: entry.report !== undefined,
    rejectedJobs: body?.rejectedJobs ?? [],
  };
}

function describePlan(bodies: Bodies): Readonly<Record<string, unknown>> | undefined {
  const { plan } = bodies;
  if (plan === undefined) return undefined;
  const short = plan.demands.filter((outcome) => outcome.placed < outcome.asked);
  return {
    number: plan.number,
    at: isoTime(plan.at),
    creates: plan.creates.map((effect) => ({ bucket: bucketText(effect.bucket), count: effect.count })),
    terminates: plan.terminates,
    demands: plan.demands.length,
    unmet: short.slice(0, SHOWN).map((outcome) => ({
      requestSet: outcome.set,
      id: outcome.id,
      kind: outcome.kind,
      asked: outcome.asked,
      placed: outcome.placed,
      unit: outcome.unit,
      reasons: outcome.reasons.map(renderReason),
    })),
    unmetCount: short.length,
  };
}

function describeNodes(bodies: Bodies): Readonly<Record<string, unknown>> {
  const nodes = (bodies.seen?.nodes ?? []).filter((node) => bodies.ledger.has(node.nodeId));
  const byPhase: Record<string, number> = {};
  for (const node of nodes) byPhase[node.phase] = (byPhase[node.phase] ?? 0) + 1;
  return {
    count: nodes.length,
    byPhase,
    list: nodes.slice(0, SHOWN).map((node) => {
      const verdict = bodies.plan?.nodes.get(node.nodeId);
      return {
        name: node.name,
        nodeId: node.nodeId,
        array: node.array,
        machineType: node.machineType,
        placementGroup: node.placementGroup,
        status: node.status,
        statusMessage: node.statusMessage,
        hostname: node.hostname,
        instanceId: node.instanceId,
        ...describeKnown(bodies.ledger.get(node.nodeId)),
        why: verdict === undefined ? "not judged yet" : renderVerdict(verdict),
      };
    }),
  };
}

function describeKnown(known: LedgerNode | undefined): Readonly<Record<string, unknown>> {
  if (known === undefined) return {};
  return {
    firstSeenAt: isoTime(known.firstSeenAt),
    firstReadyAt: known.firstReadyAt === undefined ? undefined : isoTime(known.firstReadyAt),
    busyness: known.busyness.state,
    draining: known.draining === undefined ? undefined : known.draining.by,
  };
}
