import type { Node, Snapshot } from "../../domain/cluster.ts";
import { isLost } from "../../domain/cluster.ts";
import { isOurs, type ExclusiveRules } from "../../domain/exclusive.ts";
import type { ArrayName, NodeId } from "../../domain/ids.ts";
import type { Draining, Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { Flaw, NodeStanding, Standings } from "../../domain/node-standing.ts";
import { isCapacity, isRecordDoubted, isUp, standingIn } from "../../domain/node-standing.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Questions } from "../../domain/questions.ts";
import { NO_QUESTIONS, unhealthyNow } from "../../domain/questions.ts";
import { compareText } from "../../domain/text.ts";
import { timeoutsOf } from "../../domain/timeouts.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import { bootingSince, isStarting, mayBeStarted } from "../intents/node-starts.ts";
import type { NodeFacts } from "../senders/host-facts.ts";
import { missingUntil } from "./missing.ts";

/** What the standings follow from. */
interface Seen {
  readonly snapshot: Snapshot;
  /** The ledger after this observation. */
  readonly ledger: Ledger;
  /** Nodes with a stop that is committed and whose outcome is not known. */
  readonly open: ReadonlySet<NodeId>;
  /** Absent: no node has asked. */
  readonly questions?: Questions;
  /** Nodes that ask whether they may stop. What they said of themselves before does not count. */
  readonly askers?: ReadonlySet<NodeId>;
  /** What schedulers report. Absent: nothing. */
  readonly facts?: NodeFacts;
}

/** Finds the standing of each observed node. */
export function standingsOf(seen: Seen, policy: Policy, now: Instant): Standings {
  const { snapshot, ledger, open } = seen;
  const around: Around = { snapshot, policy, now, room: new ReplaceRoom(snapshot, ledger, policy) };
  const standings = new Map<NodeId, NodeStanding>();
  // forEach, as in all loops over nodes (ledger.ts).
  snapshot.nodes.forEach((node) => {
    const known = ledger.get(node.nodeId);
    const isOpen = open.has(node.nodeId);
    // Most nodes are up and ours, and need no entry.
    const isPlain = node.phase === "ready" && node.missing === undefined && known?.draining === undefined;
    if (isPlain && !isOpen && (known === undefined || isOurs(known, policy))) return;
    standings.set(node.nodeId, standingOf(node, known, isOpen, around));
  });
  hold(standings, seen, around);
  if (seen.facts !== undefined) fillKept(standings, seen.facts, ledger, around);
  return standings;
}

/** What all nodes of an observation are judged by. */
interface Around {
  readonly snapshot: Pick<Snapshot, "early" | "at">;
  readonly policy: Policy;
  readonly now: Instant;
  readonly room: ReplaceRoom;
}

function standingOf(
  node: Node,
  known: LedgerNode | undefined,
  isOpen: boolean,
  around: Around,
): NodeStanding {
  const { snapshot, policy, now, room } = around;
  const shown = flawShown(node, known, policy, now);
  const flaw = flawOf(node, shown);
  const useless = isOfNoUse(shown, snapshot, now) ? room.turnOf(node.array, known) : undefined;
  const found: Omit<NodeStanding, "kind"> = {
    ...flaw,
    ...(known === undefined || isOurs(known, policy) ? {} : { notOurs: true }),
    ...(isOpen ? { open: true } : {}),
    ...(useless === "kept" ? { kept: true } : {}),
  };
  // An open stop is newer than the accepted one.
  if (known !== undefined && !isOpen && isStopFresh(known, snapshot)) return { ...found, kind: "stopping" };
  const isUnfit = isUnfitNow(known?.draining, isOpen, now);
  if (useless !== undefined) return { ...found, kind: isUnfit ? "replaced" : useless };
  if (isUnfit) return { ...found, kind: "unfit" };
  if (isRecordDoubted(found, now)) return { ...found, kind: "doubted" };
  if (isStopDoubted(node, known, isOpen, now)) return { why: "stop", ...found, kind: "doubted" };
  return { ...found, kind: clearKind(node, known, found) };
}

/** The standing of a node without a doubt. */
function clearKind(
  node: Node,
  known: LedgerNode | undefined,
  { notOurs, open }: Pick<NodeStanding, "notOurs" | "open">,
): NodeStanding["kind"] {
  switch (node.phase) {
    case "ready":
      return "up";
    case "deallocated":
      // We could not stop it again, so it is not started. An open stop may arrive once it is up again.
      if (notOurs === true || open === true) return "deallocated";
      if (isStarting(known)) return "starting";
      return mayBeStarted(node, known) ? "startable" : "deallocated";
    case "failed":
      return "replaced";
    default:
      return node.phase;
  }
}

// ---------------------------------------------------------------- what speaks against a node

/** What speaks against the node, if it may exist. `shown`: what its record shows. */
function flawOf(node: Node, shown: Flaw): Flaw {
  const { missing } = node;
  const until = missingUntil(node);
  if (missing === undefined || until === undefined || !isLost(node)) return shown;
  return { why: "missing", since: missing.since, until };
}

/** What the node's record shows, unless the observation lacks it, and until when it has time to come up. */
export function flawShown(node: Node, known: LedgerNode | undefined, policy: Policy, now: Instant): Flaw {
  if (node.phase === "failed") return { why: "failed" };
  if (known === undefined || (node.phase !== "coming" && node.phase !== "unknown")) return {};
  const { bootSeconds } = timeoutsOf(policy, known);
  const { unclearSince, leftReadyAt } = known;
  if (node.phase === "unknown" && unclearSince !== undefined)
    return { why: "unclear", since: unclearSince, until: plusSeconds(unclearSince, bootSeconds) };
  if (node.phase === "coming" && leftReadyAt !== undefined) {
    // One odd observation, with a Status that is not expected of a node on its way up, creates no new node. Other nodes restart.
    const seconds = node.unexpectedStatus === true ? policy.snapshotIntervalSeconds : bootSeconds;
    const until = plusSeconds(leftReadyAt, seconds);
    return now >= until ? { why: "down", since: leftReadyAt, until } : { until };
  }
  const until = plusSeconds(bootingSince(known), bootSeconds);
  const isLate = node.phase === "coming" && known.firstReadyAt === undefined;
  return isLate && now >= until ? { why: "late", until } : { until };
}

/** Whether a node with this record is of no use. Time in which CycleCloud stood still is no reason. */
function isOfNoUse({ why, until }: Flaw, { early }: Pick<Snapshot, "early">, now: Instant): boolean {
  if (why === undefined || why === "failed") return why === "failed";
  return early !== true && until !== undefined && now >= until;
}

// ---------------------------------------------------------------- its stop

/** A mark without a stop is left from a crash after this time. A node that asked asks again. Other nodes are judged again. */
export const STALE_MARK_SECONDS: Seconds = 60;
/** If the node is still up by an observation that began this long after its terminate was accepted, the stop is decided again. */
const DECIDE_AGAIN_SECONDS: Seconds = 120;

/** Whether CycleCloud has accepted a stop of the node, and no observation shows that it was lost. Soon after a standstill none can. */
export function isStopFresh(
  { draining }: LedgerNode,
  { early, at }: Pick<Snapshot, "early" | "at">,
): boolean {
  if (draining?.sentAt === undefined) return false;
  return early === true || secondsBetween(draining.sentAt, at) < DECIDE_AGAIN_SECONDS;
}

/** Whether the node called itself unhealthy, and is stopped for that. */
function isUnfitNow(draining: Draining | undefined, isOpen: boolean, now: Instant): boolean {
  if (draining?.by !== "unhealthy") return false;
  return isOpen || (draining.sentAt === undefined && isFreshMark(draining, now));
}

/** Whether a mark may still lead to a stop. */
export function isFreshMark({ since, sentAt }: Draining, now: Instant): boolean {
  return sentAt === undefined && secondsBetween(since, now) < STALE_MARK_SECONDS;
}

/** Whether the stop of the node may still be lost: its outcome is not known, or its own question marked it and may still be told to stay. */
function isStopDoubted(
  { phase }: Node,
  known: LedgerNode | undefined,
  isOpen: boolean,
  now: Instant,
): boolean {
  if (phase !== "ready" && phase !== "coming" && phase !== "unknown") return false;
  const draining = known?.draining;
  if (draining === undefined) return isOpen;
  if (draining.by === "callback") return isOpen || isFreshMark(draining, now);
  // Other nodes are of no use, even if their stop is lost.
  return draining.by === "idle" && isOpen;
}

// ---------------------------------------------------------------- how many are replaced at a time

/** The share of an array's nodes that is replaced at a time while CycleCloud still lists them as wanted. */
const SHARE_REPLACED = 0.1;
/** At least this number is replaced at a time. */
const FEWEST_REPLACED = 3;

/**
 * Counts how many nodes of each array may still be replaced: at most a tenth, and at least 3. The others wait until CycleCloud has accepted
 * the stops of these, or no longer lists them (docs/protocol.md, Doubt). So a fault of all nodes does not create a second cluster. Nodes of
 * other tools are counted by themselves: we never stop them, so they would use up the limit for ours.
 */
class ReplaceRoom {
  readonly #nodes: readonly Node[];
  readonly #ledger: Ledger;
  readonly #rules: ExclusiveRules;
  #left: ReadonlyMap<boolean, Map<ArrayName, number>> | undefined;

  constructor({ nodes }: Snapshot, ledger: Ledger, rules: ExclusiveRules) {
    this.#nodes = nodes;
    this.#ledger = ledger;
    this.#rules = rules;
  }

  /** A useless node is replaced if it is its turn and no job is reported on it. */
  turnOf(array: ArrayName, known: LedgerNode | undefined): "kept" | "replaced" {
    return known?.busyness.state === "busy" || !this.take(array, known) ? "kept" : "replaced";
  }

  /** Counts one node. False if no more may be replaced. */
  take(array: ArrayName, known: LedgerNode | undefined): boolean {
    const room = (this.#left ??= this.#count()).get(this.#isOurs(known));
    const left = room?.get(array) ?? 0;
    if (left === 0) return false;
    room?.set(array, left - 1);
    return true;
  }

  /** Most plans need no count. */
  #count(): ReadonlyMap<boolean, Map<ArrayName, number>> {
    const counts = new Map([true, false].map((isOurs) => [isOurs, new Map<ArrayName, number>()]));
    for (const { nodeId, array, phase } of this.#nodes) {
      if (phase === "off" || phase === "deallocated") continue;
      const room = counts.get(this.#isOurs(this.#ledger.get(nodeId)));
      room?.set(array, (room.get(array) ?? 0) + 1);
    }
    for (const room of counts.values())
      for (const [array, count] of room)
        room.set(array, Math.max(FEWEST_REPLACED, Math.floor(count * SHARE_REPLACED)));
    return counts;
  }

  /** A node without an entry counts as another tool's. */
  #isOurs(known: LedgerNode | undefined): boolean {
    return known !== undefined && isOurs(known, this.#rules);
  }
}

/**
 * Nodes that a scheduler keeps, and where it starts no job, take no new demand: it goes elsewhere, within the bound of nodes that are
 * replaced. They keep their names and their jobs.
 */
function fillKept(
  standings: Map<NodeId, NodeStanding>,
  facts: NodeFacts,
  ledger: Ledger,
  { room }: Around,
): void {
  facts.forEach(({ keep, state }, id) => {
    const [known, standing] = [ledger.get(id), standingIn(standings, id)];
    if (keep === undefined || state === "open" || known?.goneAt !== undefined || !isUp(standing)) return;
    if (known !== undefined && standing.full !== true && room.take(known.array, known))
      standings.set(id, { ...standing, kind: "full", full: true });
  });
}

/**
 * Holds nodes that call themselves unhealthy and stay: they take no more jobs, and those without a job are no capacity (docs/nodes.md). Any
 * holder of a stop URL can call each node of its array unhealthy, so these nodes and those that are replaced share one limit. Nodes beyond
 * it, those that called themselves unhealthy last, count as before.
 */
function hold(
  standings: Map<NodeId, NodeStanding>,
  { snapshot, ledger, questions = NO_QUESTIONS, askers }: Seen,
  { room, now }: Around,
): void {
  const said = [...questions].flatMap(([id, question]) => {
    const unhealthy = askers?.has(id) === true ? undefined : unhealthyNow(question, now);
    const known = unhealthy === undefined ? undefined : ledger.get(id);
    return unhealthy === undefined || known === undefined ? [] : [{ id, known, ...unhealthy }];
  });
  if (said.length === 0) return;
  const up = new Set(snapshot.nodes.flatMap(({ nodeId, phase }) => (phase === "ready" ? [nodeId] : [])));
  for (const { id, known, held } of said.toSorted((a, b) => a.since - b.since || compareText(a.id, b.id))) {
    if (!up.has(id) || !room.take(known.array, known)) continue;
    const standing = standingIn(standings, id);
    // One that is being stopped already stays that.
    if (!isCapacity(standing)) continue;
    if (held === "limit") standings.set(id, { ...standing, kind: "closed" });
    else
      standings.set(id, { ...standing, kind: standing.kind === "up" ? "full" : standing.kind, full: true });
  }
}
