import type { PoisonMessage } from "../src/app/ports/demand-queue.ts";
import { PortError } from "../src/app/ports/port-error.ts";
import type { Composition } from "../src/compose.ts";
import type { Problem } from "../src/domain/demand.ts";
import { LONGEST_EXPIRATION_SECONDS } from "../src/domain/policy.ts";
import { MOST_BY_QUEUE } from "../src/wire/json/decode.ts";
import { readDemandMessageInSlices } from "../src/wire/message/demand-message.ts";
import { explicitRevision } from "../src/wire/message/explicit-revision.ts";
import { putBack } from "./put-back.ts";
import { putMessageAside } from "./put-message-aside.ts";
import { enterToRead, inTurns } from "./reading.ts";

/**
 * Tries a message of `demand-poison` once more. The host's copy has another id and insertion time, so the message must carry its own
 * revision, and must not have expired by it. All others go to `demand-rejected`. Throws PortError only.
 */
export async function retryPoison(composed: Composition, message: PoisonMessage): Promise<void> {
  const entry = await enterToRead(composed, message.text, MOST_BY_QUEUE);
  switch (entry.kind) {
    case "too-heavy":
      return putMessageAside(composed, message, {}, [entry.problem]);
    case "busy":
      throw new PortError("throttled", "read a message", "other messages are being read");
    case "entered":
      try {
        return await tryAgain(composed, message);
      } finally {
        entry.leave();
      }
  }
}

async function tryAgain(composed: Composition, message: PoisonMessage): Promise<void> {
  const { ports } = composed.app;
  const now = ports.clock.now();
  const read = await inTurns(
    readDemandMessageInSlices(message.text, {
      messageId: message.messageId,
      insertedAt: explicitRevision(message.text) ?? now,
      now,
      maxExpirationSeconds: LONGEST_EXPIRATION_SECONDS,
      knownClusters: new Set(ports.sites.keys()),
      senderTime: composed.senderTime,
    }),
  );
  switch (read.kind) {
    case "wake":
      // The timer replaces a lost wake message.
      return;
    case "rejected":
      return putMessageAside(composed, message, read, read.problems);
    case "stale":
      return putMessageAside(composed, message, read, [EXPIRED]);
    case "update": {
      const { update } = read;
      if (update.revision.tieBreak !== "") return putMessageAside(composed, message, update, [UNSAFE]);
      const recorded = await composed.recorder.record(update);
      const { cluster, set } = update;
      ports.log("poison-tried-again", { cluster, set, outcome: recorded.kind });
      if (recorded.kind === "newer-state") return putBack(composed, message.text, update);
      if (recorded.kind === "contended") return putMessageAside(composed, message, update, [UNSAFE]);
      if (recorded.kind === "refused") return putMessageAside(composed, message, update, recorded.problems);
      if (recorded.kind === "too-much") return putMessageAside(composed, message, update, [recorded.problem]);
      return ports.queue.wake(cluster, now);
    }
  }
}

const EXPIRED: Problem = {
  path: "expirationInterval",
  found: "a message past its expiry",
  expected: "a message delivered in time; it failed every time before",
};

const UNSAFE: Problem = {
  path: "revision",
  found: "no explicit revision, or a record that is contended",
  expected: "a message that can be tried again safely; it failed every time before",
};
