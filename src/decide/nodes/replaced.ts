import type { Node, Snapshot } from "../../domain/cluster.ts";
import { type ExclusiveRules, isOurs } from "../../domain/exclusive.ts";
import type { ArrayName, NodeId } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import { timeoutsOf } from "../../domain/timeouts.ts";
import type { Instant } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { isDown } from "./down.ts";
import { bootingSince } from "../intents/node-starts.ts";
import { unclearUntil } from "./unclear.ts";

/** The share of an array's nodes that is replaced at a time while CycleCloud still lists them as wanted. */
const SHARE_REPLACED = 0.1;
/** At least this number is replaced at a time. */
const FEWEST_REPLACED = 3;

/** Nodes that CycleCloud lists as wanted and that are of no use. */
export interface Useless {
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
