import { availableParallelism, loadavg } from "node:os";

/** How many real milliseconds a test waits for what comes at once, except on a busy machine. */
export const PATIENCE_MS = 90_000;

/** How many real milliseconds a test may take: several waits, on a busy machine. */
export const TIMEOUT_MS = 10 * PATIENCE_MS;

const SLOWEST = 2;

/**
 * The speed of a scaled clock: `most`, or less on a busy machine. Many seconds of the app's clock are a time limit for real work: an
 * observation is acted on for 5 s, and a create is sent within 30 s. At 60 times the speed these are 83 and 500 ms, which suffice only if
 * the machine has nothing else to do (docs/decisions.md, "Scaled clocks of tests run slower on a busy machine").
 */
export function paced(most: number): number {
  const [load = 0] = loadavg();
  return Math.max(SLOWEST, Math.round(most / Math.max(1, load / availableParallelism())));
}
