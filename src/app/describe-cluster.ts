import { renderBinding } from "../domain/binding.ts";
import { reasonsInOrder } from "../domain/binding-reason.ts";
import type { DemandOutcome, NodeVerdict, Proposal } from "../domain/plan.ts";
import { modeShown, renderVerdict, whyReleased } from "../domain/plan.ts";
import { renderReason } from "../domain/reason.ts";
import { bucketText, groupText } from "../domain/bucket.ts";
import { stillInFlight } from "../domain/in-flight.ts";
import type { Bodies } from "../domain/bodies.ts";
import type { Backoff } from "../domain/backoff.ts";
import type { InFlight } from "../domain/in-flight.ts";
import type { CreateSet, Effect } from "../domain/intent.ts";
import type { LedgerNode } from "../domain/ledger.ts";
import type { ClusterRecord } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import { instant, isoTime, plusSeconds } from "../domain/units.ts";
import type { Node } from "../domain/cluster.ts";
import type { ClusterName, NodeId, SetName } from "../domain/ids.ts";
import { isOurs, ownershipText } from "../domain/exclusive.ts";
import type { Policy } from "../domain/policy.ts";
import { holds, recallSets } from "../decide/record/finished-sets.ts";
import { describeGroups } from "./describe-groups.ts";
import { describeHealth } from "./describe-health.ts";
import { loadWhole } from "./commit.ts";
import { metadataOf } from "./explain-cluster.ts";
import { describeBuckets } from "./describe-buckets.ts";
import { arrayShown, describeNodearrays } from "./describe-nodearrays.ts";
import { describeOutcomes, usersOf } from "./describe-outcomes.ts";
import { describeSchedulerHosts } from "./describe-scheduler-hosts.ts";
import { countSets, describeSet, describeSets } from "./describe-sets.ts";
import { describeTotals } from "./describe-totals.ts";
import { describeTroubles } from "./describe-troubles.ts";
import { describeWaiting } from "./describe-waiting.ts";
import { expectReady } from "./expect-ready.ts";
import { unhealthyNow } from "../domain/questions.ts";
import type { PageStart } from "./pages.ts";
import { Pages } from "./pages.ts";
import { phaseShown } from "./phase-shown.ts";
import type { StopKeys } from "./ports/site.ts";
import { firstProblems } from "./rejected-shown.ts";
import { describeStopKeys } from "./stop-key-use.ts";
import type { App } from "./app.ts";
import type { Current } from "./current.ts";

/**
 * All that an operator needs to know about one cluster, as JSON: demand, plan with reasons, nodes with the reasons why they stay, health.
 * `senderTime` converts a moment of ours to the senders' clocks. `start`: where the lists of this page begin. Undefined for the first page.
 */
export async function describeCluster(
  app: App,
  cluster: ClusterName,
  senderTime: (at: Instant) => Instant = (at) => at,
  start?: PageStart,
): Promise<Readonly<Record<string, unknown>>> {
  const [{ record, bodies }, policy] = await Promise.all([
    loadWhole(app, cluster),
    app.ports.policyOf(cluster),
  ]);
  const now = app.ports.clock.now();
  const stopKeys = app.ports.sites.get(cluster)?.stopKeys;
  return describeState(record, bodies, policy, now, senderTime(now), stopKeys, start);
}

/** The same for a record at hand. */
export function describeState(
  record: ClusterRecord,
  bodies: Bodies,
  policy: Policy,
  now: Instant,
  senderNow: Instant = now,
  stopKeys?: StopKeys,
  start?: PageStart,
): Readonly<Record<string, unknown>> {
  const health = describeHealth(record, bodies, policy, now, stopKeys);
  const pages = new Pages(start);
  // Lists that are usually short come first, so that they are complete on the first page.
  const { notes } = health;
  const troubles = describeTroubles(record, bodies, notes, now, senderNow, stopKeys, policy);
  const described = {
    cluster: record.cluster,
    now: isoTime(now),
    health,
    waiting: describeWaiting(bodies.plan),
    troubles: pages.cut("troubles", troubles, same, 0.1),
    choice: describeChoice(policy),
    stopKeys: describeStopKeys(record, stopKeys),
    ...describeUnderWay(record, bodies, now, pages),
    totals: describeTotals(record.totals),
    generation: record.generation,
    observedGeneration: record.observedGeneration,
    ...nextObservationOf(record),
    nodearrays: pages.cut("nodearrays", describeNodearrays(record, bodies, policy, now), same, 0.2),
    buckets: pages.cut("buckets", describeBuckets(record, bodies, policy, now), same, 0.3),
    groups: pages.cut("groups", describeGroups(bodies, policy), same, 0.2),
    demandCounts: countSets(record, bodies, now),
    demand: describeSets(record, bodies, now, pages),
    plan: describePlan(bodies, pages),
    nodes: describeNodes(bodies, policy, now, pages),
    schedulerHosts: describeSchedulerHosts(record, bodies, policy, now, pages),
    outcomes: describeOutcomes(bodies, usersOf(record, bodies), pages),
  };
  return { ...described, ...pages.end() };
}

