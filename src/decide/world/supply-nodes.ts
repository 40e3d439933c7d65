import { unknownNodes } from "../../domain/unlisted.ts";
import type { InFlight } from "../../domain/record.ts";
import type { LedgerNode } from "../../domain/ledger.ts";
import { stillInFlight } from "../../domain/record.ts";
import { sameMachineType } from "../../domain/ids.ts";
import type { Node, NodePhase } from "../../domain/cluster.ts";
import type { Purpose } from "../../domain/bucket.ts";
import { dynamicArrayOf } from "../../domain/bucket.ts";
import { spotIn } from "../../domain/attributes.ts";
import type { BucketOffer, InFlightSupply, SupplyNode, World } from "../../domain/world.ts";
import type { WorldInput } from "./world-input.ts";
import type { ReportedSupply } from "./reported-supply.ts";
import { nothingLeft } from "./host-view.ts";
import type { ClusterBucket, ClusterBuckets, NodeTimes } from "./cluster-buckets.ts";
import { coresOf, NO_TIMES } from "./cluster-buckets.ts";
import { timeoutsOf } from "../../domain/timeouts.ts";
import type { Instant } from "../../domain/units.ts";
import { isoTime, secondsBetween } from "../../domain/units.ts";
import { bootingSince, isStarting, mayBeStarted } from "../intents/node-starts.ts";
import type { NodeStanding } from "../../domain/node-standing.ts";
import { isCapacity, isUp, standingIn } from "../../domain/node-standing.ts";
import { isOpposite, sum } from "./ceilings.ts";

/** Whether a node has a VM, may get one or may still have one. Then it counts against limits (cyclecloud-wire.md A.3, semantics 3). */
function countsAgainstLimits(phase: NodePhase): boolean {
  return phase !== "off" && phase !== "deallocated";
}

/** The existing nodes that are capacity. Counts all nodes in their buckets. */
export function collectNodes(
  input: WorldInput,
  arrays: World["arrays"],
  clusterBuckets: ClusterBuckets,
  reported: ReportedSupply,
): readonly SupplyNode[] {
  const supply: SupplyNode[] = [];
  input.snapshot.nodes.forEach((node) => {
    const known = input.ledger.get(node.nodeId);
    const starting = node.phase === "deallocated" && isStarting(known);
    const startable = mayBeStarted(node, known);
    // A node that is off may still use a quota. A status that lacks the node does not count it.
    const lost = node.missing !== undefined && node.missing.named !== true && node.phase !== "off";
    if (!countsAgainstLimits(node.phase) && !starting && !startable && !lost) return;
    const clusterBucket = clusterBuckets.at(node.array, node.machineType, node.placementGroup);
    const uncounted = starting || lost;
    if (countsAgainstLimits(node.phase) && !uncounted) {
      clusterBucket.nodes += 1;
      clusterBucket.nodeCores += coresOf(node, clusterBucket);
    } else if (uncounted) {
      // Like a node that was requested and that no status shows yet: it is unknown whether CycleCloud counts it.
      clusterBucket.waiting += 1;
      if (node.spot !== undefined)
        clusterBucket.waitingOpposite += isOpposite(clusterBucket, { spot: node.spot });
    }
    const standing = standingIn(input.standings, node.nodeId);
    if (!isCapacity(standing) || arrays.get(node.array) !== "managed" || input.excluded.has(node.nodeId))
      return;
    const dynamic = dynamicArrayOf(known?.purpose);
    const home =
      dynamic === undefined
        ? clusterBucket
        : clusterBuckets.at(dynamic, clusterBucket.bucket.machineType, node.placementGroup);
    const plain = supplyNode(node, known, standing, home, clusterBuckets, input);
    const fromReport = reported.of(plain);
    const one = fromReport === undefined ? plain : { ...plain, ...fromReport };
    supply.push(standing.full === true ? { ...one, left: nothingLeft(one.resources) } : one);
  });
  return supply;
}

const forArray: Purpose = { kind: "array" };

function supplyNode(
  node: Node,
  known: LedgerNode | undefined,
  standing: NodeStanding,
  clusterBucket: ClusterBucket,
  clusterBuckets: ClusterBuckets,
  input: WorldInput,
): SupplyNode {
  const starts = node.phase === "deallocated" && isStarting(known);
  const times = (): NodeTimes => timesOf(node, known, input);
  const supply: { -readonly [K in keyof SupplyNode]: SupplyNode[K] } = {
    nodeId: node.nodeId,
    name: node.name,
    bucket: clusterBucket.bucket,
    purpose: known?.purpose ?? forArray,
    resources: clusterBuckets.resources(node, clusterBucket, times),
    properties: () => clusterBuckets.view(node, clusterBucket, times).properties,
    cores: coresOf(node, clusterBucket),
    order:
      known?.start !== undefined && starts
        ? (known.start.plannedAt ?? known.start.since)
        : input.order(node, known),
    ready: isUp(standing),
  };
  // Assigned one by one, because spreads would cost more than all the rest: there are thousands of nodes.
  if (node.hostname !== undefined) supply.hostname = node.hostname;
  if (mayBeStarted(node, known)) supply.deallocated = true;
  if (starts) supply.starting = true;
  return supply;
}

