import type { PoisonMessage } from "../src/app/ports/demand-queue.ts";
import { PortError } from "../src/app/ports/port-error.ts";
import type { Composition } from "../src/compose.ts";
import { plusSeconds } from "../src/domain/units.ts";
import { handlePoison } from "./poison-message.ts";
import type { Seconds } from "../src/domain/units.ts";

/**
 * Time after the beginning of a sweep at which the last message may begin: the timer must also observe the clusters. In real time: a
 * hostile message costs processor time.
 */
const SWEEP_SECONDS: Seconds = 20;

/** Messages that are taken at a time. */
const AT_A_TIME = 16;

/**
 * Queue `demand-poison`: messages that the host gave up. The timer reads it instead of a queue trigger (docs/decisions.md, "The timer reads
 * the poison queue"): the Functions library parses a message before a function sees it, and fails on some (thousands of levels of nesting).
 * Such a message would come back until it expires, and no page would show it. Each message is removed only after it was handled. Never
 * throws: after a storage error the message is tried again later.
 */
export async function sweepPoison(composed: Composition): Promise<void> {
  const { clock, log, queue } = composed.app.ports;
  const end = plusSeconds(clock.now(), SWEEP_SECONDS * (clock.speed ?? 1));
  try {
    for (;;) {
      const messages = await queue.takePoison(AT_A_TIME);
      const ended = await Promise.allSettled(messages.map((message) => finishPoison(composed, message)));
      const failed = ended.find((one) => one.status === "rejected");
      if (failed !== undefined) throw failed.reason;
      // The service may return fewer messages than there are.
      if (messages.length === 0 || clock.now() >= end) return;
    }
  } catch (error) {
    const kind = error instanceof PortError ? error.kind : "defect";
    log("poison-not-swept", { kind, message: String(error) });
  }
}

async function finishPoison(composed: Composition, message: PoisonMessage): Promise<void> {
  await handlePoison(composed, message);
  await composed.app.ports.queue.dropPoison(message);
}
