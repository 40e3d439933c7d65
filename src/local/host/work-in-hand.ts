/** Work that has begun and that a host waits for before it stops. */
export type WorkInHand = {
  /** Counts `work` until it has ended, well or badly, and gives it back. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Resolves when nothing is in hand any more. */
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
