import { app } from "@azure/functions";
import { putAside } from "../src/app/put-aside.ts";
import type { Composition } from "../src/compose.ts";
import type { Problem } from "../src/domain/demand.ts";
import { LONGEST_EXPIRATION_SECONDS } from "../src/domain/policy.ts";
import type { Instant } from "../src/domain/units.ts";
import { instant } from "../src/domain/units.ts";
import { decodeMessage } from "../src/wire/decode.ts";
import { readDemandMessage } from "../src/wire/demand-message.ts";
import { compositionFor } from "./composition.ts";
import { putBack } from "./put-back.ts";
import type { Delivery } from "./queue-message.ts";
import { messageIdOf, messageOf, textOf } from "./queue-message.ts";
import { BOUNDS } from "../src/wire/bounds.ts";

/**
 * Queue `demand-poison`: what the host gave up on. The copy has a new id and insertion time, so it is tried once more only if it carries
 * its own revision and has not expired by it; everything else goes to `demand-rejected`. Nothing is dropped silently.
 */
export async function handleRejected(
  composed: Composition,
  message: unknown,
  context: Delivery,
): Promise<void> {
  const { ports } = composed.app;
  const now = ports.clock.now();
  const read = readDemandMessage(messageOf(message), {
    messageId: messageIdOf(context),
    insertedAt: explicitRevision(message) ?? now,
    now,
    maxExpirationSeconds: LONGEST_EXPIRATION_SECONDS,
    knownClusters: new Set(ports.sites.keys()),
    senderTime: composed.senderTime,
  });
  let problems: readonly Problem[] | undefined;
  if (read.kind === "update" && read.update.revision.tieBreak === "") {
    const recorded = await composed.recorder.record(read.update);
    ports.log("poison-tried-again", {
      cluster: read.update.cluster,
      set: read.update.set,
      outcome: recorded.kind,
    });
    if (recorded.kind === "newer-state") return putBack(composed, message, read.update);
    if (recorded.kind === "refused") problems = recorded.problems;
    else if (recorded.kind !== "contended") return ports.queue.wake(read.update.cluster, now);
  }
  // A lost wake-up is made good by the timer.
  if (read.kind === "wake") return;
  const cluster = read.kind === "update" ? read.update.cluster : read.cluster;
  const set = read.kind === "update" ? read.update.set : read.set;
  await putAside(composed.app, {
    messageId: messageIdOf(context),
    rejectedAt: now,
    ...(cluster === undefined ? {} : { cluster }),
    ...(set === undefined ? {} : { set }),
    problems: problems ?? (read.kind === "rejected" ? read.problems : [problemOf(read.kind)]),
    text: textOf(message),
  });
}

/** A message with its own revision was sent then; the host's copy hides when it was put into the queue. */
function explicitRevision(message: unknown): Instant | undefined {
  const decoded = decodeMessage(messageOf(message), BOUNDS.queueBytes);
  if (decoded.kind === "problem" || typeof decoded.value !== "object" || decoded.value === null)
    return undefined;
  const revision: unknown = Reflect.get(decoded.value, "revision");
  return typeof revision === "number" ? instant(revision) : undefined;
}

function problemOf(kind: "update" | "stale"): Problem {
  return kind === "stale"
    ? {
        path: "expirationInterval",
        found: "a message past its expiry",
        expected: "a message delivered in time; it failed every time before",
      }
    : {
        path: "revision",
        found: "no explicit revision, or a record that is contended",
        expected: "a message that can be tried again safely; it failed every time before",
      };
}

app.storageQueue("rejected", {
  queueName: "demand-poison",
  connection: "AzureWebJobsStorage",
  handler: (message: unknown, context) => handleRejected(compositionFor(context), message, context),
});
