import type { Node, Snapshot } from "../../domain/cluster.ts";
import type { SchedulerNode } from "../../domain/demand.ts";
import type { ArrayName, NodeId, SetName } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type {
  Busyness,
  ClusterRecord,
  Held,
  InFlight,
  Ledger,
  LedgerNode,
  SetEntry,
} from "../../domain/record.ts";
import { entriesOf, reportsOf } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import { InTurn } from "../../domain/in-turn.ts";
import { NO_SENDER_RULES, type SenderRules } from "../../domain/sender-rules.ts";
import { nextLeftReady } from "./down.ts";
import { entryOfNode, hostKey } from "../../domain/hosts.ts";
import type { Origin } from "../intents/in-flight.ts";
import { originsOf } from "../intents/in-flight.ts";
import { nextStart } from "../intents/node-starts.ts";
import { mayReportHosts } from "../senders/sender-rule.ts";
import { factOfNode } from "./planned-beside.ts";
import { nextUnclear } from "./unclear.ts";
import type { Look } from "../../domain/observation.ts";

/** A node that has gone is remembered so long, so that one which asks again is told yes. */
const REMEMBER_GONE_SECONDS = 3600;

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

type HostFacts = ReadonlyMap<string, HostFact>;

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

/** Which arrays are ours: autoscaled by their own configuration, and named by ours if it names any. */
export function managedArrays(snapshot: Snapshot, policy: Policy): ReadonlySet<ArrayName> {
  const named = policy.nodearrays === undefined ? undefined : new Set(policy.nodearrays);
  return new Set(
    snapshot.arrays
      .filter((array) => array.autoscaled && (named === undefined || named.has(array.name)))
      .map((array) => array.name),
  );
}

/** Brings the ledger up to date with a believed look; the very same where that changes nothing. */
export function updateLedger(
  ledger: Ledger,
  look: Look,
  inFlight: readonly InFlight[],
  facts: ReadonlyMap<string, HostFact>,
  now: Instant,
): Ledger {
  const arrays = new Set(look.snapshot.arrays.map((array) => array.name));
  const origins = originsOf(look, inFlight);
  const before = new InTurn(ledger);
  const present: LedgerNode[] = [];
  let touched = 0;
  // Here and wherever each node has its turn: a callback, as a loop makes an object for each step until the compiler has seen it often.
  look.snapshot.nodes.forEach((node) => {
    const old = before.get(node.nodeId);
    // Head nodes and other single nodes are no node array's: never ours to judge. A node that we know is one's, whatever this status lists.
    if (!arrays.has(node.array) && (old === undefined || old.goneAt !== undefined)) return;
    const known = updateNode(old, node, origins.get(node.nodeId), facts, now);
    if (known !== old) touched += 1;
    present.push(known);
  });
  if (touched === 0 && ledger.size === present.length + countRemembered(ledger, facts, now)) return ledger;
  const next = new Map<NodeId, LedgerNode>();
  present.forEach((node) => next.set(node.nodeId, node));
  ledger.forEach((old, id) => {
    if (next.has(id)) return;
    if (old.goneAt === undefined) next.set(id, { ...old, goneAt: now });
    else if (isRemembered(old, facts, now)) next.set(id, old);
  });
  return next;
}

/** Gone, but not for long; or its host is still reported with resources, and must not be taken for one that was never ours. */
function isRemembered(node: LedgerNode, facts: HostFacts, now: Instant): boolean {
  if (node.goneAt === undefined) return false;
  if (secondsBetween(node.goneAt, now) < REMEMBER_GONE_SECONDS) return true;
  return entryOfNode(facts, node)?.hasAmounts === true;
}

function countRemembered(ledger: Ledger, facts: HostFacts, now: Instant): number {
  let count = 0;
  ledger.forEach((node) => {
    if (isRemembered(node, facts, now)) count += 1;
  });
  return count;
}

