/** What is known of one node. */
export interface Watched {
  readonly array: string;
  readonly group: string | undefined;
  /** When its create was decided. */
  readonly committedAt: number;
  host: string | undefined;
  /** Since when it has been marked to be stopped. */
  markedAt: number | undefined;
  ready: boolean;
  /** How many statuses have listed it, and whether one did as Ready. */
  shown: number;
  shownReady: boolean;
  failed: boolean;
  stopped: boolean;
  /** Somebody else had it stopped. */
  stoppedByOthers: boolean;
  gone: boolean;
  /** When it vanished, or somebody else had it stopped. */
  lostAt: number | undefined;
  /** Switched off, or on its way there, and not asked to start since. */
  off: boolean;
  offAt: number;
  busySince: number | undefined;
  /** Asked to stop because it is unfit: it may always go. */
  unhealthy: boolean;
  /** Times in which the node was about to leave: it asked to stop and was not told to stay, or its stop was committed. */
  readonly leaving: { readonly from: number; until: number }[];
}

export function isLive(node: Watched): boolean {
  return !node.failed && isActive(node);
}

/** Counts against the limits of cluster and array. */
export function isActive(node: Watched): boolean {
  return !node.stopped && !node.gone && !node.off;
}

export function wasLeaving(node: Watched, since: number): boolean {
  return node.leaving.some((span) => span.until > since);
}
