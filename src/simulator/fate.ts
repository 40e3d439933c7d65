import type { SimulatorOptions, Timings } from "./options.ts";
import type { Random } from "./random.ts";
import { spreadDuration } from "./random.ts";
import type { Seconds } from "../domain/units.ts";

/** How a node's start ends and how long each phase takes, drawn when the node is created. Times in milliseconds. */
export type Fate = {
  readonly start: "boots" | "never-acquires" | "fails-installation";
  /** The message of a node that never acquires a VM. */
  readonly stuckMessage: string | undefined;
  /** From its acceptance until it shows. */
  readonly lag: number;
  readonly allocate: number;
  readonly acquire: number;
  readonly prepare: number;
  readonly terminate: number;
};

/** The message of a node that waits for its VM. */
export const capacityMessage = "Waiting for capacity";

/** Takes the same number of random draws for every outcome, so that one option does not change the outcomes of later nodes. */
export function drawFate(
  random: Random,
  options: SimulatorOptions,
  timings: Timings,
  mismatch: string | undefined,
): Fate {
  const spread = (seconds: Seconds): number => spreadDuration(random, seconds, timings.jitter);
  const luck = random();
  const neverBoots = options.neverBootShare ?? 0;
  const stuckMessage = mismatch ?? (luck < neverBoots ? capacityMessage : undefined);
  const fails = luck < neverBoots + (options.bootFailureShare ?? 0);
  return {
    start: stuckMessage !== undefined ? "never-acquires" : fails ? "fails-installation" : "boots",
    stuckMessage,
    lag: Math.round(random() * (options.visibilityLagSeconds ?? 0) * 1000),
    allocate: spread(timings.secondsToAllocate),
    acquire: spread(timings.secondsToAcquire),
    prepare: spread(timings.secondsToPrepare),
    terminate: spread(timings.secondsToTerminate),
  };
}

/** Head nodes are up before the simulation begins. */
export const fateOfHeadNode: Fate = {
  start: "boots",
  stuckMessage: undefined,
  lag: 0,
  allocate: 0,
  acquire: 0,
  prepare: 0,
  terminate: 60_000,
};
