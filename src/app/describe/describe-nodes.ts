import type { Bodies } from "../../domain/bodies.ts";
import { groupText } from "../../domain/bucket.ts";
import type { Node } from "../../domain/cluster.ts";
import { isOurs, ownershipText } from "../../domain/exclusive.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { DownEnd, NodeVerdict } from "../../domain/node-verdict.ts";
import { renderVerdict } from "../../domain/node-verdict.ts";
import { whyReleased } from "../../domain/plan.ts";
import type { Policy } from "../../domain/policy.ts";
import { unhealthyNow } from "../../domain/questions.ts";
import type { KeptOff, LedgerNode } from "../../domain/ledger.ts";
import type { Bytes, Instant } from "../../domain/units.ts";
import { instant, isoTime } from "../../domain/units.ts";
import type {
  NodeShown,
  NodesShown,
  SchedulerHostShown,
  SchedulerHostsShown,
} from "../../wire/api/cluster-answer.ts";
import { arrayShown } from "../../domain/bucket.ts";
import { phaseShown } from "./describe-nodearrays.ts";
import { expectReady } from "./expect-ready.ts";
import type { Pages } from "./pages.ts";
import { quoteText } from "../../domain/secrets.ts";
import { renderHostStanding } from "../../decide/explain/explain-host.ts";
import type { JudgedHost } from "../../decide/world/scheduler-only.ts";
import { costOf } from "../../decide/need/unneeded.ts";
import { storedHosts } from "../../decide/need/stored-world.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { writeResources } from "../../domain/resources.ts";
import { firstBytes } from "./pages.ts";

/** The nodes of the last observation that the ledger knows: their state, and why each stays or is stopped. */
export function describeNodes(bodies: Bodies, policy: Policy, now: Instant, pages: Pages): NodesShown {
  const nodes = (bodies.seen?.nodes ?? []).flatMap((node) => {
    const known = bodies.ledger.get(node.nodeId);
    return known === undefined ? [] : [{ node, known }];
  });
  const byPhase: Record<string, number> = {};
  const byVerdict: Record<string, number> = {};
  const ready = expectReady(bodies);
  for (const { node } of nodes) {
    const phase = phaseShown(node, bodies.plan);
    const verdict = verdictOn(bodies, node.nodeId)?.kind ?? "not-judged";
    byPhase[phase] = (byPhase[phase] ?? 0) + 1;
    byVerdict[verdict] = (byVerdict[verdict] ?? 0) + 1;
  }
  const describe = ({ node, known }: (typeof nodes)[number]) =>
    describeNode(node, known, bodies, policy, ready.of(node), now);
  const deallocated = describeDeallocated(
    nodes.flatMap(({ known }) => known.kept ?? []),
    policy,
  );
  const kept = nodes.flatMap(({ node }) => (isKept(verdictOn(bodies, node.nodeId)) ? [node] : []));
  return {
    count: nodes.length,
    byPhase,
    byVerdict,
    deallocated,
    kept: describeKept(kept, bodies, policy),
    list: pages.cut("nodes.list", nodes, describe, 0.7),
  };
}

/** Since when there are deallocated nodes, and what they cost. Undefined if there are none. */
function describeDeallocated(kept: readonly KeptOff[], { prices }: Policy): NodesShown["deallocated"] {
  if (kept.length === 0) return undefined;
  const { deallocated: price, currency } = prices ?? {};
  return {
    count: kept.length,
    since: isoTime(
      kept.reduce((first, { since }) => (since < first ? since : first), kept[0]?.since ?? instant(0)),
    ),
    pricePerHour: price === undefined ? undefined : Number((price * kept.length).toFixed(4)),
    currency: price === undefined ? undefined : currency,
  };
}

const isKept = (verdict: NodeVerdict | undefined): boolean =>
  verdict?.kind === "kept" || verdict?.keep !== undefined;

/** How many nodes schedulers keep, and what they cost. Undefined if there are none. */
function describeKept(kept: readonly Node[], { seen }: Bodies, policy: Policy): NodesShown["kept"] {
  if (kept.length === 0) return undefined;
  const cost = seen === undefined ? undefined : costOf(kept, seen, policy);
  return {
    count: kept.length,
    pricePerHour: cost === undefined ? undefined : Number(cost.perHour.toFixed(4)),
    currency: cost?.currency,
  };
}

