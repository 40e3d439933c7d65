import type { TypedData, Binding, FunctionMetadata, InvocationResponse } from "./core.ts";
import type { MessageEncoding } from "./host-json.ts";
import { z } from "zod";
import { resolveSettings } from "./app-settings.ts";
import type { Runtime } from "./runtime.ts";
import { statusOf } from "./storage.ts";

/** The text of queue messages: decoding for a function's input, and encoding of its output. */

/**
 * The text that a function gets for a received message. Undefined if it cannot be decoded. As in .NET, base64 may contain whitespace, and
 * needs its padding.
 */
export function decodeMessage(text: string, encoding: MessageEncoding): string | undefined {
  if (encoding === "none") return text;
  const packed = text.replace(/\s/g, "");
  if (packed.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(packed)) return undefined;
  return Buffer.from(packed, "base64").toString("utf8");
}

/** The text to send for a message body. */
export function encodeMessage(body: Uint8Array, encoding: MessageEncoding): string {
  return Buffer.from(body).toString(encoding === "none" ? "utf8" : "base64");
}

/** The messages for the value of an output binding. A JSON array, also as text, is one message for each element. Any other value is one. */
export function splitOutput(value: TypedData): readonly Uint8Array[] {
  if (value.bytes !== undefined) return [value.bytes];
  const number = value.int ?? value.double;
  const text = value.json ?? value.string ?? (number === undefined ? "" : String(number));
  const parsed = arrayOrUndefined(text);
  if (parsed === undefined) return [Buffer.from(text)];
  return parsed
    .filter((element) => element !== null)
    .map((element) => Buffer.from(typeof element === "string" ? element : JSON.stringify(element)));
}

function arrayOrUndefined(text: string): readonly unknown[] | undefined {
  if (!text.trimStart().startsWith("[")) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

// Output bindings. The local host supports queues here, and HTTP answers in the HTTP trigger.

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
