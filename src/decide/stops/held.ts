import type { Snapshot } from "../../domain/cluster.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Questions } from "../../domain/questions.ts";
import { unhealthyNow } from "../../domain/questions.ts";
import type { Ledger } from "../../domain/ledger.ts";
import { compareText } from "../../domain/text.ts";
import type { Instant } from "../../domain/units.ts";
import { ReplaceRoom, uselessNodes } from "../nodes/doubt.ts";

/** Nodes that call themselves unhealthy and stay. They take no more jobs (docs/nodes.md). */
interface HeldNodes {
  /** Nodes without a job. They are no capacity. */
  readonly closed: ReadonlySet<NodeId>;
  /** Nodes that keep their jobs and take no others. */
  readonly full: ReadonlySet<NodeId>;
}

const NONE: HeldNodes = { closed: new Set(), full: new Set() };

/**
 * The nodes of an observation that are held, except `askers`, which ask whether they may stop. Any holder of a stop URL can call each node of
 * its array unhealthy. So these nodes and those that are replaced (nodes/doubt.ts) share one limit: a tenth of an array's nodes, or 3 if that is
 * more. Nodes beyond the limit, those that called themselves unhealthy last, count as capacity.
 */
export function heldNodes(
  snapshot: Snapshot,
  ledger: Ledger,
  questions: Questions,
  policy: Policy,
  now: Instant,
  askers: ReadonlySet<NodeId> = NONE.closed,
): HeldNodes {
  const said = [...questions].flatMap(([id, question]) => {
    const unhealthy = askers.has(id) ? undefined : unhealthyNow(question, now);
    const array = unhealthy === undefined ? undefined : ledger.get(id)?.array;
    return unhealthy === undefined || array === undefined ? [] : [{ id, array, ...unhealthy }];
  });
  if (said.length === 0) return NONE;
  const up = new Set(snapshot.nodes.flatMap(({ nodeId, phase }) => (phase === "ready" ? [nodeId] : [])));
  const room = roomLeft(snapshot, ledger, policy, now);
  const closed = new Set<NodeId>();
  const full = new Set<NodeId>();
  for (const { id, array, held } of said.toSorted((a, b) => a.since - b.since || compareText(a.id, b.id))) {
    if (!up.has(id) || !room.take(array, ledger.get(id))) continue;
    (held === "job" ? full : closed).add(id);
  }
  return { closed, full };
}

/** How many nodes of each array may still be held. */
function roomLeft(snapshot: Snapshot, ledger: Ledger, policy: Policy, now: Instant): ReplaceRoom {
  const room = new ReplaceRoom(snapshot, ledger, policy);
  const replaced = new Set(uselessNodes(snapshot, ledger, policy, now).replaced);
  for (const { nodeId, array } of snapshot.nodes) {
    if (replaced.has(nodeId)) room.take(array, ledger.get(nodeId));
  }
  return room;
}
