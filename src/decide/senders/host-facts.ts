import type { NodeId, SetName } from "../../domain/ids.ts";
import type { Instant } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import type { SenderRules } from "../../domain/sender-rules.ts";
import { NO_SENDER_RULES } from "../../domain/sender-rules.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { SetEntry } from "../../domain/request-sets.ts";
import { reportsOf } from "../../domain/request-sets.ts";
import { entryOfNode, hostKey } from "../../domain/hosts.ts";
import type { SchedulerNode } from "../../domain/demand.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { ClaimedHost, ClaimsJudged, EndedClaims } from "./foreign-claims.ts";
import { judgeClaims } from "./foreign-claims.ts";
import { mayReportHosts } from "./sender-rule.ts";

/** What schedulers report about one host. */
export interface HostFact extends ClaimedHost {
  /** When the newest report that names the host was sent. Absent: only `placed` names it. */
  readonly reportedAt?: Instant;
  /** If several sets report it, the time of the oldest of these reports: all of them must call it idle. Absent: only one set reports it. */
  readonly idleAt?: Instant;
  /**
   * `open`: it still takes jobs, so only its own callback, which closes it first, may stop it (cyclecloud-wire.md D.2). `closed`: all sets that
   * report it say that no job starts there until the scheduler opens it. Absent: neither.
   */
  readonly state?: "open" | "closed";
  /** Why a scheduler keeps the node: it is not stopped meanwhile. Absent: none does. */
  readonly keep?: string;
  /** A report has its amounts, or what is left of them. */
  readonly hasAmounts?: true;
}

/** When a host without a job was last known to be idle. Undefined if no report says so. */
export function idleProofAt({ idleAt, reportedAt }: HostFact): Instant | undefined {
  return idleAt ?? reportedAt;
}

/**
 * What live sets report about hosts, by host. A report is in force while it is younger than two intervals of its set and its message is
 * live (architecture.md, Busyness). A report that came without demand replaces the one that came with the demand of its set. A job counts
 * from each live set, until it ends as a foreign claim. A host is idle or closed only if all sets that report it say so (docs/decisions.md,
 * "A host is idle if every set that reports it says so"). Sets that may report no hosts by `senders` count for jobs only.
 */
export function hostFacts(
  record: ClusterRecord,
  bodies: Bodies,
  now: Instant,
  senders: SenderRules = NO_SENDER_RULES,
): HostFacts {
  return factsAndClaims(record, bodies, now, senders).facts;
}

/** The same, with the foreign claims that have ended. */
export function factsAndClaims(
  record: ClusterRecord,
  bodies: Bodies,
  now: Instant,
  senders: SenderRules = NO_SENDER_RULES,
): ClaimsJudged<HostFact> {
  const facts = gatherFacts(record, bodies, now, senders);
  return senders.length === 0
    ? { facts, ended: NONE_ENDED }
    : judgeClaims(facts, bodies.ledger, senders, now);
}

const NONE_ENDED: EndedClaims = new Map();

/** Facts by {@link hostKey}. */
type HostFacts = ReadonlyMap<string, HostFact>;
/** The facts about the hosts of nodes. */
export type NodeFacts = ReadonlyMap<NodeId, HostFact>;

/** The facts about the hosts of these nodes. */
export function factsOfNodes(
  facts: HostFacts,
  nodes: readonly { readonly nodeId: NodeId; readonly hostname?: string; readonly name: string }[],
): NodeFacts {
  const found = new Map<NodeId, HostFact>();
  nodes.forEach((node) => {
    const fact = entryOfNode(facts, node);
    if (fact !== undefined) found.set(node.nodeId, fact);
  });
  return found;
}

/** Shared by hosts without jobs. Never changed. */
const NO_JOBS: string[] = [];

function gatherFacts(
  record: ClusterRecord,
  bodies: Pick<Bodies, "demands" | "reports">,
  now: Instant,
  senders: SenderRules,
): HostFacts {
  const facts = new Map<string, GrowingFact>();
  const inForce = ({ live, expiresAt }: SetEntry): boolean => live && expiresAt > now;
  for (const [set, entry] of reportsOf(record)) {
    if (!inForce(entry)) continue;
    const counts = mayReportHosts(senders, set);
    // All hosts that only this set reports share one list.
    const alone: readonly SetName[] = [set];
    freshReport(entry, bodies, now).forEach((host) => {
      if (!counts && host.jobs.length === 0) return;
      const fact = factOf(facts, host.hostname);
      if (host.jobs.length > 0) fact.jobs = fact.jobs.concat(host.jobs);
      if (!counts) return;
      fact.by = fact.by === undefined ? alone : [...fact.by, set];
      addReport(fact, host, entry.sentAt);
    });
  }
  const hasRules = senders.length > 0;
  for (const [set, entry] of record.sets) {
    if (!inForce(entry)) continue;
    for (const demand of bodies.demands.get(entry.digest)?.demands ?? []) {
      // Of 100,000 jobs that wait, none is placed.
      if (demand.kind !== "job" || demand.placed.length === 0) continue;
      demand.placed.forEach((placed) => {
        const fact = factOf(facts, placed.hostname);
        // A list that is created with one job takes less memory than one that grows, and most hosts have few jobs.
        if (fact.jobs.length === 0) fact.jobs = [demand.name];
        else fact.jobs.push(demand.name);
        if (hasRules) (fact.claimedBy ??= []).push(set);
      });
    }
  }
  return facts;
}

type GrowingFact = { -readonly [K in keyof HostFact]: HostFact[K] } & {
  jobs: string[];
  claimedBy?: SetName[];
};

function factOf(facts: Map<string, GrowingFact>, hostname: string): GrowingFact {
  const key = hostKey(hostname);
  const known = facts.get(key);
  if (known !== undefined) return known;
  const fact: GrowingFact = { jobs: NO_JOBS };
  facts.set(key, fact);
  return fact;
}

function addReport(fact: GrowingFact, host: SchedulerNode, sentAt: Instant): void {
  if (host.resources !== undefined || host.available !== undefined) fact.hasAmounts = true;
  if (host.keep !== undefined) fact.keep ??= host.keep;
  const isFirst = fact.reportedAt === undefined;
  const state = host.state === "open" || host.state === "closed" ? host.state : undefined;
  if (state === "open" || (isFirst && state === "closed")) fact.state = state;
  else if (fact.state === "closed" && state === undefined) delete fact.state;
  if (fact.reportedAt === undefined) {
    fact.reportedAt = sentAt;
    return;
  }
  const oldest = fact.idleAt ?? fact.reportedAt;
  fact.idleAt = sentAt < oldest ? sentAt : oldest;
  if (fact.reportedAt < sentAt) fact.reportedAt = sentAt;
}

/** The hosts of a set's report while it is in force. */
export function freshReport(
  entry: SetEntry,
  bodies: Pick<Bodies, "reports">,
  now: Instant,
): readonly SchedulerNode[] {
  if (entry.report === undefined || secondsBetween(entry.sentAt, now) >= 2 * entry.intervalSeconds) return [];
  return bodies.reports.get(entry.report) ?? [];
}
