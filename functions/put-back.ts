import type { Composition } from "../src/compose.ts";
import type { RequestSetUpdate } from "../src/domain/demand.ts";
import { secondsBetween } from "../src/domain/units.ts";
import { decodeMessage, MOST_BY_QUEUE } from "../src/wire/json/decode.ts";
import { messageOf } from "./queue-message.ts";
import type { Seconds } from "../src/domain/units.ts";

/** Long enough for an instance of the newer release to take the message, and short compared with the usual validity of five minutes. */
const PUT_BACK_SECONDS: Seconds = 30;

/**
 * Puts a message back into the demand queue for a newer release to take (architecture.md, Storage). Sending again must make it neither
 * newer nor longer valid, so from now on it carries its revision and only the rest of its validity. That alone ends the repetition.
 */
export async function putBack(
  composed: Composition,
  message: unknown,
  update: RequestSetUpdate,
): Promise<void> {
  const { clock, log, queue } = composed.app.ports;
  const left = secondsBetween(clock.now(), update.expiresAt);
  const { cluster, set } = update;
  if (left <= 0) return log("demand", { cluster, set, outcome: "stale", expiredAt: update.expiresAt });
  const decoded = decodeMessage(messageOf(message), MOST_BY_QUEUE);
  if (decoded.kind === "problem") throw new Error("a message that was read cannot be decoded");
  const pinned = { revision: update.revision.value, expirationInterval: left };
  await queue.resend(JSON.stringify(Object.assign({}, decoded.value, pinned)), PUT_BACK_SECONDS);
  log("put-back", { cluster, set, delaySeconds: PUT_BACK_SECONDS, secondsLeft: left });
}
