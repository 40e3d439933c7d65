import type { Unread } from "../senders/demands-in-force.ts";
import type { Instant } from "../../domain/units.ts";
import type { Ledger } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Policy } from "../../domain/policy.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { RankedDemand } from "../../domain/demand.ts";
import type { Node, Snapshot } from "../../domain/cluster.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { Spare, Supply } from "../need/spare.ts";
import { findSpare, MAY_NEED } from "../need/spare.ts";
import { asideIn } from "../../domain/request-sets.ts";
import { NO_QUESTIONS } from "../../domain/questions.ts";
import { readReports, bindReported } from "../world/scheduler-only.ts";
import { reportedHosts } from "../world/reported-hosts.ts";
import { dynamicsOf } from "../world/dynamic-arrays.ts";
import { withoutEnded } from "../senders/foreign-claims.ts";
import { factsAndClaims, factsOfNodes } from "../senders/host-facts.ts";
import { poolsInForce } from "../senders/owned-pools.ts";
import { admitDemands } from "../senders/admit.ts";
import { divideNames } from "../nodes/names.ts";
import { standingsOf } from "../nodes/standing.ts";
import { replacedNow } from "../need/replaced.ts";
import { supplyOf } from "../need/weigh.ts";
import { stoppingNodes } from "../intents/stops.ts";

/** How the reason begins if a demand needs the node. */
export const NEEDED_BY = "needed by ";

/** The reason that a node is told why it stays. It hides whose demand needs the node; `explain node` shows that. */
export function toldOf(why: string): string {
  return why.startsWith(NEEDED_BY) ? `${NEEDED_BY}demand` : why;
}

/** Which of the nodes that ask the demand can do without. */
export interface SpareNodes {
  readonly spare: ReadonlySet<NodeId>;
  /** Askers for which this is not known, and why. */
  readonly unknown: Spare["unknown"];
  /** Why an asker is not spare. */
  readonly why: (node: NodeId) => string;
}

/** Nodes that ask. */
interface Asking {
  readonly askers: ReadonlySet<NodeId>;
  /** Nodes that are stopped in any case, so they replace no other node. */
  readonly unfit: ReadonlySet<NodeId>;
  /** Nodes that asked together with them and are told to stay: they are up, too. Absent: none. */
  readonly beside?: ReadonlySet<NodeId>;
}

/** Finds the askers that the demand can do without: in the whole plan, and also if only Ready nodes can replace them. */
export function spareNodes(
  record: ClusterRecord,
  bodies: Bodies,
  asking: Asking,
  policy: Policy,
  now: Instant,
): SpareNodes {
  const { askers } = asking;
  if (bodies.seen === undefined || askers.size === 0)
    return { spare: askers, unknown: new Map(), why: () => "needed" };
  if (asideIn(record, bodies.aside).size > 0) {
    const unknown = new Map([...askers].map((id) => [id, MAY_NEED]));
    return { spare: NO_NODES, unknown, why: () => "needed" };
  }
  const { supply, demands, unread } = worldWithout(record, bodies, bodies.seen, asking, policy, now);
  const { spare, needed, unknown } = findSpare(supply, { demands, unread }, askers, now);
  return {
    spare,
    unknown,
    why: (node) => {
      const by = needed.get(node);
      return by === undefined ? "needed until other nodes are Ready" : `${NEEDED_BY}${by.join(", ")}`;
    },
  };
}

/** The cluster and its demand without the unfit nodes, and with the askers as nodes that are up and not marked. */
function worldWithout(
  record: ClusterRecord,
  bodies: Bodies,
  seen: Snapshot,
  { askers, unfit, beside = NO_NODES }: Asking,
  policy: Policy,
  now: Instant,
): { readonly supply: Supply; readonly demands: readonly RankedDemand[]; readonly unread: Unread } {
  const admitted = admitDemands(record, bodies, policy, now, "plan");
  const { demands: sent, unread } = divideNames(record, admitted, policy.senders);
  // The second check must see the same as the first one, which was made before the askers were marked.
  const ledger = withoutMarks(bodies.ledger, askers);
  const snapshot = withUp(seen, new Set([...askers, ...beside]));
  const { questions = NO_QUESTIONS } = bodies;
  const open = stoppingNodes(record.intents);
  const dynamics = dynamicsOf(sent, record.dynamicArrays ?? [], seen);
  const hosts = reportedHosts(record, bodies, now, policy.senders);
  const reports = readReports(hosts, { snapshot, ledger, dynamics: dynamics.keys() }, sent);
  const { facts: reported, ended } = factsAndClaims(record, bodies, now, policy.senders);
  const facts = factsOfNodes(reported, snapshot.nodes);
  const standings = standingsOf({ snapshot, ledger, open, questions, askers, facts }, policy, now);
  const wanted = { demands: sent, dynamics };
  // A node that asks is idle by its own word.
  const replaced = replacedNow(
    { record, snapshot, ledger, standings, policy, wanted },
    ({ nodeId, busyness }) => askers.has(nodeId) || busyness.state === "idle",
  );
  const supply = supplyOf(record, {
    snapshot,
    ledger,
    policy,
    pools: poolsInForce(record, bodies, policy.senders),
    dynamics,
    ...(reports === undefined ? {} : { reports }),
    standings,
    excluded: new Set([...unfit, ...replaced]),
    now,
  });
  return { supply, demands: bindReported(withoutEnded(sent, ended, policy.senders), reports), unread };
}

const NO_NODES: ReadonlySet<NodeId> = new Set();

/** The observation with these nodes, which ask, as Ready: a node that asks is up, even if the observation did not show that yet. */
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

/** The items of `all` that are not in `some`. */
export function without<T>(all: ReadonlySet<T>, some: ReadonlySet<T>): ReadonlySet<T> {
  return new Set([...all].filter((item) => !some.has(item)));
}
