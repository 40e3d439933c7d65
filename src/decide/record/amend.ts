import type { NodeId } from "../../domain/ids.ts";
import type { NodeVerdict } from "../../domain/node-verdict.ts";
import type { Plan } from "../../domain/plan.ts";
import { withoutStopped } from "../../domain/plan.ts";
import type { Intent } from "../../domain/intent.ts";
import type { Ledger } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Decision } from "../../domain/decision.ts";

/** The part of a decision that is still valid if reports or demand changed while it was saved (docs/protocol.md, Plans). */

/**
 * The decision without its marks and stops. Its creates and starts stay. The next plan decides about the nodes again. `before`: the ledger
 * with which the decision was made.
 */
export function withoutStops(decision: Decision, before: Ledger): Decision {
  const { plan } = decision;
  const dropped = new Set<NodeId>();
  const ledger = new Map(decision.ledger);
  decision.ledger.forEach((node, id) => {
    if (node.draining?.plan !== plan.number) return;
    dropped.add(id);
    const { draining: _new, ...rest } = node;
    const earlier = before.get(id)?.draining;
    ledger.set(id, earlier === undefined ? rest : { ...rest, draining: earlier });
  });
  if (dropped.size === 0) return decision;
  return { ...decision, ledger, plan: planWithout(plan, dropped), record: recordWithout(decision, dropped) };
}

function planWithout(plan: Plan, dropped: ReadonlySet<NodeId>): Plan {
  const unknown: NodeVerdict = { kind: "busyness-unknown" };
  const nodes = [...plan.nodes].map(([id, verdict]) => [id, dropped.has(id) ? unknown : verdict] as const);
  return { ...withoutStopped(plan, (id) => dropped.has(id)), nodes: new Map(nodes) };
}

function recordWithout({ record, plan }: Decision, dropped: ReadonlySet<NodeId>): ClusterRecord {
  const intents = record.intents.flatMap((intent): readonly Intent[] => {
    const { effect } = intent;
    if (effect.kind !== "terminate" || intent.committedAt !== plan.at) return [intent];
    const nodes = effect.nodes.filter((id) => !dropped.has(id));
    return nodes.length === 0 ? [] : [{ ...intent, effect: { ...effect, nodes } }];
  });
  const kept = plan.terminates.filter((id) => !dropped.has(id)).length;
  const terminated = record.totals.terminated - (plan.terminates.length - kept);
  return { ...record, intents, totals: { ...record.totals, terminated } };
}
