import type { ClusterName } from "../../domain/ids.ts";
import type { Instant } from "../../domain/units.ts";

/** A wake message that was requested with an id, and when it came through the queue. */
export interface WakeSeen {
  readonly id: string;
  readonly at: Instant;
}

/**
 * When the triggers last ran, shared by all instances: Azure gives each trigger its own instances, so one process does not know of the
 * others. Proves that the platform calls us, whatever the call found to do.
 */
export interface TriggerLog {
  noteTimer(at: Instant): Promise<void>;
  /** Replaces the last one of the cluster. */
  noteWake(cluster: ClusterName, wake: WakeSeen): Promise<void>;
  /** Undefined if the timer has never run. */
  timerAt(): Promise<Instant | undefined>;
  /** Undefined if no wake message with an id has come through. */
  lastWake(cluster: ClusterName): Promise<WakeSeen | undefined>;
}
