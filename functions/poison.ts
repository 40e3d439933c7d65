import type { PoisonMessage } from "../src/app/ports.ts";
import { PortError } from "../src/app/ports.ts";
import { putAside } from "../src/app/put-aside.ts";
import type { Composition } from "../src/compose.ts";
import type { Problem } from "../src/domain/demand.ts";
import { LONGEST_EXPIRATION_SECONDS } from "../src/domain/policy.ts";
import type { Instant } from "../src/domain/units.ts";
import { instant, plusSeconds } from "../src/domain/units.ts";
import { decodeMessage, MOST_BY_QUEUE } from "../src/wire/decode.ts";
import { readDemandMessage } from "../src/wire/demand-message.ts";
import { describeDefect } from "./defect.ts";
import { putBack } from "./put-back.ts";

/**
 * Time after the beginning of a sweep at which the last message may begin: the timer must also observe the clusters. In real time: a
 * hostile message costs processor time.
 */
const SWEEP_SECONDS = 20;
/** Number of messages taken at a time. */
const AT_A_TIME = 16;
/** A message taken this often without a result has ended this process each time. It is put aside unread. */
const MOST_TAKEN = 3;

/**
 * Queue `demand-poison`: messages that the host gave up. The timer reads it instead of a queue trigger: the Functions library parses a
 * message before a function sees it, and fails on some (thousands of levels of nesting). Such a message would come back until it expires,
 * and no page would show it. Each message is removed only after it was handled. Never throws: after a storage error the message is tried
 * again later.
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
      // The service may return fewer messages than there are.
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

/** Tries a message once more if that is safe, or puts it aside. Throws PortError of storage. */
export async function handlePoison(composed: Composition, message: PoisonMessage): Promise<void> {
  try {
    if (message.taken > MOST_TAKEN) return await putAsideAs(composed, message, {}, [TOO_OFTEN]);
    await readPoison(composed, message);
  } catch (error) {
    if (error instanceof PortError) throw error;
    await putAsideAs(composed, message, {}, [describeDefect(error)]);
  }
}

/**
 * The copy has a new id and insertion time. So it is tried once more only if it carries its own revision and has not expired by it. All
 * others go to `demand-rejected`.
 */
async function readPoison(composed: Composition, message: PoisonMessage): Promise<void> {
  const { ports } = composed.app;
  const now = ports.clock.now();
  const read = readDemandMessage(message.text, {
    messageId: message.messageId,
    insertedAt: explicitRevision(message.text) ?? now,
    now,
    maxExpirationSeconds: LONGEST_EXPIRATION_SECONDS,
    knownClusters: new Set(ports.sites.keys()),
    senderTime: composed.senderTime,
  });
  switch (read.kind) {
    case "wake":
      // The timer replaces a lost wake message.
      return;
    case "rejected":
      return putAsideAs(composed, message, read, read.problems);
    case "stale":
      return putAsideAs(composed, message, read, [EXPIRED]);
    case "update": {
      const { update } = read;
      if (update.revision.tieBreak !== "") return putAsideAs(composed, message, update, [UNSAFE]);
      const recorded = await composed.recorder.record(update);
      const { cluster, set } = update;
      ports.log("poison-tried-again", { cluster, set, outcome: recorded.kind });
      if (recorded.kind === "newer-state") return putBack(composed, message.text, update);
      if (recorded.kind === "contended") return putAsideAs(composed, message, update, [UNSAFE]);
      if (recorded.kind === "refused") return putAsideAs(composed, message, update, recorded.problems);
      if (recorded.kind === "too-much") return putAsideAs(composed, message, update, [recorded.problem]);
      return ports.queue.wake(cluster, now);
    }
  }
}

/** When a message with its own revision was sent. The host's copy hides when it was put into the queue. */
function explicitRevision(text: string): Instant | undefined {
  const decoded = decodeMessage(text, MOST_BY_QUEUE);
  if (decoded.kind === "problem" || typeof decoded.value !== "object" || decoded.value === null)
    return undefined;
  const revision: unknown = Reflect.get(decoded.value, "revision");
  return typeof revision === "number" ? instant(revision) : undefined;
}

async function putAsideAs(
  { app }: Composition,
  { messageId, text }: PoisonMessage,
  { cluster, set }: { readonly cluster?: string; readonly set?: string },
  problems: readonly Problem[],
): Promise<void> {
  await putAside(app, {
    messageId,
    rejectedAt: app.ports.clock.now(),
    ...(cluster === undefined ? {} : { cluster }),
    ...(set === undefined ? {} : { set }),
    problems,
    text,
  });
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
const TOO_OFTEN: Problem = {
  path: "",
  found: `a message that was begun ${MOST_TAKEN} times and never dealt with`,
  expected: "a message that the app can read; it seems to have ended the app each time",
};
