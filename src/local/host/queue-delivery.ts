/** The handling of one queue message: run, delete, retry or poison (platform.md section 3, "Queue semantics"). */
import type { DequeuedMessageItem, QueueClient } from "@azure/storage-queue";
import { randomUUID } from "node:crypto";
import type { RegisteredFunction, TypedData } from "./core.ts";
import { invokeFunction, type Outcome } from "./invocation.ts";
import type { Runtime } from "./runtime.ts";
import { statusOf, simulatedTime, storageSeconds } from "./storage.ts";

/** A queue whose messages start a function. */
export type PolledQueue = {
  readonly name: string;
  readonly connection: string | undefined;
  readonly client: QueueClient;
};

/** Time for which a message is hidden while its function runs, in simulated milliseconds. Renewed at half time. Azure has no setting for it. */
export const messageVisibilityMs = 10 * 60_000;

/** Runs the function on one message and then deletes the message or makes it visible again. Never throws: an error of storage is logged, and the message becomes visible again. */
export async function deliverMessage(
  runtime: Runtime,
  registered: RegisteredFunction,
  queue: PolledQueue,
  message: DequeuedMessageItem,
): Promise<void> {
  try {
    await deliver(runtime, registered, queue, message);
  } catch (error) {
    warn(
      runtime,
      registered,
      `message ${message.messageId} could not be deleted or made visible again: ${String(error)}`,
    );
  }
}

async function deliver(
  runtime: Runtime,
  registered: RegisteredFunction,
  queue: PolledQueue,
  message: DequeuedMessageItem,
): Promise<void> {
  const { maxDequeueCount, visibilityTimeoutMs } = runtime.hostSettings.queues;
  const poison = `${queue.name}-poison`;
  const toPoison = async (popReceipt: string, why: string) => {
    warn(runtime, registered, `message ${message.messageId} is moved to ${poison}: ${why}`);
    await sendToQueue(runtime, queue.connection, poison, message.messageText);
    await ignoreGone(queue.client.deleteMessage(message.messageId, popReceipt));
  };
  if (message.dequeueCount > maxDequeueCount)
    return toPoison(message.popReceipt, `it was dequeued more than ${maxDequeueCount} times`);

  const hidden = keepHidden(runtime, registered, queue, message);
  const outcome = await invokeWithMessage(runtime, registered, message.messageText, message);
  const popReceipt = await hidden.end();
  if (outcome.kind === "succeeded") {
    await ignoreGone(queue.client.deleteMessage(message.messageId, popReceipt));
  } else if (message.dequeueCount >= maxDequeueCount) {
    await toPoison(popReceipt, `it failed ${message.dequeueCount} times`);
  } else {
    const retryIn = storageSeconds(visibilityTimeoutMs, runtime.speed);
    await ignoreGone(queue.client.updateMessage(message.messageId, popReceipt, undefined, retryIn));
  }
}

/** Runs a queue function on a text: that of a received message, or without `message` that of an admin request. */
export function invokeWithMessage(
  runtime: Runtime,
  registered: RegisteredFunction,
  text: string,
  message?: DequeuedMessageItem,
): Promise<Outcome> {
  const { clock, speed } = runtime;
  const insertedAt = message === undefined ? clock.now() : simulatedTime(message.insertedOn, clock, speed);
  return invokeFunction(
    runtime,
    registered,
    { string: text },
    {
      ...topLevelFields(text),
      Id: { string: message?.messageId ?? randomUUID() },
      DequeueCount: { json: String(message?.dequeueCount ?? 1) },
      InsertionTime: { json: JSON.stringify(new Date(insertedAt).toISOString()) },
    },
  );
}

/** The fields of a JSON object are trigger metadata as well. */
function topLevelFields(text: string): Readonly<Record<string, TypedData>> {
  if (!text.trimStart().startsWith("{")) return {};
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== "object" || parsed === null) return {};
    return Object.fromEntries(
      Object.entries(parsed).map(([key, value]) => [key, { json: JSON.stringify(value) }]),
    );
  } catch {
    return {};
  }
}

/**
 * Renews a message's visibility timeout at half time, one renewal after the other, until `end` is called. `end` waits for a renewal in
 * progress and resolves to the receipt that is valid then. Storage refuses older receipts, and would deliver the message again.
 */
function keepHidden(
  runtime: Runtime,
  registered: RegisteredFunction,
  queue: PolledQueue,
  message: DequeuedMessageItem,
): { end(): Promise<string> } {
  const seconds = storageSeconds(messageVisibilityMs, runtime.speed);
  const ended = new AbortController();
  const renewals = (async () => {
    let popReceipt = message.popReceipt;
    for (;;) {
      await runtime.clock.sleep((seconds * 1000 * runtime.speed) / 2, ended.signal);
      if (ended.signal.aborted) return popReceipt;
      try {
        const renewed = await queue.client.updateMessage(message.messageId, popReceipt, undefined, seconds);
        popReceipt = renewed.popReceipt ?? popReceipt;
      } catch (error) {
        warn(runtime, registered, `message ${message.messageId} was not kept hidden: ${String(error)}`);
        if (isGone(error)) return popReceipt;
      }
    }
  })();
  return {
    end() {
      ended.abort();
      return renewals;
    },
  };
}

/** Sends a text unchanged. Creates the queue if it is missing, and wakes the trigger of this host that polls it. */
async function sendToQueue(
  runtime: Runtime,
  connection: string | undefined,
  queueName: string,
  text: string,
): Promise<void> {
  const queue = runtime.queueService(connection).getQueueClient(queueName);
  try {
    await queue.sendMessage(text);
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
    await queue.createIfNotExists();
    await queue.sendMessage(text);
  }
  runtime.wakeUps.wake(queueName);
}

/** Ignores the error that another receiver has the message, or that it no longer exists. */
async function ignoreGone(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

const isGone = (error: unknown) => statusOf(error) === 404 || statusOf(error) === 400;

function warn(runtime: Runtime, { metadata }: RegisteredFunction, message: string): void {
  runtime.log({ level: "warning", category: "host", message, functionName: metadata.name });
}
