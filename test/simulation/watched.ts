/** A node, as the judge knows it. */
export interface Watched {
  readonly name: string;
  readonly array: string;
  readonly group: string | undefined;
  /** When it was created, or its VM was last started. */
  createdAt: number;
  /** When that was decided. */
  committedAt: number;
  host: string | undefined;
  /** When it was marked to be stopped, and by what. */
  markedAt: number | undefined;
  markedBy: string | undefined;
  ready: boolean;
  /** When it was Ready first. */
  readyAt: number | undefined;
  /** How many statuses have listed it, and whether one listed it as Ready. */
  shown: number;
  shownAt: number | undefined;
  shownReady: boolean;
  failed: boolean;
  stopped: boolean;
  /** It was stopped by someone other than the autoscaler. */
  stoppedByOthers: boolean;
  gone: boolean;
  goneAt: number | undefined;
  /** When it vanished, or was stopped by someone other than the autoscaler, or by a stop that was held for too long. */
  lostAt: number | undefined;
  /** Switched off, or about to be, and not asked to start since. */
  off: boolean;
  offAt: number;
  busySince: number | undefined;
  /** It asked to stop because it is unfit for work: it may always be stopped. */
  unhealthy: boolean;
  /** When its stop was committed, if it was stopped as unfit. */
  unfitStopAt: number | undefined;
  /** The autoscaler had it deallocated: since when its VM has been off, and what came of it. Undefined: it did not, or it was started since. */
  kept: Kept | undefined;
  /** Times in which the node was about to leave: it asked to stop and was not told to stay, or its stop was committed. */
  readonly leaving: { readonly from: number; until: number }[];
}

/** A node that the autoscaler had deallocated. */
export interface Kept {
  /** Undefined: its VM is not off yet. */
  offAt: number | undefined;
  /** When its start, and its end, was last committed. */
  startAt: number | undefined;
  endAt: number | undefined;
  /** CycleCloud has accepted its end. */
  isEnded: boolean;
}

export function isLive(node: Watched): boolean {
  return !node.failed && isActive(node);
}

/** Whether the node counts against the limits of cluster and array. */
export function isActive(node: Watched): boolean {
  return !node.stopped && !node.gone && !node.off;
}

export function wasLeaving(node: Watched, since: number): boolean {
  return node.leaving.some((span) => span.until > since);
}
