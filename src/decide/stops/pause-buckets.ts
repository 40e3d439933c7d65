import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import { lastedAt, LASTS_SECONDS } from "../../domain/ledger.ts";
import type { ClusterRecord, ShortLives } from "../../domain/record.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ArrayName, NodeId } from "../../domain/ids.ts";
import type { Node, Snapshot, NodePhase } from "../../domain/cluster.ts";
import type { Standings } from "../../domain/node-standing.ts";
import { isStopping, isUseless, standingIn } from "../../domain/node-standing.ts";
import type { Reach } from "./reach.ts";
import type { NodeFacts } from "../senders/host-facts.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import { bucketOf, dynamicArrayOf } from "../../domain/bucket.ts";
import type { Plan } from "../../domain/plan.ts";
import type { ExclusiveRules } from "../../domain/exclusive.ts";
import { isOurs } from "../../domain/exclusive.ts";
import { whyGivenUp } from "./scale-down.ts";
import { backOff, pauseKey } from "../intents/back-off.ts";
import { stoppingNodes } from "../intents/stops.ts";

/** What a plan judges nodes by. */
interface Judged {
  /** Nodes whose stop has no known outcome. */
  readonly open: ReadonlySet<NodeId>;
  readonly standings: Standings;
  readonly facts: NodeFacts;
  readonly reach: Reach;
  readonly policy: Policy;
}

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
  { open, standings, facts, reach, policy }: Judged,
  now: Instant,
): ClusterRecord {
  if (!reach.isActing) return record;
  // We create no nodes in observed arrays, so their buckets need no pause.
  const managed = new Set([...reach.managed].filter(reach.acts));
  const removed = pauseRemoved(record, { before: before.seen, snapshot, ledger, open, managed, policy }, now);
  let next = pauseShortLived(
    removed,
    { snapshot, before: before.ledger, ledger, last: before.plan, managed },
    now,
  );
  const resting = record.outage !== undefined;
  snapshot.nodes.forEach((node) => {
    const standing = standingIn(standings, node.nodeId);
    if (!isUseless(standing) || isStopping(standing) || !managed.has(node.array)) return;
    const known = ledger.get(node.nodeId);
    const busy = (facts.get(node.nodeId)?.jobs.length ?? 0) > 0;
    const why = known === undefined ? undefined : whyGivenUp(node, known, standing, { now, busy, resting });
    if (known === undefined || why === undefined) return;
    // CycleCloud itself may wait for capacity without end (cyclecloud-wire.md G).
    next = backOff(next, bucketOf(node), "boot-failed", why, now, dynamicArrayOf(known.purpose));
  });
  return next;
}

/** This number of nodes in a row pauses their bucket, and each further one does too. */
const IN_A_ROW = 3;

interface Around {
  readonly snapshot: Snapshot;
  /** The ledgers before and after this observation. */
  readonly before: Ledger;
  readonly ledger: Ledger;
  /** The last plan. It says which nodes were needed. */
  readonly last: Plan | undefined;
  /** Arrays that are ours and in which the app acts. */
  readonly managed: ReadonlySet<ArrayName>;
}

/**
 * Pauses buckets whose nodes go down soon after they were Ready, while demand needs them (docs/protocol.md, Nodes that are down). Without
 * the pause an image that powers itself off is created and ended for ever (docs/decisions.md, "The pause for nodes that go down is a cause
 * of its own"). Row and pause are forgotten when a node of the bucket has lasted.
 */
function pauseShortLived(record: ClusterRecord, around: Around, now: Instant): ClusterRecord {
  const died = around.snapshot.nodes.flatMap((node) => shortLife(node, around, now) ?? []);
  if (died.length === 0 && record.shortLives === undefined) return record;
  const lasted = lastedSince(record.shortLives ?? [], around, now);
  const rows = new Map(
    (record.shortLives ?? []).flatMap((row) => (lasted.has(pauseKey(row)) ? [] : [[pauseKey(row), row]])),
  );
  const { shortLives: _before, ...rest } = record;
  let next: ClusterRecord = { ...rest, backoffs: withoutLasted(record.backoffs, lasted) };
  for (const { node, dynamic, seconds } of died) {
    const bucket = wholeBucket(node);
    const key = pauseKey({ bucket, dynamic });
    const row = rows.get(key) ?? {
      bucket,
      ...(dynamic === undefined ? {} : { dynamic }),
      since: now,
      count: 0,
    };
    const count = Math.min(IN_A_ROW, row.count + 1);
    rows.set(key, { ...row, count });
    if (count < IN_A_ROW) continue;
    const why = `${node.name} was shown as ${node.status} ${Math.round(seconds)} s after it was Ready, like others before it`;
    next = backOff(next, bucket, "went-down", why, now, dynamic);
  }
  return rows.size === 0 ? next : { ...next, shortLives: [...rows.values()] };
}

interface ShortLife {
  readonly node: Node;
  readonly dynamic: ArrayName | undefined;
  readonly seconds: Seconds;
}

