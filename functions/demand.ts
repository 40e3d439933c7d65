import type { StorageQueueHandler } from "@azure/functions";
import { PortError } from "../src/app/ports/port-error.ts";
import type { Leave } from "../src/app/process/gate.ts";
import type { Composition } from "../src/compose.ts";
import { LONGEST_EXPIRATION_SECONDS } from "../src/domain/policy.ts";
import { MOST_BY_QUEUE } from "../src/wire/json/decode.ts";
import { readDemandMessageInSlices } from "../src/wire/message/demand-message.ts";
import { compositionFor } from "./composition.ts";
import { describeDefect } from "./defect.ts";
import { recordUpdate } from "./demand-record.ts";
import { handleWake } from "./demand-wake.ts";
import { putDeliveryAside } from "./put-message-aside.ts";
import type { Delivery } from "./queue-message.ts";
import { insertedAt, messageIdOf, messageOf } from "./queue-message.ts";
import { enterToRead, inTurns } from "./reading.ts";

/**
 * Queue `demand`. Returning acknowledges the message: the demand is in Table Storage, or the message is in `demand-rejected`, or it has no
 * effect (older, expired, covered). Throwing leaves the message to the host, which delivers it again and finally moves it to
 * `demand-poison`. Only unreachable storage does that. Any other failure would repeat, so the message is put aside with it at once.
 */
export async function handleDemand(
  composed: Composition,
  message: unknown,
  context: Delivery,
): Promise<void> {
  try {
    await takeIn(composed, message, context);
  } catch (error) {
    if (error instanceof PortError) throw error;
    await putDeliveryAside(composed, message, context, {}, [describeDefect(error)]);
  }
}

async function takeIn(composed: Composition, message: unknown, context: Delivery): Promise<void> {
  const entry = await enterToRead(composed, messageOf(message), MOST_BY_QUEUE);
  switch (entry.kind) {
    case "too-heavy":
      return putDeliveryAside(composed, message, context, {}, [entry.problem]);
    case "busy":
      throw new PortError("throttled", "read a message", "other messages are being read");
    case "entered":
      try {
        return await read(composed, message, context, entry.leave);
      } finally {
        entry.leave();
      }
  }
}

/** `leave`: called as soon as the message is recorded or needs no memory any more. */
async function read(composed: Composition, message: unknown, context: Delivery, leave: Leave): Promise<void> {
  const { ports } = composed.app;
  const now = ports.clock.now();
  const found = await inTurns(
    readDemandMessageInSlices(messageOf(message), {
      messageId: messageIdOf(context),
      insertedAt: insertedAt(context, now),
      now,
      maxExpirationSeconds: LONGEST_EXPIRATION_SECONDS,
      knownClusters: new Set(ports.sites.keys()),
      senderTime: composed.senderTime,
    }),
  );
  switch (found.kind) {
    case "update":
      return recordUpdate(composed, message, context, found.update, leave);
    case "wake":
      leave();
      return handleWake(composed, found);
    case "stale": {
      const { cluster, set, expiredAt } = found;
      return ports.log("demand", { cluster, set, outcome: "stale", expiredAt });
    }
    case "rejected":
      return putDeliveryAside(composed, message, context, found, found.problems);
  }
}

export const onDemand: StorageQueueHandler = (message, context) =>
  handleDemand(compositionFor(context), message, context);
