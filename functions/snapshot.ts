import type { TimerHandler } from "@azure/functions";
import { PortError } from "../src/app/ports.ts";
import { tickAll } from "../src/app/tick.ts";
import type { Composition } from "../src/compose.ts";
import { compositionFor } from "./composition.ts";
import { sweepPoison } from "./poison.ts";
import type { App } from "../src/app/app.ts";

/**
 * Every minute: look at every cluster, finish what a crash left, expire demand, reap nodes (docs/architecture.md), and deal with what the host
 * gave up on.
 */
export async function handleSnapshot(composed: Composition): Promise<void> {
  // The first tick after a deployment makes the table and the queues; later ones find them.
  await composed.prepare();
  await Promise.all([tickAll(composed.app), sweepPoison(composed), noteTimer(composed.app)]);
}

/** Says that the timer runs. Never throws: the look at the clusters matters more. */
async function noteTimer({ ports: { clock, log, triggers } }: App): Promise<void> {
  try {
    await triggers.noteTimer(clock.now());
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    log("timer-not-noted", { kind: error.kind, message: error.message });
  }
}

export const onTick: TimerHandler = (_timer, context) => handleSnapshot(compositionFor(context));
