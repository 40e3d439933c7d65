import type { Node, Snapshot } from "../../domain/cluster.ts";
import { isLost } from "../../domain/cluster.ts";
import type { NodeId, ArrayName } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Draining, Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { TimeoutRules } from "../../domain/timeouts.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween, plusSeconds } from "../../domain/units.ts";
import { stoppingNodes } from "../intents/open-intents.ts";
import { isOurs, type ExclusiveRules } from "../../domain/exclusive.ts";
import { timeoutsOf } from "../../domain/timeouts.ts";
import { bootingSince } from "../intents/node-starts.ts";

/** A mark without a stop is left from a crash after this time. A node that asked asks again. Other nodes are judged again. */
export const STALE_MARK_SECONDS: Seconds = 60;

/**
 * The nodes of an observation that are in doubt (docs/protocol.md, Doubt). A doubted node counts as existing for creates and as gone for
 * stops: nothing is created in its place, and it replaces no node that is to be stopped. Nodes that the observation lacks are part of it
 * (missing.ts).
 */
export function doubtedNodes(
  record: Pick<ClusterRecord, "intents">,
  snapshot: Snapshot,
  ledger: Ledger,
  policy: Policy,
  now: Instant,
): ReadonlySet<NodeId> {
  const doubted = new Set(uselessNodes(snapshot, ledger, policy, now).kept);
  const open = stoppingNodes(record.intents);
  snapshot.nodes.forEach((node) => {
    const known = ledger.get(node.nodeId);
    if (isStopDoubted(node, known, open, now) || isRecordDoubted(node, known, policy, now))
      doubted.add(node.nodeId);
  });
  return doubted;
}

/** Whether the node is of no use, even if its stop is lost: it failed, did not boot, or called itself unhealthy. */
function isGivenUp(draining: Draining | undefined): boolean {
  return draining !== undefined && draining.by !== "idle" && draining.by !== "callback";
}

/**
 * Whether it is not known if the node exists or is wanted: the observation lacks it, or its record has been unclear for a short time. Such a
 * node is not stopped. If it asks, it is told to wait.
 */
export function isRecordDoubted(
  node: Node,
  known: LedgerNode | undefined,
  policy: TimeoutRules,
  now: Instant,
): boolean {
  if (isLost(node)) return true;
  const until = unclearUntil(node, known, policy);
  return until !== undefined && now < until;
}

/** Whether the stop of the node may still be lost: its outcome is not known, or it is not committed yet. */
function isStopDoubted(
  { nodeId, phase }: Node,
  known: LedgerNode | undefined,
  open: ReadonlySet<NodeId>,
  now: Instant,
): boolean {
  if (phase !== "ready" && phase !== "coming" && phase !== "unknown") return false;
  if (isGivenUp(known?.draining)) return false;
  return open.has(nodeId) || isMarked(known?.draining, now);
}

/** Whether the node was marked by its own question and its stop is not committed yet. It may still be told to stay. */
function isMarked(draining: Draining | undefined, now: Instant): boolean {
  return (
    draining?.by === "callback" &&
    draining.sentAt === undefined &&
    secondsBetween(draining.since, now) < STALE_MARK_SECONDS
  );
}

/**
 * Whether a node is no capacity because of its stop: CycleCloud has accepted it, or the node called itself unhealthy. Other nodes with an
 * uncertain stop are in doubt or of no use.
 */
export function isExcluded(
  known: LedgerNode,
  stopping: ReadonlySet<NodeId>,
  snapshot: Pick<Snapshot, "early" | "at">,
  now: Instant,
): boolean {
  const draining = known.draining;
  if (draining === undefined) return false;
  const isUnfit = draining.by === "unhealthy";
  // The open stop is newer than the accepted one.
  if (stopping.has(known.nodeId)) return isUnfit;
  if (draining.sentAt !== undefined) return isStopFresh(known, snapshot);
  return isUnfit && secondsBetween(draining.since, now) < STALE_MARK_SECONDS;
}

