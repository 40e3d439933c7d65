import {
  putBack,
  insertedAt,
  messageIdOf,
  messageOf,
  describeDefect,
  putDeliveryAside,
} from "./queue-message.ts";
import type { Delivery } from "./queue-message.ts";
import type { StorageQueueHandler } from "@azure/functions";
import { PortError } from "../src/app/ports/port-error.ts";
import type { Leave } from "../src/app/process/gate.ts";
import type { Composition } from "../src/compose.ts";
import { LONGEST_EXPIRATION_SECONDS } from "../src/domain/policy.ts";
import { MOST_BY_QUEUE } from "../src/wire/json/decode.ts";
import { readDemandMessageInSlices } from "../src/wire/message/demand-message.ts";
import { compositionFor } from "./answering.ts";
import { enterToRead, inTurns } from "./reading.ts";
import { reconcileDemand } from "./reconcile.ts";
import { tickByWake } from "../src/app/tick.ts";
import type { ClusterName, WakeId } from "../src/domain/ids.ts";
import { isTickWake, wakeId } from "../src/domain/ids.ts";
import { plusSeconds } from "../src/domain/units.ts";
import type { MessageRead, QueueMessageRead } from "../src/wire/message/message-read.ts";
import { sweepPoison } from "./poison.ts";
import type { Milliseconds, Seconds } from "../src/domain/units.ts";

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
    composed.app,
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
      return recordUpdate(composed, message, context, found, leave);
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

/** Writes the demand of a message into the record, and plans with it. Throws PortError while the record cannot be written. */
async function recordUpdate(
  composed: Composition,
  message: unknown,
  context: Delivery,
  read: Extract<QueueMessageRead, { kind: "update" }>,
  leave: Leave,
): Promise<void> {
  const { update } = read;
  const { cluster, set } = update;
  const recorded = await composed.recorder.record(update);
  // The plan needs memory of its own.
  leave();
  composed.app.ports.log("demand", { cluster, set, outcome: recorded.kind });
  switch (recorded.kind) {
    case "accepted":
      return reconcileDemand(composed, cluster, recorded.record);
    case "contended":
      throw new PortError("throttled", `record demand of ${cluster}`, "the record is contended");
    case "other-state":
      return putBack(composed, read);
    case "refused":
      return putDeliveryAside(composed, message, context, update, recorded.problems);
    case "too-much":
      return putDeliveryAside(composed, message, context, update, [recorded.problem]);
    default:
      return;
  }
}

/**
 * Handles a wake message. Queue delays are whole seconds, so the rest of the time is waited for here: no wake message is handled too early.
 * A message that is further ahead is not ours. It goes back into the queue until then. Throws PortError of the queue and the store.
 */
async function handleWake(
  composed: Composition,
  { cluster, at, id }: Extract<MessageRead, { kind: "wake" }>,
): Promise<void> {
  const { clock, queue, triggers } = composed.app.ports;
  const early = at === undefined ? 0 : at - clock.now();
  if (at !== undefined && early > LONGEST_WAIT_MS * (clock.speed ?? 1)) return queue.wake(cluster, at, id);
  if (early > 0) await clock.sleep(early);
  if (id !== undefined && isTickWake(id)) return tickForTimer(composed, cluster, wakeId(id));
  // Before the observation, which may take long: the note only proves that the queue works.
  if (id !== undefined) await triggers.noteWake(cluster, { id, at: clock.now() });
  await reconcileDemand(composed, cluster);
}

/** Makes the timer's tick of this cluster if it is due. After a failed tick it sends the message again, because the timer may be silent. */
async function tickForTimer(composed: Composition, cluster: ClusterName, id: WakeId): Promise<void> {
  const { clock, queue, sites } = composed.app.ports;
  const site = sites.get(cluster);
  if (site === undefined) return;
  const { outcome } = await tickByWake(composed.app, site, id);
  if (outcome.kind === "superseded" || outcome.kind === "not-due") return;
  await sweepPoison(composed);
  if (outcome.kind === "failed") await queue.wake(cluster, plusSeconds(clock.now(), TRY_AGAIN_SECONDS), id);
}

const TRY_AGAIN_SECONDS: Seconds = 60;

/** Longer delays are left to the queue. In real time. */
const LONGEST_WAIT_MS: Milliseconds = 2000;
