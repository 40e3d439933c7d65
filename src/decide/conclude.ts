import type { Instant } from "../domain/units.ts";
import { timeoutsOf } from "../domain/timeouts.ts";
import type { Ledger, LedgerNode } from "../domain/ledger.ts";
import type { ClusterRecord } from "../domain/record.ts";
import type { Unneeded } from "../domain/unneeded.ts";
import type { Policy } from "../domain/policy.ts";
import type { NodeVerdict, Plan } from "../domain/plan.ts";
import { managedArrays } from "../domain/managed-arrays.ts";
import { InTurn } from "../domain/in-turn.ts";
import type { NodeId } from "../domain/ids.ts";
import { entryOfNode } from "../domain/hosts.ts";
import type { Decision } from "../domain/decision.ts";
import type { Node } from "../domain/cluster.ts";
import { existingDynamics } from "./world/existing-dynamics.ts";
import { verdictOf } from "./verdicts.ts";
import type { NodeAction } from "./stops/scale-down.ts";
import { applyAction, judgeNode } from "./stops/scale-down.ts";
import { observedAction, reachOf, splitByReach } from "./stops/reach.ts";
import { foldQuestions } from "./stops/questions.ts";
import type { Admitted } from "./senders/admit.ts";
import { refusedOutcome } from "./senders/admit.ts";
import { noteGroups } from "./record/group-fills.ts";
import { withStopKeys } from "./nodes/stop-keys.ts";
import { BesideNotes } from "./nodes/planned-beside.ts";
import type { Weighed } from "./need/weigh.ts";
import { findUnneeded } from "./need/unneeded.ts";
import { describeLeftOut } from "./need/left-out.ts";
import { stoppingNodes } from "./intents/open-intents.ts";
import { startEffects, withStart } from "./intents/node-starts.ts";
import { commitEffects } from "./intents/commit-effects.ts";
import type { Conclusion } from "./conclusion.ts";
import { circumstances } from "./conclusion.ts";

/** Makes the decision: the next record with its intents, the next ledger, and the plan that says why. */
export function conclude(on: Conclusion): Decision {
  const { observation, policy, now, weighed } = on;
  const managed = managedArrays(observation.snapshot, policy);
  // Of observed arrays the same is worked out, and only shown.
  const reach = reachOf(observation.snapshot, policy, managed);
  const { done, withheld } = splitByReach(weighed.allocation, reach, on.ledger);
  const stopping = stoppingNodes(on.record.intents);
  let ledger = on.ledger;
  // Copied when something changes: most plans change nothing.
  let copy: Map<NodeId, LedgerNode> | undefined;
  const note = (known: LedgerNode): void => {
    copy ??= new Map(on.ledger);
    copy.set(known.nodeId, known);
    ledger = copy;
  };
  const verdicts = new Map<NodeId, NodeVerdict>();
  const terminates: NodeId[] = [];
  const unstopped: NodeId[] = [];
  const groups = weighed.allocation.groups.filter(({ array }) => reach.acts(array));
  const record = reach.isActing
    ? noteGroups(on.record, observation.snapshot, on.ledger, groups, now)
    : on.record;
  const creates = on.record.createsFrom === undefined ? done.creates : [];
  const { starts } = done;
  for (const id of starts) {
    const known = ledger.get(id);
    if (known !== undefined) note(withStart(known, { state: "unsure", since: now }));
  }
  const entries = new InTurn(ledger);
  const needs = new InTurn(weighed.allocation.needed);
  const beside = new BesideNotes(weighed.allocation.outcomes, on.admitted.demands, on.last);
  observation.snapshot.nodes.forEach((node) => {
    const known = entries.get(node.nodeId);
    if (known === undefined) return;
    if (!managed.has(node.array)) {
      verdicts.set(node.nodeId, { kind: "not-managed" });
      return;
    }
    const judged =
      (reach.isActing || reach.withholds) &&
      !stopping.has(node.nodeId) &&
      !isSettled(node, known, weighed.spare);
    const due: NodeAction = judged ? judgeNode(node, known, circumstances(on, node, known)) : NO_ACTION;
    const acts = reach.acts(node.array);
    if (!acts && (due.kind === "mark" || due.kind === "terminate")) unstopped.push(node.nodeId);
    const action = acts ? due : judged ? observedAction(known, due, now) : NO_ACTION;
    const needed = needs.get(node.nodeId);
    const acted = beside.noted(
      applyAction(known, action, record.plan, now),
      entryOfNode(on.facts, node),
      needed,
    );
    const next = touch(acted, needed !== undefined, policy, now);
    if (next !== known) note(next);
    if (action.kind === "terminate") terminates.push(node.nodeId);
    const verdict: NodeVerdict =
      action.kind === "terminate" ? { kind: "draining", by: action.by } : verdictOf(node, next, needed, on);
    verdicts.set(node.nodeId, verdict);
  });
  const plan: Plan = {
    number: record.plan,
    at: now,
    creates,
    ...(starts.length === 0 ? {} : { starts }),
    terminates,
    ...reach.shown,
    ...(reach.withholds ? { withheld: { ...withheld, terminates: unstopped } } : {}),
    demands: outcomesOf(weighed, on.admitted),
    nodes: verdicts,
    ...(weighed.allocation.groups.length === 0 ? {} : { groups: weighed.allocation.groups }),
    loads: weighed.allocation.loads,
    ...(weighed.leftOut.none ? {} : { leftOut: describeLeftOut(weighed.allocation.leftOut) }),
  };
  const effects = { creates, starts: startEffects(starts, observation.snapshot), terminates };
  const noted = withUnneeded(
    withAwaited(record, ledger),
    findUnneeded(observation.snapshot, ledger, verdicts, policy, now),
  );
  const committed = commitEffects(noted, effects, now, on.owner, policy);
  const keyed = withStopKeys(committed, ledger);
  return {
    record: withDynamics(keyed, ledger, on),
    ledger,
    questions: foldQuestions(on.questions, now),
    seen: observation.snapshot,
    plan,
    ...(terminates.some((id) => weighed.kept.has(id)) ? { waitsForStops: true } : {}),
  };
}

