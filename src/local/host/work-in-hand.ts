/** Work in progress. A host waits for it before it stops. */
export type WorkInHand = {
  /** Tracks `work` until it succeeds or fails. Returns it. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Resolves when no work is in progress. */
  finish(): Promise<void>;
};

export function createWorkInHand(): WorkInHand {
  const pending = new Set<Promise<unknown>>();
  return {
    track(work) {
      const ended: Promise<unknown> = work.then(
        () => pending.delete(ended),
        () => pending.delete(ended),
      );
      pending.add(ended);
      return work;
    },
    async finish() {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}
