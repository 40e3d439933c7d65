import type { InvocationContext } from "@azure/functions";
import type { Instant } from "../src/domain/units.ts";
import { instant } from "../src/domain/units.ts";
import { writeSome } from "../src/wire/json/write-some.ts";

/** The parts of a queue invocation that the functions need. */
export type Delivery = Pick<InvocationContext, "invocationId" | "triggerMetadata">;

/** The host parses JSON text: the handler then gets an object, otherwise the text (platform.md section 3b). */
export function messageOf(message: unknown): string | Uint8Array | object {
  if (typeof message === "string" || message instanceof Uint8Array) return message;
  return typeof message === "object" && message !== null ? message : JSON.stringify(message ?? null);
}

/** The message as text again, to be put aside. Cut if it is nested deeper than JSON.stringify can follow. */
export function textOf(message: unknown): string {
  if (typeof message === "string") return message;
  if (message instanceof Uint8Array) return Buffer.from(message).toString("utf8");
  try {
    return JSON.stringify(message) ?? "";
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return writeSome(message, MOST_WRITTEN);
  }
}

/** A message in the queue has at most 64 KiB. */
const MOST_WRITTEN = 64 * 1024;

export function messageIdOf(context: Delivery): string {
  const id = context.triggerMetadata?.["id"];
  return typeof id === "string" ? id : context.invocationId;
}

/** When the message was put into the queue, to the second. Now, if the host does not provide it. */
export function insertedAt(context: Delivery, now: Instant): Instant {
  const value = context.triggerMetadata?.["insertionTime"];
  const at =
    value instanceof Date ? value.getTime() : typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? now : instant(at);
}