/** The life of a node that this observation is the first to show as shut down, if it was short and the node is needed. */
function shortLife(
  node: Node,
  { before, ledger, last, managed }: Around,
  now: Instant,
): ShortLife | undefined {
  if (node.phase !== "coming" || !managed.has(node.array)) return undefined;
  const known = ledger.get(node.nodeId);
  if (known?.down?.how !== "off" || known.firstReadyAt === undefined) return undefined;
  if (before.get(node.nodeId)?.down !== undefined) return undefined;
  const seconds = secondsBetween(known.firstReadyAt, now);
  const isNeeded = last?.nodes.get(node.nodeId)?.kind === "needed";
  return isNeeded && seconds < LASTS_SECONDS
    ? { node, dynamic: dynamicArrayOf(known.purpose), seconds }
    : undefined;
}

/** Of these buckets, by {@link pauseKey}, those of which a node has lasted since the first of the row went down. */
function lastedSince(
  rows: readonly ShortLives[],
  { snapshot, ledger }: Around,
  now: Instant,
): ReadonlySet<string> {
  const lasted = new Set<string>();
  if (rows.length === 0) return lasted;
  const since = new Map(rows.map((row) => [pauseKey(row), row.since]));
  snapshot.nodes.forEach((node) => {
    const known = ledger.get(node.nodeId);
    const at = known === undefined ? undefined : lastedAt(node, known, now);
    if (known === undefined || at === undefined) return;
    const key = pauseKey({ bucket: wholeBucket(node), dynamic: dynamicArrayOf(known.purpose) });
    const from = since.get(key);
    if (from !== undefined && at > from) lasted.add(key);
  });
  return lasted;
}

/** The image is the same in all placement groups. */
const wholeBucket = ({ array, machineType }: Node): BucketKey => ({ array, machineType });

function withoutLasted(
  backoffs: ClusterRecord["backoffs"],
  lasted: ReadonlySet<string>,
): ClusterRecord["backoffs"] {
  if (lasted.size === 0) return backoffs;
  return backoffs.filter(
    (entry) =>
      entry.cause !== "went-down" || !lasted.has(pauseKey({ bucket: entry.bucket, dynamic: entry.dynamic })),
  );
}

/** For this long a removal is shown as a trouble. */
const REMOVED_SECONDS: Seconds = 3600;

/** The inputs of {@link pauseRemoved}. */
interface Change {
  /** The last believed observation. */
  readonly before: Snapshot | undefined;
  /** The new observation. */
  readonly snapshot: Snapshot;
  /** The ledger after this observation. */
  readonly ledger: Ledger;
  /** Nodes whose stop has no known outcome. */
  readonly open: ReadonlySet<NodeId>;
  /** Arrays that are ours. */
  readonly managed: ReadonlySet<ArrayName>;
  /** The rules by which nodes of these arrays are ours. */
  readonly policy: ExclusiveRules;
}

/**
 * Pauses the buckets of our nodes that were removed before they were Ready, and not by us, as for nodes that fail (docs/protocol.md, Doubt).
 * Without the pause they would be created again with each observation. Nodes of other tools cause no pause.
 */
function pauseRemoved(record: ClusterRecord, change: Change, now: Instant): ClusterRecord {
  const { before, snapshot, ledger, open, managed, policy } = change;
  const coming = (before?.nodes ?? []).filter(({ array, phase }) => isOnWayUp(phase) && managed.has(array));
  if (coming.length === 0) return record;
  const phases = new Map(snapshot.nodes.map(({ nodeId, phase }) => [nodeId, phase]));
  return coming.reduce((next, node) => {
    const known = ledger.get(node.nodeId);
    const phase = phases.get(node.nodeId);
    const isRemoved = phase === undefined || phase === "going" || phase === "off";
    if (known === undefined || !isRemoved || isStoppedByUs(known, open)) return next;
    if (known.firstReadyAt !== undefined || !isOurs(known, policy)) return next;
    return backOff(next, bucketOf(node), "boot-failed", textOf(node), now, dynamicArrayOf(known.purpose));
  }, record);
}

const isOnWayUp = (phase: NodePhase): boolean => phase === "coming" || phase === "unknown";

const textOf = ({ name }: Node): string =>
  `${name} was removed before it was Ready, and not by the autoscaler`;

/** Whether CycleCloud was asked to stop the node, or may have been. */
function isStoppedByUs({ nodeId, draining }: LedgerNode, open: ReadonlySet<NodeId>): boolean {
  return open.has(nodeId) || draining?.sentAt !== undefined || (draining?.attempts ?? 0) > 0;
}

/** Our nodes that went within the last hour and that we did not stop. */
export function removedByOthers(
  { intents }: Pick<ClusterRecord, "intents">,
  ledger: Ledger,
  policy: ExclusiveRules,
  now: Instant,
): readonly LedgerNode[] {
  const open = stoppingNodes(intents);
  return [...ledger.values()].filter(
    (node) =>
      node.goneAt !== undefined &&
      secondsBetween(node.goneAt, now) < REMOVED_SECONDS &&
      isOurs(node, policy) &&
      !isStoppedByUs(node, open),
  );
}
