import type { BucketKey } from "../../domain/bucket.ts";
import { bucketOf, bucketText } from "../../domain/bucket.ts";
import type { Node } from "../../domain/cluster.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { InFlight, ClusterRecord, Observation } from "../../domain/record.ts";
import type { Ledger } from "../../domain/ledger.ts";
import { stillInFlight } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { nodeNameOf } from "../intents/named-requests.ts";
import { patienceSeconds } from "../pace/calls.ts";

/** For this long the list of a request's nodes may be unavailable. */
const UNLISTED_SECONDS: Seconds = 120;

/**
 * Assigns nodes to requests in flight without CycleCloud's list of the request's nodes, if that could not be read for two minutes plus the
 * duration of the calls. It takes nodes of the same bucket that came after the plan of the request and belong to no other request. Otherwise
 * existing nodes would also count as in flight for up to 15 minutes, for each request again (docs/protocol.md, Slow calls). The list is still
 * asked for: see {@link InFlight.presumedAt}.
 */
export function presumeShown(
  record: ClusterRecord,
  ledger: Ledger,
  observation: Observation,
  now: Instant,
): ClusterRecord {
  const limit = UNLISTED_SECONDS + patienceSeconds(record);
  const isUnlisted = ({ requestId, since }: InFlight): boolean => {
    const asked = observation.requestNodes.get(requestId)?.askedAt ?? since;
    return secondsBetween(asked, now) > limit && secondsBetween(since, now) > limit;
  };
  if (!record.inFlight.some(isUnlisted)) return record;
  const explained = new Set<NodeId>([
    ...record.inFlight.flatMap(({ seen }) => seen),
    ...[...observation.requestNodes.values()].flatMap(({ nodes }) => nodes.map(({ nodeId }) => nodeId)),
  ]);
  const free = observation.snapshot.nodes.filter(
    ({ nodeId }) => !explained.has(nodeId) && ledger.get(nodeId)?.requestId === undefined,
  );
  const inFlight = record.inFlight.map((entry) => {
    if (!isUnlisted(entry)) return entry;
    const shown = takeNodes(free, entry, ledger);
    return shown.length === 0 ? entry : { ...entry, seen: [...entry.seen, ...shown], presumedAt: now };
  });
  return { ...record, inFlight };
}

/** Takes nodes for this request out of `free`. */
function takeNodes(free: Node[], entry: InFlight, ledger: Ledger): readonly NodeId[] {
  const came = (node: Node): boolean =>
    (ledger.get(node.nodeId)?.firstSeenAt ?? entry.since) >= (entry.plannedAt ?? entry.since);
  const places = stillInFlight(entry);
  const taken: NodeId[] = [];
  for (let at = 0; at < free.length && taken.length < places;) {
    const node = free[at];
    const isIts = node !== undefined && (nodeNameOf(entry) ?? node.name) === node.name;
    if (isIts && isSame(bucketOf(node), entry.bucket) && came(node)) {
      taken.push(node.nodeId);
      free.splice(at, 1);
    } else at += 1;
  }
  return taken;
}

function isSame(a: BucketKey, b: BucketKey): boolean {
  return bucketText(a) === bucketText(b);
}
