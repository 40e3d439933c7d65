/** Output bindings. The local host supports queues here, and HTTP answers in the HTTP trigger. */
import { z } from "zod";
import { resolveSettings } from "./app-settings.ts";
import type { Binding, FunctionMetadata, InvocationResponse } from "./core.ts";
import { encodeMessage, splitOutput } from "./queue-message.ts";
import type { Runtime } from "./runtime.ts";
import { statusOf } from "./storage-error.ts";

const queueBinding = z.object({ queueName: z.string(), connection: z.string().optional() });

/** Throws if a function has a binding that the local host does not support. Checked at the start, so that no call fails later. */
export function checkBindings(metadata: FunctionMetadata): void {
  for (const [name, binding] of Object.entries(metadata.bindings)) {
    const type = binding.type.toLowerCase();
    if (type.endsWith("trigger")) continue;
    const served = binding.direction === "out" && (type === "queue" || type === "http");
    if (!served)
      throw new Error(`${metadata.name}: binding "${name}" of type ${binding.type} is not served locally`);
  }
}

/** Sends a function's queue outputs, after the function has succeeded. A failure here fails the invocation. */
export async function deliverOutputs(
  runtime: Runtime,
  metadata: FunctionMetadata,
  response: InvocationResponse,
): Promise<void> {
  const values = new Map((response.outputData ?? []).map(({ name, data }) => [name, data]));
  if (response.returnValue) values.set("$return", response.returnValue);
  for (const [name, binding] of Object.entries(metadata.bindings)) {
    const value = values.get(name);
    if (value === undefined || !isQueueOutput(binding)) continue;
    const { queueName, connection } = queueBinding.parse(binding);
    for (const body of splitOutput(value)) {
      const text = encodeMessage(body, runtime.hostSettings.queues.messageEncoding);
      await sendToQueue(
        runtime,
        connection,
        resolveSettings(queueName, runtime.settings).toLowerCase(),
        text,
      );
    }
  }
}

/** Sends a text unchanged. Creates the queue if it is missing, and wakes the trigger of this host that polls it. */
export async function sendToQueue(
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

const isQueueOutput = (binding: Binding) =>
  binding.direction === "out" && binding.type.toLowerCase() === "queue";
