import type { TimerHandler } from "@azure/functions";
import { PortError } from "../src/app/ports/port-error.ts";
import { tickAll } from "../src/app/tick.ts";
import type { Composition } from "../src/compose.ts";
import { compositionFor } from "./answering.ts";
import { sweepPoison } from "./poison.ts";
import type { App } from "../src/app/process/lanes.ts";

/**
 * Every minute: observe every cluster, finish the work of crashed instances, expire demand, stop nodes (docs/architecture.md), and handle
 * messages that the host gave up.
 */
export async function handleSnapshot(composed: Composition): Promise<void> {
  // The first tick after a deployment creates the table and the queues.
  await composed.prepare();
  await Promise.all([tickAll(composed.app), sweepPoison(composed), noteTimer(composed.app)]);
}

/** Records that the timer runs. Never throws: observing the clusters matters more. */
async function noteTimer({ ports: { clock, log, triggers } }: App): Promise<void> {
  try {
    await triggers.noteTimer(clock.now());
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    log("timer-not-noted", { kind: error.kind, message: error.message });
  }
}

export const onTick: TimerHandler = (_timer, context) => handleSnapshot(compositionFor(context));
