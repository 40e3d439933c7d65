/** The text of queue messages: what a function sees of one that was received, and how a function's output becomes messages. */
import type { TypedData } from "./core.ts";
import type { MessageEncoding } from "./host-json.ts";

/**
 * The text a function gets for a received message; `undefined` if it cannot be decoded. base64 is read as .NET does: whitespace is
 * ignored, padding is required.
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

/** The messages an output binding's value stands for: a JSON array, even as text, is one message per element; anything else is one. */
export function splitOutput(value: TypedData): readonly Uint8Array[] {
  if (value.bytes !== undefined) return [value.bytes];
  const text = value.json ?? value.string ?? String(value.int ?? value.double ?? "");
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
