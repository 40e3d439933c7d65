import { isDeepStrictEqual } from "node:util";
import type { Outcome } from "./outcome.ts";
import { readOutcome } from "./outcome.ts";
import type { Crash } from "./scene.ts";
import { Scene } from "./scene.ts";
import type { Asker, UseCase } from "./use-cases.ts";

/** What came of one run. */
export interface Run {
  readonly died: boolean;
  /** The port calls of the use case, as far as it came. */
  readonly calls: readonly string[];
  readonly outcome: Outcome;
  /** The lines of the hosts, for finding the cause. */
  readonly lines: readonly string[];
}

/** Leases (60 s) and the time in which an intent may be sent (120 s) have passed: only now do accepted nodes begin to show. */
const UNSEEN_MS = 130_000;
/** And a tick has seen them. */
const LONG_ENOUGH_MS = 200_000;

/** Plays one use case with a crash in it, or none; restarts; lets everything come to rest; and says how it ended. */
export async function runCrash(useCase: UseCase, crash?: Crash): Promise<Run> {
  const { speed, still, origin } = useCase.scene;
  const scene = await Scene.open({ speed, still, origin: origin(Date.now()), crash });
  try {
    const asker = await useCase.prepare(scene);
    await scene.arm();
    const died = await dieOf(scene, useCase, asker, crash);
    const calls = scene.calls();
    await scene.restart();
    const restartedAt = scene.now();
    await Promise.all([useCase.recover(scene, asker), thawAt(scene, restartedAt + UNSEEN_MS)]);
    await scene.sleepUntil(restartedAt + LONG_ENOUGH_MS);
    await restOf(scene);
    return { died, calls, outcome: await lastOutcome(scene, asker, useCase.outcome), lines: scene.lines };
  } finally {
    await scene.system.close();
  }
}

/**
 * Does the use case once. If the process is to die at a call by its name and has not, up to three times more: on a busy machine an observation
 * can get too old to act on, and then that call comes with the next time.
 */
async function dieOf(
  scene: Scene,
  useCase: UseCase,
  asker: Asker | undefined,
  crash: Crash | undefined,
): Promise<boolean> {
  const tries = typeof crash?.at === "string" ? 4 : 1;
  for (let left = tries; left > 0; left -= 1) {
    if (await scene.diesOf(() => useCase.act(scene, asker))) return true;
    // What the use case has begun may go on in it, and then the process dies here.
    if (left > 1 && (await scene.diesOf(() => useCase.meanwhile(scene)))) return true;
  }
  return false;
}

async function thawAt(scene: Scene, moment: number): Promise<void> {
  await scene.sleepUntil(moment);
  scene.system.simulator.faults.thawLag();
}

/** The outcome as it should be, or what it is in the end: a tick may be under way while it is read. */
async function lastOutcome(scene: Scene, asker: Asker | undefined, expected: Outcome): Promise<Outcome> {
  let outcome = await readOutcome(scene, asker?.nodeId);
  const isExpected = async () => {
    if (isDeepStrictEqual(outcome, expected)) return true;
    outcome = await readOutcome(scene, asker?.nodeId);
    return false;
  };
  await scene.until("the outcome is as expected", isExpected).catch(() => undefined);
  return outcome;
}

/** Waits until no message is left, all demand has been planned for and nothing is under way; if that never comes, the outcome shows it. */
async function restOf(scene: Scene): Promise<void> {
  const isAtRest = async () => {
    const { intents, inFlight, generation, observedGeneration } = await scene.state();
    const isPlanned = observedGeneration === generation && intents.length + inFlight.length === 0;
    // One message is the next tick's.
    return isPlanned && (await scene.messages("demand")) <= 1;
  };
  await scene.until("everything rests", isAtRest).catch(() => undefined);
}