/** When an observation is due, if not within the next minute. */
function nextObservationOf({ restsUntil, wakeAt }: ClusterRecord): { readonly nextLookAt?: string } {
  const at = wakeAt ?? restsUntil;
  return at === undefined ? {} : { nextLookAt: isoTime(at) };
}

const same = <T>(item: T): T => item;

/** Requests that have not ended, and recent refusals. */
function describeUnderWay(
  record: ClusterRecord,
  bodies: Bodies,
  now: Instant,
  pages: Pages,
): Readonly<Record<string, unknown>> {
  const inFlight = record.inFlight.filter((entry) => stillInFlight(entry) > 0);
  const intents = record.intents.flatMap(({ effect, ...intent }) =>
    describeEffect(effect, bodies).map((described) => ({ ...intent, effect: effect.kind, described })),
  );
  const backoffs = record.backoffs.filter((entry) => entry.until > now);
  return {
    inFlight: pages.cut("inFlight", inFlight, describeInFlight, 0.1),
    intents: pages.cut(
      "intents",
      intents,
      ({ id, effect, described, committedAt, sent }) => ({
        id,
        effect,
        ...described,
        committedAt: isoTime(committedAt),
        sent,
      }),
      0.1,
    ),
    backoffs: pages.cut("backoffs", backoffs, describeBackoff, 0.1),
    alone: pages.cut(
      "alone",
      record.alone ?? [],
      ({ array, machineType, dynamic }) => ({
        bucket: bucketText({ array, machineType }),
        dynamicArray: dynamic,
      }),
      0.1,
    ),
    rejections: pages.cut(
      "rejections",
      record.rejections,
      ({ at, problems, ...rejection }) => ({
        ...rejection,
        at: isoTime(at),
        problems: firstProblems(problems),
      }),
      0.1,
    ),
  };
}

function describeInFlight(entry: InFlight): Readonly<Record<string, unknown>> {
  return {
    requestId: entry.requestId,
    bucket: bucketText(entry.bucket),
    countsFor: arrayShown(entry.purpose, entry.bucket.array),
    added: entry.added,
    stillToShow: stillInFlight(entry),
    since: isoTime(entry.since),
  };
}

function describeBackoff(entry: Backoff): Readonly<Record<string, unknown>> {
  return {
    bucket: bucketText(entry.bucket),
    dynamicArray: entry.dynamic,
    until: isoTime(entry.until),
    cause: entry.cause,
    message: entry.message,
  };
}

/** One entry for each set of a create, otherwise one. */
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

/** The record including the set, even if it is over and has left the record. */
async function recall({ ports }: App, { record, stored }: Current, set: SetName): Promise<ClusterRecord> {
  if (stored === undefined || holds(record, set)) return record;
  return recallSets(record, await ports.store.finished(stored, [set]), [set]);
}

/** One request set for its sender. */
export async function describeRequestSet(
  app: App,
  cluster: ClusterName,
  set: SetName,
  start?: PageStart,
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
  // It is unknown when nodes come that are not requested yet.
  const comes = withheld === undefined || withheld.creates.length + withheld.starts.length === 0;
  const isWatched = bodies.plan?.mode === "observe";
  const expected = waits && comes && !isWatched ? readyFor(set, bodies, now) : undefined;
  const pages = new Pages(start);
  const whole = {
    ...described,
    ...(expected === undefined ? {} : { expectedReadyAt: isoTime(expected) }),
    ...(withheld === undefined ? {} : { withheld: describeProposal(withheld, bodies, "withheld", pages) }),
    observed: record.observedGeneration === record.generation,
    outcomes: pages.cut("outcomes", outcomes, (outcome) => ({
      ...outcome,
      ...describeWhy(outcome),
      metadata: notedOf(outcome.id),
    })),
  };
  return { ...whole, ...pages.end() };
}

/** When the last node that a set waits for can be expected. A node that no observation has shown yet takes as long as others did. */
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

/** What is lacking and why, as text. The most important reason comes first. */
function describeWhy(outcome: DemandOutcome): Readonly<Record<string, unknown>> {
  const { moreReasons, binding } = outcome;
  return {
    reasons: reasonsInOrder(outcome).map(renderReason),
    ...(moreReasons === undefined ? {} : { moreReasons }),
    ...(binding === undefined ? {} : { binding: renderBinding(binding) }),
  };
}

