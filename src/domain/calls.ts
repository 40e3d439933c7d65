import type { SetName } from "./ids.ts";
import type { Instant, Seconds } from "./units.ts";

/** The kinds of calls to CycleCloud. Each may be slow or fail independently of the others. `nodes` lists the nodes of one create request. */
export type Endpoint = "status" | "nodes" | "operations" | "create" | "start" | "terminate";

/** The recent speed and failures of CycleCloud's endpoints. An endpoint that answers within a second is not listed. */
export type Calls = Readonly<Partial<Record<Endpoint, EndpointCalls>>>;

/** The recent speed and failures of one endpoint. */
export interface EndpointCalls {
  /** Expected duration of a call. A slower call sets it. A quicker one sets the mean of both. */
  readonly seconds: Seconds;
  /** When the last call ended. */
  readonly at: Instant;
  /** How long the last nine answers took, oldest first. An answer of a second or less before the first listed one is not known. Absent: none. */
  readonly answers?: readonly Seconds[];
  /** Absent: the last call succeeded. */
  readonly failure?: { readonly since: Instant; readonly message: string };
}

/** The token bucket of observations at the moment `at`, which equals `lookedAt` (decide/pace/observation-times.ts). */
export interface ObservationTokens {
  readonly tokens: number;
  readonly at: Instant;
  /** The observations under way, each as the moment when it began, oldest first. Absent: none is under way. */
  readonly underWay?: readonly Instant[];
  /** A set of the sender whose changed demand the last observation was for. Absent: there was none, or there are no rules of senders. */
  readonly servedLast?: SetName;
}

/** Demand that has changed since the last observation began. */
export interface ChangedDemand {
  /** A set whose demand it is: of a sender that the last observation was not for, if there is one. */
  readonly set: SetName;
  readonly isOfAnother: boolean;
}
