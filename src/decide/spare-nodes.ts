import type { Instant } from "../domain/units.ts";
import type { Ledger } from "../domain/ledger.ts";
import type { ClusterRecord } from "../domain/record.ts";
import { NO_QUESTIONS } from "../domain/questions.ts";
import type { Policy } from "../domain/policy.ts";
import type { NodeId } from "../domain/ids.ts";
import type { Node, Snapshot } from "../domain/cluster.ts";
import type { Bodies } from "../domain/bodies.ts";
import { readReports } from "./world/scheduler-only.ts";
import { reportedHosts } from "./world/reported-hosts.ts";
import { dynamicsOf } from "./world/dynamic-arrays.ts";
import { bindReported } from "./world/bind-reported.ts";
import { heldNodes } from "./stops/held.ts";
import { poolsInForce } from "./senders/owned-pools.ts";
import { admitDemands } from "./senders/admit.ts";
import { excludedNodes } from "./nodes/excluded.ts";
import { doubtedNodes } from "./nodes/doubt.ts";
import { supplyOf } from "./need/weigh.ts";
import type { Spare } from "./need/spare.ts";
import { findSpare } from "./need/spare.ts";
import { premisesOf } from "./need/recall.ts";
import { stoppingNodes } from "./intents/open-intents.ts";
import type { Recalls } from "./recalls.ts";

export const NEEDED_BY = "needed by ";

/** Of the reason why a node stays, what the node itself is told: not whose demand it serves. `explain node` says that. */
export function toldOf(why: string): string {
  return why.startsWith(NEEDED_BY) ? `${NEEDED_BY}demand` : why;
}

interface Weighed {
  readonly spare: ReadonlySet<NodeId>;
  /** Askers of which nothing can be told, and why. */
  readonly unknown: Spare["unknown"];
  readonly why: (node: NodeId) => string;
}

/**
 * Which askers the demand can do without: in the whole plan, and also when only Ready nodes count as substitutes. `unfit` nodes go in any
 * case, so that they are nobody's substitute.
 */
export function spareNodes(
  record: ClusterRecord,
  bodies: Bodies,
  { askers, unfit }: Readonly<Record<"askers" | "unfit", ReadonlySet<NodeId>>>,
  policy: Policy,
  now: Instant,
  recall: Recalls,
): Weighed {
  if (bodies.seen === undefined || askers.size === 0)
    return { spare: askers, unknown: new Map(), why: () => "needed" };
  const { demands: sent } = admitDemands(record, bodies, policy);
  // The askers' own marks, from the first of the two commits, must not hide them: they are weighed again, and with the same outcome while
  // nothing else has changed.
  const ledger = withoutMarks(bodies.ledger, askers);
  const snapshot = withUp(bodies.seen, askers);
  const out = excludedNodes(snapshot, ledger, stoppingNodes(record.intents), policy, now);
  const held = heldNodes(snapshot, ledger, bodies.questions ?? NO_QUESTIONS, policy, now, askers);
  const dynamics = dynamicsOf(sent, record.dynamicArrays ?? [], bodies.seen);
  const reports = readReports(
    reportedHosts(record, bodies, now, policy.senders),
    { snapshot, ledger, dynamics: dynamics.keys() },
    sent,
  );
  const demands = bindReported(sent, reports);
  const supply = supplyOf(record, {
    snapshot,
    ledger,
    policy,
    pools: poolsInForce(record, bodies, policy.senders),
    dynamics,
    ...(reports === undefined ? {} : { reports }),
    excluded: new Set([...out, ...held.closed, ...unfit]),
    full: held.full,
    doubted: doubtedNodes(record, snapshot, ledger, policy, now),
    now,
  });
  const premises = premisesOf(record, supply);
  const question = { askers, excluded: supply.excluded };
  const { spare, needed, unknown } = recall.stops.answer(premises, question, (asked) => {
    const present = recall.plans.known(premises, { excluded: asked.excluded, last: undefined });
    return findSpare({ ...supply, excluded: asked.excluded }, demands, asked.askers, now, present);
  });
  return {
    spare,
    unknown,
    why: (node) => {
      const by = needed.get(node);
      return by === undefined ? "needed until other nodes are Ready" : `${NEEDED_BY}${by.join(", ")}`;
    },
  };
}

/** A node that asks is up, whatever it was at the last observation: only other nodes that are up may stand in for it. */
function withUp(seen: Snapshot, askers: ReadonlySet<NodeId>): Snapshot {
  const isBehind = ({ nodeId, phase }: Node): boolean =>
    (phase === "coming" || phase === "deallocated" || phase === "unknown") && askers.has(nodeId);
  if (!seen.nodes.some(isBehind)) return seen;
  return { ...seen, nodes: seen.nodes.map((node) => (isBehind(node) ? { ...node, phase: "ready" } : node)) };
}

function withoutMarks(ledger: Ledger, nodes: ReadonlySet<NodeId>): Ledger {
  const marked = [...nodes]
    .flatMap((id) => ledger.get(id) ?? [])
    .filter(({ draining }) => draining !== undefined);
  if (marked.length === 0) return ledger;
  const next = new Map(ledger);
  for (const { draining: _gone, ...node } of marked) next.set(node.nodeId, node);
  return next;
}

export function without<T>(all: ReadonlySet<T>, some: ReadonlySet<T>): ReadonlySet<T> {
  return new Set([...all].filter((item) => !some.has(item)));
}
