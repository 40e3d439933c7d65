import type { PoisonMessage } from "../src/app/ports.ts";
import { PortError } from "../src/app/ports.ts";
import type { Composition } from "../src/compose.ts";
import { plusSeconds } from "../src/domain/units.ts";
import { handlePoison } from "./poison-message.ts";

/**
 * No message is begun later than this after a sweep began: the timer also has to look at the clusters. In real time: what a hostile message
 * costs is processor time.
 */
const SWEEP_SECONDS = 20;

/** Messages that are taken at a time. */
const AT_A_TIME = 16;

/**
 * Queue `demand-poison`: what the host gave up on. The timer reads it, and no queue trigger does: the Functions library parses a message
 * before a function sees it, and fails on some (thousands of levels of nesting). Such a message would come back until it dies of age, and
 * nobody would see it. Each message is removed only after it was dealt with. Never throws: what storage refuses is tried again later.
 */
export async function sweepPoison(composed: Composition): Promise<void> {
  const { clock, log, queue } = composed.app.ports;
  const end = plusSeconds(clock.now(), SWEEP_SECONDS * (clock.speed ?? 1));
  try {
    for (;;) {
      const messages = await queue.takePoison(AT_A_TIME);
      const ended = await Promise.allSettled(messages.map((message) => settlePoison(composed, message)));
      const failed = ended.find((one) => one.status === "rejected");
      if (failed !== undefined) throw failed.reason;
      // The service may give fewer than there are.
      if (messages.length === 0 || clock.now() >= end) return;
    }
  } catch (error) {
    const kind = error instanceof PortError ? error.kind : "defect";
    log("poison-not-swept", { kind, message: String(error) });
  }
}

async function settlePoison(composed: Composition, message: PoisonMessage): Promise<void> {
  await handlePoison(composed, message);
  await composed.app.ports.queue.dropPoison(message);
}
