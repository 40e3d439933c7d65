/** The text of queue messages: decoding for a function's input, and encoding of its output. */
import type { TypedData } from "./core.ts";
import type { MessageEncoding } from "./host-json.ts";

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
