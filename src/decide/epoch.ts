import type { Epoch, SetName } from "../domain/ids.ts";
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