/** In the order of rank; after them what counts for nothing, as jobs are found in a plan by their rank. */
function outcomesOf({ allocation }: Weighed, { refused }: Admitted): Plan["demands"] {
  return refused.length === 0
    ? allocation.outcomes
    : [...allocation.outcomes, ...refused.map(refusedOutcome)];
}

/** Notes which dynamic node arrays there are, with what this plan has just asked for. */
function withDynamics(
  record: ClusterRecord,
  ledger: Ledger,
  { dynamics, admitted, observation }: Conclusion,
): ClusterRecord {
  const { dynamicArrays: _before, ...rest } = record;
  const existing = existingDynamics(record, ledger, dynamics, observation.snapshot, admitted.definers);
  return existing.length === 0 ? rest : { ...rest, dynamicArrays: existing };
}

function withUnneeded(record: ClusterRecord, unneeded: Unneeded | undefined): ClusterRecord {
  const { unneeded: _before, ...rest } = record;
  return unneeded === undefined ? rest : { ...rest, unneeded };
}

/** Notes whether a marked node waits for its scheduler's next report. */
function withAwaited(record: ClusterRecord, ledger: Ledger): ClusterRecord {
  const { awaitsReport: _before, ...rest } = record;
  const waits = [...ledger.values()].some(
    ({ draining, goneAt }) =>
      goneAt === undefined &&
      draining?.sentAt === undefined &&
      (draining?.by === "idle" || draining?.by === "failed"),
  );
  return waits ? { ...rest, awaitsReport: true } : rest;
}

const NO_ACTION: NodeAction = { kind: "none" };

/** A Ready node that is neither marked nor spare has nothing to be judged for; most nodes of a busy cluster are such. */
function isSettled(node: Node, known: LedgerNode, spare: ReadonlySet<NodeId>): boolean {
  return node.phase === "ready" && known.draining === undefined && !spare.has(node.nodeId);
}

/**
 * Notes that a node is needed, but not with every plan: the entries of all nodes would be written each time. Once in a fifth of the idle
 * timeout while the node is idle, as it counts against that; else only for people, as a node's idleness begins when it ceases to be busy.
 * By the clock and not by the node, so that one plan notes all nodes and the next ones none.
 */
function touch(node: LedgerNode, needed: boolean, policy: Policy, now: Instant): LedgerNode {
  if (!needed) return node;
  const { busyness, lastNeededAt } = node;
  const timeout = timeoutsOf(policy, node).idleSeconds;
  const seconds = Math.max(1, busyness.state === "idle" ? timeout / 5 : timeout);
  const spanOf = (at: Instant): number => Math.floor(at / (1000 * seconds));
  return lastNeededAt !== undefined && spanOf(lastNeededAt) === spanOf(now)
    ? node
    : { ...node, lastNeededAt: now };
}
