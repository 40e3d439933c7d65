import type { Snapshot } from "../domain/cluster.ts";
import type { ArrayName, ClusterName, Epoch, SetName } from "../domain/ids.ts";
import type { ClusterRecord } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import { plusSeconds } from "../domain/units.ts";
import { REST_SECONDS } from "./outage.ts";

/** How a record goes on when a part of what it knew is lost. */
export interface NewEpoch {
  /** Random and new: no request id of the new epoch is one of an earlier epoch. */
  readonly epoch: Epoch;
  /** Sets whose demand is lost: scale-down rests until each has been pushed again. Empty: nobody knows which, and it rests its full time. */
  readonly awaiting: readonly SetName[];
  /** The record was set back to an earlier state. */
  readonly setBack?: {
    /** The highest plan number known of the state that is lost: the next plans count on from there. */
    readonly plan: number;
  };
}

/** A create that the lost state has sent shows in a status after so long: a status may be 30 s old, and a call takes its time. */
const CREATES_WAIT_SECONDS = 60;

/**
 * The record under a new epoch. Sets, intents and what is in flight stay. Scale-down rests, and for a while nobody is told to take work
 * again (`epochAt`): stops that this record knows nothing of may be under way. A record that was set back also waits with creates, if the
 * cluster has nodes (`createsFrom`).
 */
export function beginEpoch(
  record: ClusterRecord,
  { epoch, awaiting, setBack }: NewEpoch,
  now: Instant,
): ClusterRecord {
  const outage = { from: now, to: now, until: plusSeconds(now, REST_SECONDS), awaiting };
  const next: ClusterRecord = { ...record, epoch, epochAt: now, outage };
  if (setBack === undefined) return next;
  const plan = Math.max(record.plan, setBack.plan);
  return { ...next, plan, createsFrom: plusSeconds(now, CREATES_WAIT_SECONDS) };
}

/** The record of a cluster of which nothing is stored. It may be new, or its table may be lost. */
export function bornRecord(cluster: ClusterName, epoch: Epoch, now: Instant): ClusterRecord {
  return {
    separateReports: new Map(),
    separatePools: new Map(),
    cluster,
    epoch,
    epochAt: now,
    createsFrom: plusSeconds(now, CREATES_WAIT_SECONDS),
    plan: 0,
    generation: 0,
    observedGeneration: 0,
    sets: new Map(),
    intents: [],
    inFlight: [],
    backoffs: [],
    rejections: [],
    totals: { created: 0, terminated: 0 },
  };
}

/**
 * The record with `createsFrom` only while creates have to wait: nodes that the first look of an epoch shows are a sign that creates of an
 * earlier state may be under way. `before` is the record as it was before this look.
 */
export function withCreatesWait(
  record: ClusterRecord,
  before: ClusterRecord,
  snapshot: Snapshot,
  managed: ReadonlySet<ArrayName>,
  now: Instant,
): ClusterRecord {
  const { createsFrom, ...rest } = record;
  if (createsFrom === undefined) return record;
  const { epochAt = now, lastGoodLookAt } = before;
  const isFirst = lastGoodLookAt === undefined || lastGoodLookAt < epochAt;
  const hasNodes = snapshot.nodes.some(({ array, phase }) => managed.has(array) && phase !== "off");
  return now >= createsFrom || (isFirst && !hasNodes) ? rest : record;
}
