import type { Node } from "../../domain/cluster.ts";
import { entryOfNode } from "../../domain/hosts.ts";
import type { ArrayName, NodeId } from "../../domain/ids.ts";
import { InTurn } from "../../domain/in-turn.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { NodeVerdict } from "../../domain/node-verdict.ts";
import type { Policy } from "../../domain/policy.ts";
import { timeoutsOf } from "../../domain/timeouts.ts";
import type { Instant } from "../../domain/units.ts";
import type { Conclusion } from "./conclusion.ts";
import { circumstances } from "./conclusion.ts";
import { stoppingNodes } from "../intents/open-intents.ts";
import { ClaimNotes } from "../senders/foreign-claims.ts";
import { BesideNotes } from "../nodes/planned-beside.ts";
import type { Reach } from "../stops/reach.ts";
import { observedAction } from "../stops/reach.ts";
import type { NodeAction } from "../stops/scale-down.ts";
import { applyAction, judgeNode } from "../stops/scale-down.ts";
import { verdictOf } from "./node-verdict.ts";

/** What a plan decides about the observed nodes. */
export interface JudgedNodes {
  /** The next ledger. The same object if no entry changes. */
  readonly ledger: Ledger;
  /** Nodes that the ledger does not know have no verdict. */
  readonly verdicts: ReadonlyMap<NodeId, NodeVerdict>;
  /** Nodes that this plan stops. */
  readonly terminates: readonly NodeId[];
  /** Nodes of observed arrays that it would mark or stop. */
  readonly unstopped: readonly NodeId[];
}

/** Decides for each observed node whether it is marked, stopped or kept. `managed`: the node arrays that are ours. */
export function judgeNodes(
  on: Conclusion,
  ledger: Ledger,
  reach: Reach,
  managed: ReadonlySet<ArrayName>,
): JudgedNodes {
  const { record, policy, now, weighed } = on;
  const stopping = stoppingNodes(record.intents);
  const entries = new InTurn(ledger);
  const needs = new InTurn(weighed.allocation.needed);
  const beside = new BesideNotes(weighed.allocation.outcomes, on.admitted.demands, on.last);
  const claims = new ClaimNotes(policy.senders, on.admitted.demands, now);
  const verdicts = new Map<NodeId, NodeVerdict>();
  const terminates: NodeId[] = [];
  const unstopped: NodeId[] = [];
  // Copied when an entry changes: most plans change none.
  let changed: Map<NodeId, LedgerNode> | undefined;
  on.observation.snapshot.nodes.forEach((node) => {
    const { nodeId } = node;
    const known = entries.get(nodeId);
    if (known === undefined) return;
    if (!managed.has(node.array)) {
      verdicts.set(nodeId, { kind: "not-managed" });
      return;
    }
    const mayChange = reach.isActing || reach.withholds;
    const isJudged = mayChange && !stopping.has(nodeId) && !staysAsItIs(node, known, weighed.spare);
    const due = isJudged ? judgeNode(node, known, circumstances(on, node, known)) : NO_ACTION;
    const acts = reach.acts(node.array);
    if (!acts && (due.kind === "mark" || due.kind === "terminate")) unstopped.push(nodeId);
    const action = acts ? due : isJudged ? observedAction(known, due, now) : NO_ACTION;
    if (action.kind === "terminate") terminates.push(nodeId);
    const needed = needs.get(nodeId);
    const acted = applyAction(known, action, record.plan, now);
    const fact = entryOfNode(on.facts, node);
    const noted = claims.noted(beside.noted(acted, fact, needed), fact, needed);
    const next = needed === undefined ? noted : noteNeeded(noted, policy, now);
    if (next !== known) (changed ??= new Map(ledger)).set(nodeId, next);
    const isStopped = action.kind === "terminate";
    verdicts.set(nodeId, isStopped ? { kind: "draining", by: action.by } : verdictOf(node, next, needed, on));
  });
  return { ledger: changed ?? ledger, verdicts, terminates, unstopped };
}

const NO_ACTION: NodeAction = { kind: "none" };

/** A Ready node that is neither marked nor spare keeps running. Most nodes of a busy cluster are like this, so they are not judged. */
function staysAsItIs(node: Node, known: LedgerNode, spare: ReadonlySet<NodeId>): boolean {
  return node.phase === "ready" && known.draining === undefined && !spare.has(node.nodeId);
}

/**
 * Notes that a node is needed. Not with every plan, because each note is a write: while the node is idle once in a fifth of its idle
 * timeout, otherwise once in an idle timeout. These spans follow the clock, so that one plan notes all nodes and the next ones none.
 */
function noteNeeded(node: LedgerNode, policy: Policy, now: Instant): LedgerNode {
  const { busyness, lastNeededAt } = node;
  const timeout = timeoutsOf(policy, node).idleSeconds;
  const seconds = Math.max(1, busyness.state === "idle" ? timeout / 5 : timeout);
  const spanOf = (at: Instant): number => Math.floor(at / (1000 * seconds));
  return lastNeededAt !== undefined && spanOf(lastNeededAt) === spanOf(now)
    ? node
    : { ...node, lastNeededAt: now };
}
