import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";

/**
 * What an instance leaves to the others because it gets no answer from CycleCloud (docs/protocol.md, Instances that are cut off;
 * docs/decisions.md, "Only its own process knows that an instance is cut off").
 */

/** An instance begins no observation for this long after its own had no answer, if another one has observed since. */
const CUT_OFF_SECONDS: Seconds = 120;
/** Nor a stop for this long, unless it observes before. It may have no other call by which to try, and a node that asks again finds others. */
const STOPS_LEFT_SECONDS: Seconds = 600;
/** While no other instance is known to reach CycleCloud, the next observation is left to another instance for this long after our own began. */
const OWN_TURN_SECONDS: Seconds = 30;
/** What is left to other instances is handed on with a wake message that arrives this much later. */
export const HAND_ON_SECONDS: Seconds = 2;

/** The last call of one kind that this process began. It had no answer, or its password was refused. */
export interface SilentCall {
  readonly began: Instant;
  /** Absent: it is under way. */
  readonly ended?: Instant;
}

/** Whether the next observation is left to another instance, after the last status of this process. */
export function leavesObservation(
  record: ClusterRecord,
  silent: SilentCall | undefined,
  now: Instant,
): boolean {
  if (silent === undefined) return false;
  const isTried = secondsBetween(silent.began, now) < OWN_TURN_SECONDS;
  return isTried || isCutOff(record, silent, CUT_OFF_SECONDS, now);
}

/** Whether stops are left to other instances, after the last status or stop of this process. */
export function leavesStop(record: ClusterRecord, silent: SilentCall | undefined, now: Instant): boolean {
  return silent !== undefined && isCutOff(record, silent, STOPS_LEFT_SECONDS, now);
}

/** Whether another instance has observed since our call began: it reaches CycleCloud, and we do not. `seconds`: believed for so long. */
function isCutOff(
  { lastGoodLookAt }: ClusterRecord,
  { began, ended }: SilentCall,
  seconds: Seconds,
  now: Instant,
): boolean {
  if (lastGoodLookAt === undefined || lastGoodLookAt <= began) return false;
  return ended === undefined || secondsBetween(ended, now) < seconds;
}
