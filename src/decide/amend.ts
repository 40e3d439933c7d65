import type { Bodies } from "../domain/bodies.ts";
import type { Digest, NodeId, SetName } from "../domain/ids.ts";
import type { NodeVerdict, Plan } from "../domain/plan.ts";
import type { ClusterRecord, Held, Intent, Ledger, LedgerNode, SetEntries } from "../domain/record.ts";
import { entryOfNode, hostKey } from "./hosts.ts";
import type { Decision } from "./reconcile.ts";

/** What of a decision still holds once reports or demand have changed, while it was being saved (docs/protocol.md, Plans). */

type Reported = Held & Pick<Bodies, "reports">;

/** By {@link hostKey} the hosts of which a report says something else, or nothing any more, from one to the other. */
export function changedHosts(before: Reported, after: Reported): ReadonlyMap<string, true> {
  const hosts = new Map<string, true>();
  for (const part of ["sets", "separateReports"] as const) {
    for (const name of new Set([...before[part].keys(), ...after[part].keys()])) {
      const was = reportOf(before[part], name);
      const is = reportOf(after[part], name);
      if (was !== is) noteChanged(hosts, textsByHost(before, was), textsByHost(after, is));
    }
  }
  return hosts;
}

function reportOf(entries: SetEntries, name: SetName): Digest | undefined {
  const entry = entries.get(name);
  return entry?.live === true ? entry.report : undefined;
}

function textsByHost({ reports }: Reported, report: Digest | undefined): ReadonlyMap<string, string> {
  const hosts = (report === undefined ? undefined : reports.get(report)) ?? [];
  return new Map(hosts.map((host) => [hostKey(host.hostname), JSON.stringify(host)]));
}

function noteChanged(
  hosts: Map<string, true>,
  was: ReadonlyMap<string, string>,
  is: ReadonlyMap<string, string>,
): void {
  for (const [host, text] of was) if (is.get(host) !== text) hosts.set(host, true);
  for (const host of is.keys()) if (!was.has(host)) hosts.set(host, true);
}

/**
 * The decision without the marks and stops of these nodes; its creates and starts stand. `before` is the ledger that it was made on. The
 * next plan decides again about them.
 */
export function withoutStops(
  decision: Decision,
  before: Ledger,
  concerns: (node: LedgerNode) => boolean,
): Decision {
  const { plan } = decision;
  const dropped = new Set<NodeId>();
  const ledger = new Map(decision.ledger);
  decision.ledger.forEach((node, id) => {
    if (node.draining?.plan !== plan.number || !concerns(node)) return;
    dropped.add(id);
    const { draining: _new, ...rest } = node;
    const earlier = before.get(id)?.draining;
    ledger.set(id, earlier === undefined ? rest : { ...rest, draining: earlier });
  });
  if (dropped.size === 0) return decision;
  return { ledger, plan: planWithout(plan, dropped), record: recordWithout(decision, dropped) };
}

/** The nodes of these hosts. */
export function nodesOf(hosts: ReadonlyMap<string, true>): (node: LedgerNode) => boolean {
  return (node) => entryOfNode(hosts, node) !== undefined;
}

function planWithout(plan: Plan, dropped: ReadonlySet<NodeId>): Plan {
  const unknown: NodeVerdict = { kind: "busyness-unknown" };
  const nodes = [...plan.nodes].map(([id, verdict]) => [id, dropped.has(id) ? unknown : verdict] as const);
  return {
    ...plan,
    terminates: plan.terminates.filter((id) => !dropped.has(id)),
    nodes: new Map(nodes),
  };
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
