import type { Instant } from "../../domain/units.ts";
import type { Ledger } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Policy } from "../../domain/policy.ts";
import { actsOn } from "../../domain/mode.ts";
import { managedArrays } from "../../domain/managed-arrays.ts";
import { InTurn } from "../../domain/in-turn.ts";
import type { ArrayName } from "../../domain/ids.ts";
import { entryOfNode } from "../../domain/hosts.ts";
import type { Node, Snapshot } from "../../domain/cluster.ts";
import { bucketOf, dynamicArrayOf } from "../../domain/bucket.ts";
import { whyGivenUp } from "./scale-down.ts";
import { isActing } from "./reach.ts";
import type { HostFact } from "../senders/host-facts.ts";
import type { Bodies } from "../../domain/bodies.ts";
import { pauseShortLived } from "./short-lives.ts";
import { pauseRemoved } from "../intents/removed.ts";
import { stoppingNodes } from "../intents/open-intents.ts";
import { backOff } from "../intents/back-off.ts";

/**
 * Pauses the buckets of nodes that this plan stops because they never became Ready, of nodes that another tool removed, and of nodes that
 * went down soon after they were Ready. This happens before demand is planned, so that the same plan creates their replacements in other
 * buckets. `before`: what was known before this observation.
 */
export function pauseBuckets(
  record: ClusterRecord,
  before: Pick<Bodies, "seen" | "ledger" | "plan">,
  snapshot: Snapshot,
  ledger: Ledger,
  facts: ReadonlyMap<string, HostFact>,
  policy: Policy,
  now: Instant,
): ClusterRecord {
  if (!isActing(snapshot, policy)) return record;
  // We create no nodes in observed arrays, so their buckets need no pause.
  const managed = new Set([...managedArrays(snapshot, policy)].filter((array) => actsOn(policy, array)));
  const stopping = stoppingNodes(record.intents);
  const entries = new InTurn(ledger);
  const { at } = snapshot;
  const proof: Pick<Snapshot, "early" | "at"> = snapshot.early === true ? { at, early: true } : { at };
  const removed = pauseRemoved(record, { before: before.seen, snapshot, ledger, managed, policy }, now);
  let next = pauseShortLived(
    removed,
    { snapshot, before: before.ledger, ledger, last: before.plan, managed },
    now,
  );
  snapshot.nodes.forEach((node) => {
    const known = entries.get(node.nodeId);
    if (known === undefined || !managed.has(node.array) || stopping.has(node.nodeId)) return;
    if (known.firstReadyAt !== undefined) return;
    const busy = (entryOfNode(facts, node)?.jobs.length ?? 0) > 0;
    const why = whyGivenUp(node, known, {
      ...proof,
      policy,
      now,
      busy,
      resting: record.outage !== undefined,
    });
    if (why === undefined) return;
    next = pauseBucket(next, node, dynamicArrayOf(known.purpose), why, now);
  });
  return next;
}

/** Pauses the bucket of a node that did not boot. CycleCloud itself may wait for capacity without end (cyclecloud-wire.md G). */
function pauseBucket(
  record: ClusterRecord,
  node: Node,
  dynamic: ArrayName | undefined,
  why: string,
  now: Instant,
): ClusterRecord {
  return backOff(record, bucketOf(node), "boot-failed", why, now, dynamic);
}