function describePlan(bodies: Bodies, pages: Pages): Readonly<Record<string, unknown>> | undefined {
  const { plan } = bodies;
  if (plan === undefined) return undefined;
  const short = plan.demands.filter((outcome) => outcome.placed < outcome.asked);
  const proposed = {
    creates: plan.creates,
    starts: plan.starts ?? [],
    terminates: plan.terminates,
  };
  return {
    number: plan.number,
    at: isoTime(plan.at),
    ...modeShown(plan),
    ...describeProposal(proposed, bodies, "plan", pages),
    ...(plan.withheld === undefined
      ? {}
      : { withheld: describeProposal(plan.withheld, bodies, "plan.withheld", pages) }),
    ...(plan.virtual === undefined
      ? {}
      : { virtual: describeProposal(plan.virtual, bodies, "plan.virtual", pages) }),
    demands: plan.demands.length,
    waitingForNodes: plan.demands.filter((outcome) => outcome.pending > 0).length,
    unmet: pages.cut("plan.unmet", short, describeUnmet, 0.5),
    unmetCount: short.length,
  };
}

function describeUnmet(outcome: DemandOutcome): Readonly<Record<string, unknown>> {
  return {
    requestSet: outcome.set,
    id: outcome.id,
    kind: outcome.kind,
    asked: outcome.asked,
    placed: outcome.placed,
    unit: outcome.unit,
    ...describeWhy(outcome),
  };
}

function describeProposal(
  { creates, starts, terminates }: Proposal,
  bodies: Bodies,
  path: string,
  pages: Pages,
): Readonly<Record<string, unknown>> {
  const nameOf = (id: NodeId): string =>
    bodies.ledger.get(id)?.name ??
    bodies.virtual?.nodes.find(({ node }) => node.nodeId === id)?.node.name ??
    id;
  return {
    creates: pages.cut(`${path}.creates`, creates, describeCreate, 0.1),
    starts: pages.cut(`${path}.starts`, starts, nameOf, 0.1),
    terminates: pages.cut(`${path}.terminates`, terminates, nameOf, 0.1),
  };
}

function describeNodes(
  bodies: Bodies,
  policy: Policy,
  now: Instant,
  pages: Pages,
): Readonly<Record<string, unknown>> {
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
    list: pages.cut(
      "nodes.list",
      nodes,
      (node) => describeNode(node, bodies, policy, ready.of(node), now),
      0.7,
    ),
  };
}

function describeNode(
  node: Node,
  bodies: Bodies,
  policy: Policy,
  expected: Instant | undefined,
  now: Instant,
): Readonly<Record<string, unknown>> {
  const verdict = verdictOn(bodies, node.nodeId);
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
    ...describeKnown(bodies.ledger.get(node.nodeId), bodies, policy),
    expectedReadyAt: expected === undefined ? undefined : isoTime(expected),
    verdict: verdict?.kind ?? "not-judged",
    unhealthySince: unhealthy === undefined ? undefined : isoTime(unhealthy.since),
    why:
      unhealthy === undefined
        ? why
        : `${why}; it has called itself unhealthy since ${isoTime(unhealthy.since)}`,
  };
}

/** From the last plan and later grants: a node that may stop is no longer needed, whatever that plan said. */
function verdictOn({ plan, ledger }: Bodies, node: NodeId): NodeVerdict | undefined {
  const draining = ledger.get(node)?.draining;
  if (draining !== undefined && (plan === undefined || draining.since > plan.at))
    return { kind: "draining", by: draining.by };
  return plan?.nodes.get(node);
}

function describeKnown(
  known: LedgerNode | undefined,
  { plan }: Bodies,
  policy: Policy,
): Readonly<Record<string, unknown>> {
  if (known === undefined) return {};
  const { array, busyness, draining, firstReadyAt, firstSeenAt, lastNeededAt, leftReadyAt, purpose, start } =
    known;
  const { bound, instanceId, keyId } = known;
  return {
    purpose: purpose.kind === "group" ? groupText(purpose) : purpose.kind,
    countsFor: arrayShown(purpose, array),
    madeBy: isOurs(known, {}) ? "us" : "another tool",
    ownership: ownershipText(known, policy),
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

/** How new nodes are chosen and which limits apply, in the current configuration. The last plan may be older. */
function describeChoice({ preference, among, caps, prices }: Policy): Readonly<Record<string, unknown>> {
  return {
    preference,
    among,
    caps:
      caps === undefined
        ? undefined
        : { requestSets: firstCaps(caps.requestSets), users: firstCaps(caps.users) },
    prices:
      prices === undefined
        ? undefined
        : { currency: prices.currency, locations: [...prices.locations.keys()] },
  };
}

/** Maximum number of caps shown of each kind. `config` shows all of them. */
const SHOWN_CAPS = 200;

const firstCaps = <T>(caps: ReadonlyMap<string, T>): Readonly<Record<string, T>> =>
  Object.fromEntries([...caps].slice(0, SHOWN_CAPS));

/** Names for users. The id if the ledger has no name. */
function namesOf(nodes: readonly NodeId[], bodies: Bodies): readonly string[] {
  return nodes.map((id) => bodies.ledger.get(id)?.name ?? id);
}
