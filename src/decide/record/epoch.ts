import type { Snapshot } from "../../domain/cluster.ts";
import type { ArrayName, ClusterName, Epoch, SetName } from "../../domain/ids.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Outage } from "../../domain/troubles.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import { REST_SECONDS } from "../pace/outage.ts";

/** A new epoch of a record that has lost a part. */
interface NewEpoch {
  /** New and random, so that no request id of an earlier epoch occurs again. */
  readonly epoch: Epoch;
  /** Scale-down pauses until each of these sets has been pushed again. Empty: they are not known, and it pauses for its full time. */
  readonly awaiting: readonly SetName[];
}

/** A record whose scale-down pauses. */
type Resting = ClusterRecord & { readonly outage: Outage };

/** A create that the lost state sent shows in a status after this time, or after the cluster's lag if that is longer. */
const CREATES_WAIT_SECONDS: Seconds = 60;
/** The duration of a create call, in addition to the lag of a status. */
const CREATE_CALL_SECONDS: Seconds = 30;

/**
 * Begins a new epoch. Sets, intents and nodes in flight stay. Scale-down pauses. For a while no node is told to take work again (`epochAt`),
 * because stops may be under way that this record does not know.
 */
export function beginEpoch(record: ClusterRecord, { epoch, awaiting }: NewEpoch, now: Instant): Resting {
  const outage = { from: now, to: now, until: plusSeconds(now, REST_SECONDS), awaiting };
  return { ...record, epoch, epochAt: now, outage };
}

/** A record that was set back to an earlier state. */
interface SetBack {
  readonly epoch: Epoch;
  /** The highest known plan number of the lost state. The next plans continue from there. */
  readonly plan: number;
}

/**
 * Begins a new epoch after the record was restored. The lost state may have had sets that this one does not know, so scale-down pauses for
 * its full time. It may have sent creates, so creates wait if the cluster has nodes (`createsFrom`).
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

/** The first record of a cluster that has none. The cluster may be new, or its table may be lost. */
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
 * Decides whether creates still wait. If the first observation of an epoch shows nodes, an earlier state of the record may have sent creates
 * that do not show yet. So `createsFrom` stays until they must have shown. If it shows none, or the time is over, `createsFrom` is removed.
 * `before`: the record before this observation.
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
  const { epochAt, lastGoodLookAt } = before;
  const isFirst = lastGoodLookAt === undefined || lastGoodLookAt < epochAt;
  const hasNodes = snapshot.nodes.some(({ array, phase }) => managed.has(array) && phase !== "off");
  const shown = plusSeconds(epochAt, lagSeconds + CREATE_CALL_SECONDS);
  const from = createsFrom > shown ? createsFrom : shown;
  return now >= from || (isFirst && !hasNodes) ? rest : { ...rest, createsFrom: from };
}
