/** A demand message of the scheduler model: the part of docs/demand.md that it needs. */
export interface SchedulerDemandMessage {
  readonly version: 1;
  readonly cluster: string;
  readonly requestSet: string;
  /** Milliseconds since 1970. */
  readonly revision: number;
  /** Seconds. */
  readonly expirationInterval: number;
  /** Running jobs in the order of their starts, then waiting ones in the order of the queue. */
  readonly jobs: readonly JobReport[];
  readonly schedulerNodes: readonly HostReport[];
}

export interface JobReport {
  readonly name: string;
  readonly constraints: readonly { readonly ncpus: number }[];
  /** Slots of one core, running or not. */
  readonly iterations: number;
  readonly placed?: readonly { readonly hostname: string; readonly iterations: number }[];
}

export interface HostReport {
  readonly hostname: string;
  readonly resources: { readonly ncpus: number };
  readonly available: { readonly ncpus: number };
  readonly jobs: readonly string[];
  readonly state: "open" | "closed";
}

/** Every slot of every job is one core, because a trace contains no other requirements. */
export const oneCore: readonly { readonly ncpus: number }[] = [{ ncpus: 1 }];