/** When the node was first observed and last needed, and how long it may still take to boot. A node that jobs may use is not deleted. */
function timesOf(node: Node, known: LedgerNode | undefined, { policy, now }: WorldInput): NodeTimes {
  if (known === undefined) return NO_TIMES;
  const { firstSeenAt, lastNeededAt, firstReadyAt } = known;
  const isBooting = node.phase === "coming" && firstReadyAt === undefined;
  const left = timeoutsOf(policy, known).bootSeconds - secondsBetween(bootingSince(known), now);
  return {
    ...NO_TIMES,
    create_time: timeText(firstSeenAt),
    create_time_unix: unixSeconds(firstSeenAt),
    create_time_remaining: isBooting ? Math.max(0, Math.floor(left)) : null,
    ...(lastNeededAt === undefined
      ? {}
      : { last_match_time: timeText(lastNeededAt), last_match_time_unix: unixSeconds(lastNeededAt) }),
  };
}

const unixSeconds = (at: Instant): number => Math.floor(at / 1000);
/** To the second, as people write it. */
const timeText = (at: Instant): string => `${isoTime(at).slice(0, 19)}Z`;

/**
 * A deallocated node with what its start takes from limits. It still uses its quota (A.5), and the available nodes of its bucket are new ones,
 * so a start takes nothing from these. It takes from the limits of cluster and array, which CycleCloud does not check for a start (A.3,
 * semantics 3). Empty if the limits of its bucket are not known: then it is not started.
 */
export function withStartCharges(
  node: SupplyNode,
  buckets: readonly BucketOffer[],
  limits: World["limits"],
): readonly SupplyNode[] {
  if (node.deallocated !== true) return [node];
  const { array, machineType } = node.bucket;
  const offer = buckets.find(
    ({ bucket }) => bucket.array === array && sameMachineType(bucket.machineType, machineType),
  );
  if (offer === undefined) return [];
  const charges = offer.charges.filter(({ limit }) => {
    const kind = limits[limit]?.id.kind;
    return kind === "nodearray" || kind === "cluster";
  });
  return [{ ...node, charges }];
}

/** The nodes that are coming: in flight, of creates that are not settled, and unknown ones. Counts them in their buckets. */
export function collectInFlight(
  input: WorldInput,
  arrays: World["arrays"],
  clusterBuckets: ClusterBuckets,
): readonly InFlightSupply[] {
  const asked: readonly Asked[] = [
    ...input.inFlight.map((entry) => ({
      ...entry,
      count: stillInFlight(entry),
      order: entry.plannedAt ?? entry.since,
    })),
    ...input.pendingCreates.map((create) => ({
      ...create,
      spot: spotIn(create.attributes),
      order: input.now,
    })),
    ...unknownBeyond(input),
  ];
  return asked
    .filter(({ count }) => count > 0)
    .flatMap(({ bucket, purpose, count, order, spot: said }) => {
      const clusterBucket = clusterBuckets.at(bucket.array, bucket.machineType, bucket.placementGroup);
      clusterBucket.waiting += count;
      const dynamic = dynamicArrayOf(purpose);
      const home =
        dynamic === undefined
          ? clusterBucket
          : clusterBuckets.at(dynamic, clusterBucket.bucket.machineType, bucket.placementGroup);
      const spot = said ?? home.array?.spot ?? false;
      clusterBucket.waitingOpposite += isOpposite(clusterBucket, { spot }) * count;
      if (arrays.get(bucket.array) !== "managed") return [];
      const { available, properties } = clusterBuckets.viewAs(home, { spot });
      const { bucket: where, cores } = home;
      return [
        { bucket: where, purpose, resources: available, properties: () => properties, cores, count, order },
      ];
    });
}

/** Unknown nodes that only their buckets name, minus those that are in flight there. */
function unknownBeyond(input: WorldInput): readonly Asked[] {
  return unknownNodes(input.snapshot, input.ledger).flatMap(({ array, machineType, count }) => {
    const isThere = ({ bucket }: Pick<InFlight, "bucket">): boolean =>
      bucket.array === array && sameMachineType(bucket.machineType, machineType);
    const known =
      sum(input.inFlight.filter(isThere), stillInFlight) +
      sum(input.pendingCreates.filter(isThere), (create) => create.count);
    const bucket = { array, machineType };
    return [{ bucket, purpose: forArray, count: count - known, order: input.now }];
  });
}

/** A number of nodes of a bucket that the status does not list. */
interface Asked extends Pick<InFlight, "bucket" | "purpose"> {
  readonly count: number;
  readonly order: number;
  readonly spot?: boolean | undefined;
}
