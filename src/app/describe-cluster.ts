import { renderBinding } from "../domain/binding.ts";
import { reasonsInOrder } from "../domain/binding-reason.ts";
import type { DemandOutcome, NodeVerdict, Proposal } from "../domain/plan.ts";
import { renderVerdict, whyReleased } from "../domain/plan.ts";
import { renderReason } from "../domain/reason.ts";
import { bucketText, groupText } from "../domain/bucket.ts";
import { isMadeByUs, stillInFlight } from "../domain/record.ts";
import type { Bodies } from "../domain/bodies.ts";
import type { ClusterRecord, CreateSet, Effect, LedgerNode } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import { instant, isoTime, plusSeconds } from "../domain/units.ts";
import type { ClusterName, NodeId, SetName } from "../domain/ids.ts";
import type { Policy } from "../domain/policy.ts";
import { holds, recallSets } from "../decide/finished-sets.ts";
import type { App, Current } from "./commit.ts";
import { describeGroups } from "./describe-groups.ts";
import { describeHealth } from "./describe-health.ts";
import { loadWhole } from "./commit.ts";
import { metadataOf } from "./explain-cluster.ts";
import { describeBuckets } from "./describe-buckets.ts";
import { arrayShown, describeNodearrays } from "./describe-nodearrays.ts";
import { describeOutcomes, usersOf } from "./describe-outcomes.ts";
import { describeSchedulerHosts } from "./describe-scheduler-hosts.ts";
import { countSets, describeSet, describeSets } from "./describe-sets.ts";
import { describeTroubles } from "./describe-troubles.ts";
import { describeWaiting } from "./describe-waiting.ts";
import { expectReady } from "./expect-ready.ts";
import { unhealthyNow } from "./node-troubles.ts";
import { phaseShown } from "./phase-shown.ts";
import type { StopKeys } from "./ports.ts";
import { describeStopKeys } from "./stop-key-use.ts";

/** The state page shows so many nodes, sets and outcomes; counts are always of all. */
const SHOWN = 2000;

/**
 * Everything an operator needs to know of one cluster, as JSON: demand, plan with reasons, nodes with why they stay, health. `senderTime`:
 * what the senders' clocks show at a moment of ours.
 */
export async function describeCluster(
  app: App,
  cluster: ClusterName,
  senderTime: (at: Instant) => Instant = (at) => at,
): Promise<Readonly<Record<string, unknown>>> {
  const [{ record, bodies }, policy] = await Promise.all([
    loadWhole(app, cluster),
    app.ports.policyOf(cluster),
  ]);
  const now = app.ports.clock.now();
  const stopKeys = app.ports.sites.get(cluster)?.stopKeys;
  return describeState(record, bodies, policy, now, senderTime(now), stopKeys);
}

/** The same of a record at hand. */
export function describeState(
  record: ClusterRecord,
  bodies: Bodies,
  policy: Policy,
  now: Instant,
  senderNow: Instant = now,
  stopKeys?: StopKeys,
): Readonly<Record<string, unknown>> {
  const health = describeHealth(record, bodies, policy, now, stopKeys);
  return {
    cluster: record.cluster,
    now: isoTime(now),
    health,
    waiting: describeWaiting(bodies.plan),
    troubles: describeTroubles(record, bodies, health.notes, now, senderNow, stopKeys, policy.insecure),
    choice: describeChoice(policy),
    demandCounts: countSets(record, bodies, now),
    demand: describeSets(record, bodies, SHOWN, now),
    plan: describePlan(bodies),
    nodes: describeNodes(bodies, now),
    stopKeys: describeStopKeys(record, stopKeys),
    schedulerHosts: describeSchedulerHosts(record, bodies, policy, now, SHOWN),
    nodearrays: describeNodearrays(record, bodies, policy, now),
    buckets: describeBuckets(record, bodies, policy, now),
    outcomes: describeOutcomes(bodies, SHOWN, usersOf(record, bodies)),
    totals: record.totals,
    groups: describeGroups(bodies, policy),
    inFlight: record.inFlight
      .filter((entry) => stillInFlight(entry) > 0)
      .map((entry) => ({
        requestId: entry.requestId,
        bucket: bucketText(entry.bucket),
        countsFor: arrayShown(entry.purpose, entry.bucket.array),
        added: entry.added,
        stillToShow: stillInFlight(entry),
        since: isoTime(entry.since),
      })),
    intents: record.intents.flatMap(({ id, effect, committedAt, sent }) =>
      describeEffect(effect, bodies).map((described) => ({
        id,
        effect: effect.kind,
        ...described,
        committedAt: isoTime(committedAt),
        sent,
      })),
    ),
    backoffs: record.backoffs
      .filter((entry) => entry.until > now)
      .map((entry) => ({
        bucket: bucketText(entry.bucket),
        dynamicArray: entry.dynamic,
        until: isoTime(entry.until),
        cause: entry.cause,
        message: entry.message,
      })),
    alone: (record.alone ?? []).map(({ array, machineType, dynamic }) => ({
      bucket: bucketText({ array, machineType }),
      dynamicArray: dynamic,
    })),
    rejections: record.rejections.map((rejection) => ({ ...rejection, at: isoTime(rejection.at) })),
    generation: record.generation,
    observedGeneration: record.observedGeneration,
    ...(record.wakeAt === undefined ? {} : { nextLookAt: isoTime(record.wakeAt) }),
  };
}

