import type { SetName } from "../../domain/ids.ts";
import type { Instant } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import type { SenderRules } from "../../domain/sender-rules.ts";
import { NO_SENDER_RULES } from "../../domain/sender-rules.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Held, SetEntry } from "../../domain/request-sets.ts";
import { entriesOf, reportsOf } from "../../domain/request-sets.ts";
import { hostKey } from "../../domain/hosts.ts";
import type { SchedulerNode } from "../../domain/demand.ts";
import type { Bodies } from "../../domain/bodies.ts";
import { mayReportHosts } from "./sender-rule.ts";

/** What the schedulers say of one host. */
export interface HostFact {
  /** Jobs reported or placed there. */
  readonly jobs: readonly string[];
  /** The sets whose reports name the host and count; absent: none. */
  readonly by?: readonly SetName[];
  /** The newest report that named the host; absent: only placed jobs did. */
  readonly reportedAt?: Instant;
  /** Several sets report it: the oldest of these reports, as each of them has to say that it is idle. Absent: only one does. */
  readonly idleAt?: Instant;
  /**
   * Open: it still takes jobs, so that only its own callback, which closes it first, may stop it (wire D.2). Closed: no job starts there
   * until the scheduler opens it, and every set that reports it says so. Absent: neither.
   */
  readonly state?: "open" | "closed";
  /** A report says what it has, or what is left of that. */
  readonly hasAmounts?: true;
}

/** When a host without a job was last known to be idle; undefined: no report says so. */
export function idleProofAt({ idleAt, reportedAt }: HostFact): Instant | undefined {
  return idleAt ?? reportedAt;
}

/**
 * What live sets say of hosts: jobs by report or by `placed`, or a report without a job. A report counts while it is younger than two of
 * its set's intervals and what it came with is live (architecture.md, Busyness). One that came without demand counts instead of the
 * one that came with its set's demand. A job counts from every live set; that a host is idle or closed only if every set that reports it
 * says so, and from no set whose rule in `senders` lets it report no hosts.
 */
export function hostFacts(
  record: ClusterRecord,
  { demands, reports }: Bodies,
  now: Instant,
  senders: SenderRules = NO_SENDER_RULES,
): HostFacts {
  const known = gathered.get(record.sets);
  const isSame =
    known?.demands === demands &&
    known.reports === reports &&
    known.senders === senders &&
    known.separateReports === record.separateReports;
  if (isSame && known.from <= now && now < known.until) return known.facts;
  const facts = gatherFacts(record, { demands, reports }, now, senders);
  const { separateReports } = record;
  gathered.set(record.sets, {
    demands,
    reports,
    separateReports,
    senders,
    facts,
    from: now,
    until: nextLapse(record, now),
  });
  return facts;
}

export type HostFacts = ReadonlyMap<string, HostFact>;

interface Gathered extends Pick<Bodies, "demands" | "reports">, Pick<ClusterRecord, "separateReports"> {
  readonly senders: SenderRules;
  readonly facts: HostFacts;
  readonly from: Instant;
  readonly until: number;
}

/** Never added to: most hosts get a list of their own at once. */
const NO_JOBS: string[] = [];

/** The sets of a record are looked at several times before they change: by plans, and by each node that asks. */
const gathered = new WeakMap<ClusterRecord["sets"], Gathered>();

/** When the next live set or report runs out. */
export function nextLapse(record: Held, now: Instant): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { live, expiresAt, sentAt, intervalSeconds } of entriesOf(record)) {
    if (!live) continue;
    for (const at of [expiresAt, plusSeconds(sentAt, 2 * intervalSeconds)])
      if (now < at && at < next) next = at;
  }
  return next;
}

function gatherFacts(
  record: ClusterRecord,
  bodies: Pick<Bodies, "demands" | "reports">,
  now: Instant,
  senders: SenderRules,
): HostFacts {
  const facts = new Map<string, GrowingFact>();
  const factOf = (hostname: string): GrowingFact => {
    const key = hostKey(hostname);
    const known = facts.get(key);
    if (known !== undefined) return known;
    const fact: GrowingFact = { jobs: NO_JOBS };
    facts.set(key, fact);
    return fact;
  };
  const inForce = ({ live, expiresAt }: SetEntry): boolean => live && expiresAt > now;
  for (const [set, entry] of reportsOf(record)) {
    if (!inForce(entry)) continue;
    const counts = mayReportHosts(senders, set);
    // One list for all hosts that this set alone reports.
    const alone: readonly SetName[] = [set];
    freshReport(entry, bodies, now).forEach((host) => {
      if (!counts && host.jobs.length === 0) return;
      const fact = factOf(host.hostname);
      if (host.jobs.length > 0) fact.jobs = fact.jobs.concat(host.jobs);
      if (!counts) return;
      fact.by = fact.by === undefined ? alone : [...fact.by, set];
      addReport(fact, host, entry.sentAt);
    });
  }
  for (const entry of record.sets.values()) {
    if (!inForce(entry)) continue;
    for (const demand of bodies.demands.get(entry.digest)?.demands ?? []) {
      if (demand.kind !== "job") continue;
      demand.placed.forEach((placed) => {
        const fact = factOf(placed.hostname);
        // Most hosts have one job or a few: a list that is made for one is smaller than one that grows to it.
        if (fact.jobs.length === 0) fact.jobs = [demand.name];
        else fact.jobs.push(demand.name);
      });
    }
  }
  return facts;
}

type GrowingFact = { -readonly [K in keyof HostFact]: HostFact[K] } & { jobs: string[] };

function addReport(fact: GrowingFact, host: SchedulerNode, sentAt: Instant): void {
  if (host.resources !== undefined || host.available !== undefined) fact.hasAmounts = true;
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

/** The hosts of a set's report, while it counts. */
export function freshReport(
  entry: SetEntry,
  bodies: Pick<Bodies, "reports">,
  now: Instant,
): readonly SchedulerNode[] {
  if (entry.report === undefined || secondsBetween(entry.sentAt, now) >= 2 * entry.intervalSeconds) return [];
  return bodies.reports.get(entry.report) ?? [];
}
