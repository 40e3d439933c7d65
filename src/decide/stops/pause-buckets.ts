import type { Instant, Seconds } from "../../domain/units.ts";
import type { Ledger } from "../../domain/ledger.ts";
import type { ClusterRecord, ShortLives } from "../../domain/record.ts";
import type { Policy } from "../../domain/policy.ts";
import { actsOn } from "../../domain/mode.ts";
import { managedArrays } from "../../domain/managed-arrays.ts";
import type { ArrayName } from "../../domain/ids.ts";
import { entryOfNode } from "../../domain/hosts.ts";
import type { Node, Snapshot } from "../../domain/cluster.ts";
import { bucketOf, dynamicArrayOf } from "../../domain/bucket.ts";
import { whyGivenUp } from "./scale-down.ts";
import { isActing } from "./reach.ts";
import type { HostFact } from "../senders/host-facts.ts";
import type { Bodies } from "../../domain/bodies.ts";
import { pauseRemoved } from "../intents/removed.ts";
import { stoppingNodes } from "../intents/open-intents.ts";
import { backOff, pauseKey } from "../intents/back-off.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import type { Plan } from "../../domain/plan.ts";
import { secondsBetween } from "../../domain/units.ts";
import { lastedAt, LASTS_SECONDS } from "../../domain/ledger.ts";

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
  const { at } = snapshot;
  const proof: Pick<Snapshot, "early" | "at"> = snapshot.early === true ? { at, early: true } : { at };
  const removed = pauseRemoved(record, { before: before.seen, snapshot, ledger, managed, policy }, now);
  let next = pauseShortLived(
    removed,
    { snapshot, before: before.ledger, ledger, last: before.plan, managed },
    now,
  );
  snapshot.nodes.forEach((node) => {
    const known = ledger.get(node.nodeId);
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
export function pauseShortLived(record: ClusterRecord, around: Around, now: Instant): ClusterRecord {
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