function updateNode(
  old: LedgerNode | undefined,
  node: Node,
  origin: Origin | undefined,
  facts: ReadonlyMap<string, HostFact>,
  now: Instant,
): LedgerNode {
  const busyness = nextBusyness(old, node, facts, now);
  const start = nextStart(old, node, now);
  const deallocated = node.phase === "deallocated";
  // A deallocated node has no VM: what it is once started has never been Ready, and has its boot timeout before it.
  const firstReadyAt = deallocated
    ? undefined
    : (old?.firstReadyAt ?? (node.phase === "ready" ? now : undefined));
  const leftReadyAt = nextLeftReady(old, node, firstReadyAt, now);
  const unclearSince = nextUnclear(old, node, now);
  const isSame =
    old?.goneAt === undefined &&
    old?.busyness === busyness &&
    old.firstReadyAt === firstReadyAt &&
    old.leftReadyAt === leftReadyAt &&
    old.unclearSince === unclearSince &&
    old.start === start &&
    (old.deallocated === true) === deallocated &&
    (origin === undefined || old.requestId === origin.requestId) &&
    (origin?.keyId === undefined || old.keyId === origin.keyId);
  // Keeping the same object for an unchanged node spares the store and a large cluster's memory.
  if (isSame && hasSameNames(old, node)) return old;
  const requestId = origin?.requestId ?? old?.requestId;
  const keyId = origin?.keyId ?? old?.keyId;
  const look = origin === undefined ? old?.look : origin.look;
  const askedAfter = old?.requestId === undefined ? (origin?.askedAfter ?? 0) : (old.askedAfter ?? 0);
  const instanceId = nextInstanceId(old, node);
  return {
    nodeId: node.nodeId,
    name: node.name,
    array: node.array,
    ...(node.hostname === undefined ? {} : { hostname: node.hostname }),
    ...(instanceId === undefined ? {} : { instanceId }),
    ...(requestId === undefined ? {} : { requestId }),
    purpose: origin?.purpose ?? old?.purpose ?? { kind: "array" },
    ...(look === undefined ? {} : { look }),
    firstSeenAt: old?.firstSeenAt ?? now,
    ...(askedAfter === 0 ? {} : { askedAfter }),
    ...(firstReadyAt === undefined ? {} : { firstReadyAt }),
    ...(leftReadyAt === undefined ? {} : { leftReadyAt }),
    ...(unclearSince === undefined ? {} : { unclearSince }),
    ...(old?.lastNeededAt === undefined ? {} : { lastNeededAt: old.lastNeededAt }),
    busyness,
    ...(old?.draining === undefined ? {} : { draining: old.draining }),
    ...(keyId === undefined ? {} : { keyId }),
    ...(old?.bound === undefined ? {} : { bound: old.bound }),
    ...(old?.plannedBeside === undefined ? {} : { plannedBeside: old.plannedBeside }),
    ...(deallocated ? { deallocated } : {}),
    ...(start === undefined ? {} : { start }),
  };
}

function hasSameNames(old: LedgerNode, node: Node): boolean {
  const { hostname, name } = node;
  return old.hostname === hostname && old.instanceId === nextInstanceId(old, node) && old.name === name;
}

/**
 * A record may lack its InstanceId, for instance while the node terminates. The last one stays: else the VM's question is that of an
 * unknown instance, and it is told to open while it is being deleted.
 */
function nextInstanceId(old: LedgerNode | undefined, { instanceId }: Node): string | undefined {
  return instanceId ?? old?.instanceId;
}

function nextBusyness(
  known: LedgerNode | undefined,
  node: Node,
  facts: ReadonlyMap<string, HostFact>,
  now: Instant,
): Busyness {
  const old = known?.busyness;
  const fact = factOfNode(facts, node, known);
  // A node that is not up is not idle either; one whose record is unclear may be up.
  const mayBeIdle = node.phase === "ready" || node.phase === "unknown";
  const state =
    fact === undefined ? "unknown" : fact.jobs.length > 0 ? "busy" : mayBeIdle ? "idle" : "unknown";
  return old !== undefined && old.state === state ? old : { state, since: now };
}