/** One entry for each set of a create, else one. */
function describeEffect(effect: Effect, bodies: Bodies): readonly Readonly<Record<string, unknown>>[] {
  switch (effect.kind) {
    case "create":
      return effect.sets.map(describeCreate);
    case "start":
      return [{ bucket: bucketText(effect.bucket), nodes: namesOf(effect.nodes, bodies) }];
    case "terminate":
      return [{ nodes: namesOf(effect.nodes, bodies) }];
  }
}

function describeCreate({ bucket, count, purpose }: CreateSet): Readonly<Record<string, unknown>> {
  return { bucket: bucketText(bucket), count, countsFor: arrayShown(purpose, bucket.array) };
}

/** The record with the set in, should it be over and have left it. */
async function recall({ ports }: App, { record, stored }: Current, set: SetName): Promise<ClusterRecord> {
  if (stored === undefined || holds(record, set)) return record;
  return recallSets(record, await ports.store.finished(stored, [set]), [set]);
}

/** One request set as a sender sees it. */
export async function describeRequestSet(
  app: App,
  cluster: ClusterName,
  set: SetName,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const current = await loadWhole(app, cluster);
  const { bodies } = current;
  const now = app.ports.clock.now();
  const record = await recall(app, current, set);
  const described = describeSet(record, set, bodies, now);
  if (described === undefined) return undefined;
  const outcomes = (bodies.plan?.demands ?? []).filter((outcome) => outcome.set === set);
  const notedOf = metadataOf(record, bodies, set);
  const waits = outcomes.some(({ pending }) => pending > 0);
  const withheld = waits ? bodies.plan?.withheld : undefined;
  const expected = waits && withheld === undefined ? readyFor(set, bodies, now) : undefined;
  return {
    ...described,
    ...(expected === undefined ? {} : { expectedReadyAt: isoTime(expected) }),
    ...(withheld === undefined ? {} : { withheld: describeProposal(withheld, bodies) }),
    observed: record.observedGeneration === record.generation,
    outcomes: outcomes.map((outcome) => ({
      ...outcome,
      ...describeWhy(outcome),
      metadata: notedOf(outcome.id),
    })),
  };
}

/** When the last node that a set waits for can be expected; one that no look has shown yet takes as long as others did. */
function readyFor(set: SetName, bodies: Bodies, now: Instant): Instant | undefined {
  const ready = expectReady(bodies);
  const waitedFor = (bodies.seen?.nodes ?? [])
    .filter(({ nodeId }) => isNeededBy(verdictOn(bodies, nodeId), set))
    .map((node) => ready.of(node))
    .filter((at) => at !== undefined);
  const last = Math.max(...waitedFor);
  return waitedFor.length === 0 ? plusSeconds(now, ready.usualSeconds) : instant(last);
}

function isNeededBy(verdict: NodeVerdict | undefined, set: SetName): boolean {
  return verdict?.kind === "needed" && verdict.by.some((demand) => demand.startsWith(`${set}/`));
}

/** What is missing and why, in words; what binds comes first. */
function describeWhy(outcome: DemandOutcome): Readonly<Record<string, unknown>> {
  const { moreReasons, binding } = outcome;
  return {
    reasons: reasonsInOrder(outcome).map(renderReason),
    ...(moreReasons === undefined ? {} : { moreReasons }),
    ...(binding === undefined ? {} : { binding: renderBinding(binding) }),
  };
}

function describePlan(bodies: Bodies): Readonly<Record<string, unknown>> | undefined {
  const { plan } = bodies;
  if (plan === undefined) return undefined;
  const short = plan.demands.filter((outcome) => outcome.placed < outcome.asked);
  return {
    number: plan.number,
    at: isoTime(plan.at),
    creates: plan.creates.map(describeCreate),
    starts: namesOf(plan.starts ?? [], bodies),
    terminates: namesOf(plan.terminates, bodies),
    ...(plan.withheld === undefined ? {} : { withheld: describeProposal(plan.withheld, bodies) }),
    demands: plan.demands.length,
    waitingForNodes: plan.demands.filter((outcome) => outcome.pending > 0).length,
    unmet: short.slice(0, SHOWN).map((outcome) => ({
      requestSet: outcome.set,
      id: outcome.id,
      kind: outcome.kind,
      asked: outcome.asked,
      placed: outcome.placed,
      unit: outcome.unit,
      ...describeWhy(outcome),
    })),
    unmetCount: short.length,
  };
}

