import type { ClusterName } from "../../domain/ids.ts";
import type { CycleCloud } from "./cyclecloud.ts";

/** A cluster of the registry with its own CycleCloud. */
export interface Site {
  readonly cluster: ClusterName;
  readonly cyclecloud: CycleCloud;
  /** Names the account for the credential breaker: server and user, no secret. */
  readonly credential: string;
  /** Absent: unknown, as in a first check without an app. */
  readonly stopKeys?: StopKeys;
}

/** The key ids of stop URLs in the app settings. */
export interface StopKeys {
  /** The key that signs the stop URLs of this process's creates. Absent: creates carry none. */
  readonly signing?: string;
  /** Calls with a stop URL of one of these keys are answered. */
  readonly accepted: readonly string[];
}