/** Nodes of an observation that are being stopped or replaced. They are no capacity, but count against limits. */
export function excludedNodes(
  snapshot: Snapshot,
  ledger: Ledger,
  stopping: ReadonlySet<NodeId>,
  policy: Policy,
  now: Instant,
): ReadonlySet<NodeId> {
  const excluded = new Set(uselessNodes(snapshot, ledger, policy, now).replaced);
  ledger.forEach((node, id) => {
    // A deallocated node that is not ours is not started, because we could not stop it again.
    const isForbidden = node.deallocated === true && !isOurs(node, policy);
    if (isForbidden || isExcluded(node, stopping, snapshot, now)) excluded.add(id);
  });
  return excluded;
}

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

/** The share of an array's nodes that is replaced at a time while CycleCloud still lists them as wanted. */
const SHARE_REPLACED = 0.1;
/** At least this number is replaced at a time. */
const FEWEST_REPLACED = 3;

/** Nodes that CycleCloud lists as wanted and that are of no use. */
interface Useless {
  /** Nodes that are no capacity. Others are created in their place. */
  readonly replaced: readonly NodeId[];
  /** Nodes that still count as capacity, because enough others of their array are replaced, or a job is reported on them. */
  readonly kept: readonly NodeId[];
}

/**
 * The nodes of an observation that failed, were not Ready in time, are down after they were Ready, or have been unclear for too long. At most a
 * tenth of an array's nodes (at least 3) are replaced at a time. The others wait until CycleCloud has accepted the stops of these, or no
 * longer lists them (docs/protocol.md, Doubt). So a fault of all nodes does not create a second cluster. Nodes of other tools have a limit of
 * their own: we never stop them, so they would use up the limit for ours.
 */
export function uselessNodes(snapshot: Snapshot, ledger: Ledger, policy: Policy, now: Instant): Useless {
  const replaced: NodeId[] = [];
  const kept: NodeId[] = [];
  let room: ReplaceRoom | undefined;
  snapshot.nodes.forEach((node) => {
    // Most nodes are up and need no lookup in the ledger.
    if (!mayBeUseless(node)) return;
    const known = ledger.get(node.nodeId);
    if (!isUseless(node, known, snapshot, policy, now)) return;
    room ??= new ReplaceRoom(snapshot, ledger, policy);
    if (known?.busyness.state === "busy" || !room.take(node.array, known)) kept.push(node.nodeId);
    else replaced.push(node.nodeId);
  });
  return { replaced, kept };
}

function mayBeUseless({ phase }: Node): boolean {
  return phase === "failed" || phase === "coming" || phase === "unknown";
}

function isUseless(
  node: Node,
  known: LedgerNode | undefined,
  { early }: Snapshot,
  policy: Policy,
  now: Instant,
): boolean {
  if (node.phase === "failed") return true;
  // Time in which CycleCloud stood still is no reason.
  if (known === undefined || early === true) return false;
  const unclear = unclearUntil(node, known, policy);
  if (unclear !== undefined) return now >= unclear;
  if (known.firstReadyAt !== undefined) return isDown(node, known, policy, now);
  return node.phase === "coming" && isLate(known, policy, now);
}

/** Whether the node never was Ready and its boot timeout is over. */
function isLate(known: LedgerNode, policy: Policy, now: Instant): boolean {
  return secondsBetween(bootingSince(known), now) >= timeoutsOf(policy, known).bootSeconds;
}

/** Counts how many nodes of each array may still be replaced: ours, and those of other tools separately. */
export class ReplaceRoom {
  readonly #rules: ExclusiveRules;
  readonly #ours = new Map<ArrayName, number>();
  readonly #others = new Map<ArrayName, number>();

