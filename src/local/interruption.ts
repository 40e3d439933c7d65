import type { Milliseconds } from "../domain/units.ts";

/** Ctrl-C, or a request to end (SIGTERM), as a signal that loops and waits can check. */
interface Interruption {
  readonly signal: AbortSignal;
  /** Lets the system treat both signals as it always does. */
  forget(): void;
}

/** The terminal signals the process, and npm passes Ctrl-C on to it again. A second signal within this time is the same key press. */
const SAME_KEY_MS: Milliseconds = 1000;
/** The exit code that shells report for a process ended by Ctrl-C. */
export const INTERRUPTED = 130;

/** From now on the first Ctrl-C aborts `signal` and leaves the stopping to us. A later second one ends the process at once. */
export function heedInterrupts(): Interruption {
  const controller = new AbortController();
  let firstAt: number | undefined;
  const heed = () => {
    const now = performance.now();
    firstAt ??= now;
    // Child processes end by themselves when we do, because we hold their stdin.
    if (now - firstAt > SAME_KEY_MS) process.exit(INTERRUPTED);
    controller.abort();
  };
  process.on("SIGINT", heed).on("SIGTERM", heed);
  return {
    signal: controller.signal,
    forget: () => void process.off("SIGINT", heed).off("SIGTERM", heed),
  };
}

/** Resolves when `signal` is aborted. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
