/** Queue triggers: polling of queues (platform.md section 3, "Queue semantics"). queue-delivery.ts handles each message. */
import type { DequeuedMessageItem } from "@azure/storage-queue";
import { z } from "zod";
import type { RegisteredFunction } from "./core.ts";
import { deliverMessage, messageVisibilityMs, type PolledQueue } from "./queue-delivery.ts";
import { triggerOf, type Runtime } from "./runtime.ts";
import { statusOf, storageSeconds } from "./storage.ts";

const queueTrigger = z.object({ queueName: z.string(), connection: z.string().optional() });

/** The first pause after an empty poll, in simulated milliseconds. It doubles up to host.json's maxPollingInterval. */
const firstPauseMs = 100;
/** The shortest pause between polls at any speed, in real milliseconds. A poll costs 5 ms of processor time in the host and the emulator. */
const leastRealPauseMs = 50;

/**
 * Polls the function's queue until the host stops, and then waits for the messages in progress. A batch is fetched when at most
 * newBatchThreshold messages are running, so up to batchSize + newBatchThreshold run at once. A missing queue counts as empty. It is not
 * created here.
 */
export async function runQueueTrigger(runtime: Runtime, registered: RegisteredFunction): Promise<void> {
  const { batchSize, newBatchThreshold, maxPollingIntervalMs } = runtime.hostSettings.queues;
  const polled = openQueue(runtime, registered);
  const running = new Set<Promise<void>>();
  let pauseMs = firstPauseMs;
  while (!runtime.stopping.aborted) {
    const messages = await receive(runtime, registered, polled, batchSize);
    for (const message of messages) {
      const delivery = deliverMessage(runtime, registered, polled, message).finally(() =>
        running.delete(delivery),
      );
      running.add(delivery);
    }
    if (messages.length > 0) {
      pauseMs = firstPauseMs;
      while (running.size > newBatchThreshold) await Promise.race(running);
    } else {
      await runtime.wakeUps.sleep(
        polled.name,
        Math.max(pauseMs, leastRealPauseMs * runtime.speed),
        runtime.stopping,
      );
      pauseMs = Math.min(pauseMs * 2 * jitter(), maxPollingIntervalMs);
    }
  }
  await Promise.all(running);
}

/** The queue of a function. Throws if the setting of its connection is missing. */
export function openQueue(runtime: Runtime, { metadata }: RegisteredFunction): PolledQueue {
  const { queueName: name, connection } = queueTrigger.parse(triggerOf(metadata).binding);
  return { name, connection, client: runtime.queueService(connection).getQueueClient(name) };
}

async function receive(
  runtime: Runtime,
  { metadata }: RegisteredFunction,
  { name, client }: PolledQueue,
  batchSize: number,
): Promise<readonly DequeuedMessageItem[]> {
  try {
    const received = await client.receiveMessages({
      numberOfMessages: batchSize,
      visibilityTimeout: storageSeconds(messageVisibilityMs, runtime.speed),
    });
    return received.receivedMessageItems;
  } catch (error) {
    if (statusOf(error) !== 404) {
      runtime.log({
        level: "warning",
        category: "host",
        message: `polling queue ${name} failed: ${String(error)}`,
        functionName: metadata.name,
      });
    }
    return [];
  }
}

/** 0.8 to 1.2, so that instances do not poll at the same moments. */
const jitter = () => 0.8 + Math.random() * 0.4;
