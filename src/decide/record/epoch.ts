import type { Snapshot } from "../../domain/cluster.ts";
import type { ArrayName, ClusterName, Epoch, SetName } from "../../domain/ids.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Outage } from "../../domain/troubles.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import { REST_SECONDS } from "../pace/outage.ts";

/** How a record goes on when a part of what it knew is lost. */
export interface NewEpoch {
  /** Random and new: no request id of the new epoch is one of an earlier epoch. */
  readonly epoch: Epoch;
  /** Sets whose demand is lost: scale-down rests until each has been pushed again. Empty: nobody knows which, and it rests its full time. */
  readonly awaiting: readonly SetName[];
}

/** A record whose scale-down rests. */
type Resting = ClusterRecord & { readonly outage: Outage };

/** A create that the lost state has sent shows in a status after so long, unless the cluster's lag says that it takes longer. */
const CREATES_WAIT_SECONDS: Seconds = 60;
/** Beyond the lag of a status: a call takes its time. */
const CREATE_CALL_SECONDS: Seconds = 30;

/**
 * The record under a new epoch. Sets, intents and what is in flight stay. Scale-down rests, and for a while nobody is told to take work
 * again (`epochAt`): stops that this record knows nothing of may be under way.
 */
export function beginEpoch(record: ClusterRecord, { epoch, awaiting }: NewEpoch, now: Instant): Resting {
  const outage = { from: now, to: now, until: plusSeconds(now, REST_SECONDS), awaiting };
  return { ...record, epoch, epochAt: now, outage };
}

/** A record that was set back to an earlier state. */
export interface SetBack {
  readonly epoch: Epoch;
  /** The highest plan number known of the state that is lost: the next plans count on from there. */
  readonly plan: number;
}

/**
 * The record under a new epoch. The lost state may have had sets that this one does not know, so the rest lasts its full time. It may have
 * sent creates, too: if the cluster has nodes, creates wait (`createsFrom`).
 */
export function beginEpochSetBack(
  record: ClusterRecord,
  { epoch, plan }: SetBack,
  now: Instant,
): Resting & { readonly createsFrom: Instant } {
  const next = beginEpoch(record, { epoch, awaiting: [] }, now);
  const createsFrom = plusSeconds(now, CREATES_WAIT_SECONDS);
  return { ...next, plan: Math.max(record.plan, plan), createsFrom };
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
 * The record with `createsFrom` only while creates have to wait: nodes that the first observation of an epoch shows are a sign that creates of an
 * earlier state may be under way. `before` is the record as it was before this observation.
 */
export function withCreatesWait(
  record: ClusterRecord,
  before: ClusterRecord,
  snapshot: Snapshot,
  { managed, lagSeconds }: { readonly managed: ReadonlySet<ArrayName>; readonly lagSeconds: Seconds },
  now: Instant,
): ClusterRecord {
  const { createsFrom, ...rest } = record;
  if (createsFrom === undefined) return record;
  const { epochAt = now, lastGoodLookAt } = before;
  const isFirst = lastGoodLookAt === undefined || lastGoodLookAt < epochAt;
  const hasNodes = snapshot.nodes.some(({ array, phase }) => managed.has(array) && phase !== "off");
  const shown = plusSeconds(epochAt, lagSeconds + CREATE_CALL_SECONDS);
  const from = createsFrom > shown ? createsFrom : shown;
  return now >= from || (isFirst && !hasNodes) ? rest : { ...rest, createsFrom: from };
}