  constructor({ nodes }: Snapshot, ledger: Ledger, rules: ExclusiveRules) {
    this.#rules = rules;
    for (const { nodeId, array, phase } of nodes) {
      if (phase === "off" || phase === "deallocated") continue;
      const counts = this.#of(ledger.get(nodeId));
      counts.set(array, (counts.get(array) ?? 0) + 1);
    }
    for (const counts of [this.#ours, this.#others]) {
      for (const [array, count] of counts)
        counts.set(array, Math.max(FEWEST_REPLACED, Math.floor(count * SHARE_REPLACED)));
    }
  }

  /** Counts one node. False if no more may be replaced. */
  take(array: ArrayName, known: LedgerNode | undefined): boolean {
    const room = this.#of(known);
    const left = room.get(array) ?? 0;
    if (left === 0) return false;
    room.set(array, left - 1);
    return true;
  }

  /** The numbers for ours or for other tools. A node without an entry counts as another tool's. */
  #of(known: LedgerNode | undefined): Map<ArrayName, number> {
    return known !== undefined && isOurs(known, this.#rules) ? this.#ours : this.#others;
  }
}

// Nodes that were Ready, are no longer up and are still wanted: they were shut down from inside, restart, or lost their VM. CycleCloud
// does not say when that happened, so the time counts from the first observation that showed it.

/** When the first observation showed that the node left Ready. Undefined if it is Ready, never was, failed, or is no longer wanted. */
export function nextLeftReady(
  old: LedgerNode | undefined,
  node: Node,
  firstReadyAt: Instant | undefined,
  now: Instant,
): Instant | undefined {
  if (firstReadyAt === undefined) return undefined;
  // An unclear record does not show whether the node left Ready or is back.
  if (node.phase === "unknown") return old?.leftReadyAt;
  return node.phase === "coming" ? (old?.leftReadyAt ?? now) : undefined;
}

/**
 * Until when a node that left Ready counts as on its way up. A node that restarts or boots again has its boot timeout. A node with an
 * unexpected Status has one snapshot interval, so that a single odd observation creates no new node. Undefined if it did not leave Ready.
 */
export function awaitedUntil(
  node: Node,
  known: LedgerNode | undefined,
  policy: TimeoutRules & Pick<Policy, "snapshotIntervalSeconds">,
): Instant | undefined {
  if (known?.leftReadyAt === undefined || node.phase !== "coming") return undefined;
  return plusSeconds(
    known.leftReadyAt,
    node.unexpectedStatus === true ? policy.snapshotIntervalSeconds : timeoutsOf(policy, known).bootSeconds,
  );
}

/** Whether that time is over. Then the node is no capacity until it is Ready again, but still counts against the limits. */
export function isDown(
  node: Node,
  known: LedgerNode | undefined,
  policy: TimeoutRules & Pick<Policy, "snapshotIntervalSeconds">,
  now: Instant,
): boolean {
  const until = awaitedUntil(node, known, policy);
  return until !== undefined && now >= until;
}

// Records that do not show whether their node is wanted: they have no TargetState that we know, and their Status does not show it either
// (phase `unknown`). Nodes created in their place could be created again with each observation. Nodes stopped because of it could be at
// work.

/** Since when observations have shown the node's record as unclear. Undefined if it is clear. */
export function nextUnclear(old: LedgerNode | undefined, { phase }: Node, now: Instant): Instant | undefined {
  return phase === "unknown" ? (old?.unclearSince ?? now) : undefined;
}

/** Until when an unclear node is in doubt: for its boot timeout after it became unclear. Undefined if its record is clear. */
export function unclearUntil(
  { phase }: Node,
  known: LedgerNode | undefined,
  policy: TimeoutRules,
): Instant | undefined {
  if (phase !== "unknown" || known?.unclearSince === undefined) return undefined;
  return plusSeconds(known.unclearSince, timeoutsOf(policy, known).bootSeconds);
}

/** A status in which fewer records than this lack TargetState is believed. */
const FEWEST_LACKING = 5;
/** For this long a status whose records mostly lack TargetState is not believed. */
const DISBELIEVED_SECONDS: Seconds = 600;

/** A status whose records mostly lack TargetState. */
export interface Lacking {
  readonly lacking: number;
  readonly of: number;
  /** The first of the last statuses, without a gap, that were like this. */
  readonly since: Instant;
  /** From this moment on such a status is believed, and each node is judged by itself. */
  readonly until: Instant;
}

/** Finds whether most records of a status lack TargetState. Undefined if they do not, or if only a few do. */
export function findLacking(
  { targetStatesLackedSince }: Pick<ClusterRecord, "targetStatesLackedSince">,
  { nodes, at }: Snapshot,
): Lacking | undefined {
  const lacking = nodes.reduce((sum, node) => (node.noTargetState === true ? sum + 1 : sum), 0);
  if (lacking < FEWEST_LACKING || lacking * 2 <= nodes.length) return undefined;
  const since = targetStatesLackedSince ?? at;
  return { lacking, of: nodes.length, since, until: plusSeconds(since, DISBELIEVED_SECONDS) };
}
