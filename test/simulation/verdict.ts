/** The counts of the judge. Those that must be 0 are named in report.ts. */
export interface Verdict {
  /** Nodes that were created although the existing ones met the largest demand since the plan was committed. */
  readonly overshoot: number;
  /** Nodes that were stopped although they were needed, or busy at the last report after their mark. */
  readonly stoppedNeeded: number;
  /** Nodes that are missing at the end of the quiet time, although limits allow them. */
  readonly shortAfterResync: number;
  /** Creates that asked for more than a limit had left. */
  readonly limitsExceeded: number;
  /** Observations that were reserved beyond the limit of a minute. */
  readonly looksTooSoon: number;
  /** A set that went back to an older revision. */
  readonly revisionsLost: number;
  /** Status calls beyond the limit of a minute. */
  readonly statusCallsTooMany: number;
  /** Intents older than 15 minutes. */
  readonly oldIntents: number;
  /** Steady demand whose nodes were not created, or not Ready, in time. */
  readonly waited: number;
  readonly late: number;
  /** Answers 200 to a node that CycleCloud was not asked to stop. Answers with `undrain` to a node that is being stopped or is about to be. */
  readonly wrongYes: number;
  readonly wrongUndrain: number;
  /** Nodes that were stopped after their script had opened them. */
  readonly stoppedOpen: number;
  /** Nodes that were created again without a pause, although none of them becomes Ready. */
  readonly unbraked: number;
  /** Stops that were due and were not granted. */
  readonly neverGranted: number;
  /** Nodes that were stopped while they booted, before their boot timeout. */
  readonly endedBooting: number;
  /** Stops and creates that were sent too late after their commit, or stops that were sent twice. */
  readonly wrongSend: number;
  /** Nodes that were created although a deallocated one would have done. */
  readonly besideStopped: number;
  /** Deallocated nodes that neither ended nor started in time. */
  readonly keptTooLong: number;
  /** Deallocated nodes that ended before their time, though quota was left. */
  readonly endedInVain: number;
  /** Named nodes that are there at the end of the quiet time, although no set names them. */
  readonly leftBehind: number;
  /** What CycleCloud held for over 15 minutes, in nodes: stopped after they had opened, or made twice. A measure, not a violation. */
  readonly heldTooLong: number;
  /** How often CycleCloud, and a process, stood still. Measures, not violations, and so are those that follow. */
  readonly standstills: number;
  readonly freezes: number;
  /** Questions and messages that waited in front of a host. */
  readonly queued: number;
  /** Calls over a link that was cut. */
  readonly cutOff: number;
  /** Calls with an old secret. */
  readonly refused: number;
  /** Busy nodes that were stopped while none of their questions reached a host for minutes, but reports did. A measure, not a violation. */
  readonly unreachedStopped: number;
  /** Busy nodes whose stop CycleCloud held while no answer came back to them for minutes. A measure, not a violation. */
  readonly unheardStopped: number;
  /** How often CycleCloud was asked for its status. A measure, not a violation. */
  readonly statusReads: number;
  readonly nodesCreated: number;
  readonly nodesStarted: number;
  readonly readyNodesStopped: number;
  /** Deallocated nodes that ended, because their time was over or for their quota. */
  readonly keptEnded: number;
  readonly endedForQuota: number;
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
  endedBooting: 0,
  wrongSend: 0,
  besideStopped: 0,
  keptTooLong: 0,
  endedInVain: 0,
  leftBehind: 0,
  heldTooLong: 0,
  standstills: 0,
  freezes: 0,
  queued: 0,
  cutOff: 0,
  refused: 0,
  unreachedStopped: 0,
  unheardStopped: 0,
  statusReads: 0,
  nodesCreated: 0,
  nodesStarted: 0,
  readyNodesStopped: 0,
  keptEnded: 0,
  endedForQuota: 0,
};

/** Weather that stands still, by how often it came. */
export type Met = "standstills" | "freezes" | "queued" | "cutOff" | "refused";

/** A verdict while it is being counted. */
export type Tally = { -readonly [K in keyof Verdict]: number };

/** Counts violations of one kind, and writes why into the trace. */
export type Violate = (kind: keyof Verdict, count: number, words: string) => void;
