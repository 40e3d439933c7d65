import { putBack, putMessageAside, describeDefect } from "./queue-message.ts";
import type { PoisonMessage } from "../src/app/ports/demand-queue.ts";
import { PortError } from "../src/app/ports/port-error.ts";
import type { Composition } from "../src/compose.ts";
import { plusSeconds } from "../src/domain/units.ts";
import type { Seconds } from "../src/domain/units.ts";
import type { Problem } from "../src/domain/demand.ts";
import { LONGEST_EXPIRATION_SECONDS } from "../src/domain/policy.ts";
import { MOST_BY_QUEUE } from "../src/wire/json/decode.ts";
import { readDemandMessageInSlices } from "../src/wire/message/demand-message.ts";
import { enterToRead, inTurns } from "./reading.ts";

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

/** A message that was taken more often than this has ended the process each time. It is put aside unread. */
const MOST_TAKEN = 3;

/** Tries a message once more if that is safe, and otherwise puts it aside. Throws PortError only. */
async function handlePoison(composed: Composition, message: PoisonMessage): Promise<void> {
  try {
    if (message.taken > MOST_TAKEN) return await putMessageAside(composed, message, {}, [TOO_OFTEN]);
    await retryPoison(composed, message);
  } catch (error) {
    if (error instanceof PortError) throw error;
    await putMessageAside(composed, message, {}, [describeDefect(error)]);
  }
}

const TOO_OFTEN: Problem = {
  path: "",
  found: `a message that was begun ${MOST_TAKEN} times and never dealt with`,
  expected: "a message that the app can read; it seems to have ended the app each time",
};

/**
 * Tries a message of `demand-poison` once more. The host's copy has another id and insertion time, so the message must carry its own
 * revision, and must not have expired by it. All others go to `demand-rejected`. Throws PortError only.
 */
async function retryPoison(composed: Composition, message: PoisonMessage): Promise<void> {
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
    composed.app,
    readDemandMessageInSlices(message.text, {
      messageId: message.messageId,
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
      if (read.message["revision"] === undefined) return putMessageAside(composed, message, update, [UNSAFE]);
      const recorded = await composed.recorder.record(update);
      const { cluster, set } = update;
      ports.log("poison-tried-again", { cluster, set, outcome: recorded.kind });
      if (recorded.kind === "other-state") return putBack(composed, read);
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