function describeProposal(
  { creates, starts, terminates }: Proposal,
  bodies: Bodies,
): Readonly<Record<string, unknown>> {
  return {
    creates: creates.map(describeCreate),
    starts: namesOf(starts, bodies),
    terminates: namesOf(terminates, bodies),
  };
}

function describeNodes(bodies: Bodies, now: Instant): Readonly<Record<string, unknown>> {
  const nodes = (bodies.seen?.nodes ?? []).filter((node) => bodies.ledger.has(node.nodeId));
  const byPhase: Record<string, number> = {};
  const byVerdict: Record<string, number> = {};
  const ready = expectReady(bodies);
  for (const node of nodes) {
    const phase = phaseShown(node, bodies.plan);
    const verdict = verdictOn(bodies, node.nodeId)?.kind ?? "not-judged";
    byPhase[phase] = (byPhase[phase] ?? 0) + 1;
    byVerdict[verdict] = (byVerdict[verdict] ?? 0) + 1;
  }
  return {
    count: nodes.length,
    byPhase,
    byVerdict,
    list: nodes.slice(0, SHOWN).map((node) => {
      const verdict = verdictOn(bodies, node.nodeId);
      const expected = ready.of(node);
      const unhealthy = unhealthyNow(bodies.questions?.get(node.nodeId), now);
      const why = verdict === undefined ? "not judged yet" : renderVerdict(verdict);
      return {
        name: node.name,
        nodeId: node.nodeId,
        array: node.array,
        machineType: node.machineType,
        placementGroup: node.placementGroup,
        phase: phaseShown(node, bodies.plan),
        status: node.status,
        statusMessage: node.statusMessage,
        hostname: node.hostname,
        instanceId: node.instanceId,
        ...describeKnown(bodies.ledger.get(node.nodeId), bodies),
        expectedReadyAt: expected === undefined ? undefined : isoTime(expected),
        verdict: verdict?.kind ?? "not-judged",
        unhealthySince: unhealthy === undefined ? undefined : isoTime(unhealthy.since),
        why:
          unhealthy === undefined
            ? why
            : `${why}; it has called itself unhealthy since ${isoTime(unhealthy.since)}`,
      };
    }),
  };
}

/** By the last plan, or by what was granted since: a node that may stop is needed no more, whatever that plan said. */
function verdictOn({ plan, ledger }: Bodies, node: NodeId): NodeVerdict | undefined {
  const draining = ledger.get(node)?.draining;
  if (draining !== undefined && (plan === undefined || draining.since > plan.at))
    return { kind: "draining", by: draining.by };
  return plan?.nodes.get(node);
}

function describeKnown(known: LedgerNode | undefined, { plan }: Bodies): Readonly<Record<string, unknown>> {
  if (known === undefined) return {};
  const { array, busyness, draining, firstReadyAt, firstSeenAt, lastNeededAt, leftReadyAt, purpose, start } =
    known;
  const { bound, instanceId, keyId } = known;
  return {
    purpose: purpose.kind === "group" ? groupText(purpose) : purpose.kind,
    countsFor: arrayShown(purpose, array),
    madeBy: isMadeByUs(known) ? "us" : "another tool",
    released: plan === undefined ? undefined : whyReleased(plan, purpose),
    firstSeenAt: isoTime(firstSeenAt),
    firstReadyAt: firstReadyAt === undefined ? undefined : isoTime(firstReadyAt),
    leftReadyAt: leftReadyAt === undefined ? undefined : isoTime(leftReadyAt),
    lastNeededAt: lastNeededAt === undefined ? undefined : isoTime(lastNeededAt),
    busyness: busyness.state,
    busynessSince: isoTime(busyness.since),
    start: start?.state,
    startSince: start === undefined ? undefined : isoTime(start.since),
    stopKey: keyId,
    ownToken: bound !== undefined && bound.instanceId === instanceId ? true : undefined,
    draining: draining?.by,
    drainingSince: draining === undefined ? undefined : isoTime(draining.since),
  };
}

/** How new nodes are chosen and what bounds whom, as the configuration has it now: the last plan may be older. */
function describeChoice({ preference, among, caps, prices }: Policy): Readonly<Record<string, unknown>> {
  return {
    preference,
    among,
    caps:
      caps === undefined
        ? undefined
        : { requestSets: Object.fromEntries(caps.requestSets), users: Object.fromEntries(caps.users) },
    prices:
      prices === undefined
        ? undefined
        : { currency: prices.currency, locations: [...prices.locations.keys()] },
  };
}

/** Names for people; the id where the ledger knows no name. */
function namesOf(nodes: readonly NodeId[], bodies: Bodies): readonly string[] {
  return nodes.map((id) => bodies.ledger.get(id)?.name ?? id);
}