function describeNode(
  node: Node,
  known: LedgerNode,
  bodies: Bodies,
  policy: Policy,
  expected: Instant | undefined,
  now: Instant,
): NodeShown {
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
    statusMessage: node.statusMessage === undefined ? undefined : quoteText(node.statusMessage),
    hostname: node.hostname,
    instanceId: node.instanceId,
    ...describeKnown(known, bodies, policy),
    deallocatedSince: isoTime(known.kept?.since),
    downSince: isoTime(known.down?.how === "off" ? known.down.since : undefined),
    endsAt: isoTime(endOf(verdict)?.at),
    expectedReadyAt: isoTime(verdict?.kind === "down" ? undefined : expected),
    verdict: verdict?.kind ?? "not-judged",
    unhealthySince: isoTime(unhealthy?.since),
    why:
      unhealthy === undefined
        ? why
        : `${why}; it has called itself unhealthy since ${isoTime(unhealthy.since)}`,
  };
}

/** From the last plan and later grants: a node that may stop is no longer needed, whatever that plan said. */
export function verdictOn({ plan, ledger }: Bodies, node: NodeId): NodeVerdict | undefined {
  const draining = ledger.get(node)?.draining;
  if (draining !== undefined && (plan === undefined || draining.since > plan.at))
    return { kind: "draining", by: draining.by };
  return plan?.nodes.get(node);
}

/** When a node that is down or deallocated ends. */
function endOf(verdict: NodeVerdict | undefined): DownEnd | undefined {
  if (verdict?.kind === "deallocated") return verdict.kept;
  return verdict?.kind === "down" || verdict?.kind === "failed" ? verdict.end : undefined;
}

/** What the ledger knows of a node. */
function describeKnown(known: LedgerNode, { plan }: Bodies, policy: Policy) {
  const { array, bound, busyness, draining, instanceId, keyId, purpose, start } = known;
  return {
    purpose: purpose.kind === "group" ? groupText(purpose) : purpose.kind,
    countsFor: arrayShown(purpose, array),
    madeBy: isOurs(known, {}) ? "us" : "another tool",
    ownership: ownershipText(known, policy),
    released: plan === undefined ? undefined : whyReleased(plan, purpose),
    firstSeenAt: isoTime(known.firstSeenAt),
    firstReadyAt: isoTime(known.firstReadyAt),
    leftReadyAt: isoTime(known.leftReadyAt),
    lastNeededAt: isoTime(known.lastNeededAt),
    busyness: busyness.state,
    busynessSince: isoTime(busyness.since),
    start: start?.state,
    startSince: isoTime(start?.since),
    stopKey: keyId,
    ownToken: bound !== undefined && bound.instanceId === instanceId ? true : undefined,
    draining: draining?.by,
    drainingSince: isoTime(draining?.since),
  } satisfies Partial<NodeShown>;
}

/** Maximum number of jobs shown of one host. */
const SHOWN_JOBS = 10;
/** Resources and sets of one host are shown up to this many bytes. */
const SHOWN_BYTES: Bytes = 4000;

/** Hosts that are reported with resources and are no nodes of the cluster: whether each is capacity, or why not. */
export function describeSchedulerHosts(
  record: ClusterRecord,
  bodies: Bodies,
  policy: Policy,
  now: Instant,
  pages: Pages,
): SchedulerHostsShown {
  const { others } = storedHosts(record, bodies, policy, now);
  return {
    count: others.length,
    capacity: others.filter(({ standing }) => standing === "capacity").length,
    list: pages.cut("schedulerHosts.list", others, describeHost, 0.5),
  };
}

function describeHost({ host, standing }: JudgedHost): SchedulerHostShown {
  const jobs = [...new Set(host.by.flatMap((one) => one.jobs))];
  const sets = [...new Set(host.by.map(({ set }) => set))];
  return {
    hostname: host.hostname,
    requestSets: firstBytes(sets, SHOWN_BYTES),
    standing,
    resources: firstMembers(writeResources(host.resources)),
    available: firstMembers(writeResources(host.available)),
    jobs: jobs.slice(0, SHOWN_JOBS),
    moreJobs: Math.max(0, jobs.length - SHOWN_JOBS),
    why: renderHostStanding(standing),
  };
}

function firstMembers<T>(all: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(firstBytes(Object.entries(all), SHOWN_BYTES));
}
