/** What the judge counts; the names of those that must be 0 are in report.ts. */
export interface Verdict {
  /** Nodes created although those there already met the most that was asked since the plan was committed. */
  readonly overshoot: number;
  /** Nodes stopped that were needed, or busy, at the last look after their mark. */
  readonly stoppedNeeded: number;
  /** Nodes missing at the end of the quiet time, although limits allow them. */
  readonly shortAfterResync: number;
  /** Creates that asked for more than a limit had left. */
  readonly limitsExceeded: number;
  /** Looks reserved beyond what a minute may have. */
  readonly looksTooSoon: number;
  /** A set that went back to an older revision. */
  readonly revisionsLost: number;
  /** Status calls beyond what a minute may have. */
  readonly statusCallsTooMany: number;
  /** Intents older than 15 minutes. */
  readonly oldIntents: number;
  /** Steady demand that was not created, or not Ready, in time. */
  readonly waited: number;
  readonly late: number;
  /** 200 for a node that CycleCloud has not been asked to stop; `undrain` for one that it has, or is about to be. */
  readonly wrongYes: number;
  readonly wrongUndrain: number;
  /** Nodes stopped after their script had opened them. */
  readonly stoppedOpen: number;
  /** Nodes made again without a pause, though none of them becomes Ready. */
  readonly unbraked: number;
  /** Stops that were due and were not granted. */
  readonly neverGranted: number;
  /** Busy nodes stopped none of whose questions reached a host for minutes, while reports did; no violation, a measure. */
  readonly unreachedStopped: number;
  /** How often CycleCloud was asked for its status; no violation, a measure. */
  readonly statusReads: number;
  readonly nodesCreated: number;
  readonly nodesStarted: number;
  readonly readyNodesStopped: number;
}

export const NOTHING: Verdict = {
  overshoot: 0,
  stoppedNeeded: 0,
  shortAfterResync: 0,
  limitsExceeded: 0,
  looksTooSoon: 0,
  revisionsLost: 0,
  statusCallsTooMany: 0,
  oldIntents: 0,
  waited: 0,
  late: 0,
  wrongYes: 0,
  wrongUndrain: 0,
  stoppedOpen: 0,
  unbraked: 0,
  neverGranted: 0,
  unreachedStopped: 0,
  statusReads: 0,
  nodesCreated: 0,
  nodesStarted: 0,
  readyNodesStopped: 0,
};

/** A verdict while it is being counted. */
export type Tally = { -readonly [K in keyof Verdict]: number };

/** Counts violations of one kind, and writes why into the trace. */
export type Violate = (kind: keyof Verdict, count: number, words: string) => void;
