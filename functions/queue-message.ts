import type { InvocationContext } from "@azure/functions";
import type { Instant } from "../src/domain/units.ts";
import { instant } from "../src/domain/units.ts";

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

/** One level of the output: its remaining members, and the text that closes it. */
interface Level {
  readonly members: Iterator<readonly [string, unknown]>;
  readonly close: string;
  separator: "" | ",";
}

/** The beginning of a value's JSON text, `most` characters or one member more. Without recursion, so that any depth is possible. */
function writeSome(value: unknown, most: number): string {
  const levels: Level[] = [];
  const begin = (one: unknown): string => {
    if (typeof one !== "object" || one === null) return JSON.stringify(one) ?? "null";
    const [open, close] = Array.isArray(one) ? ["[", "]"] : ["{", "}"];
    levels.push({ members: Object.entries(one).values(), close, separator: "" });
    return open;
  };
  let text = begin(value);
  for (let level = levels.at(-1); level !== undefined && text.length < most; level = levels.at(-1)) {
    const next = level.members.next();
    if (next.done === true) {
      text += level.close;
      levels.pop();
      continue;
    }
    const [key, member] = next.value;
    const label = level.close === "}" ? `${JSON.stringify(key)}:` : "";
    text += level.separator + label + begin(member);
    level.separator = ",";
  }
  return text;
}

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
