import type { Instant } from "../../domain/units.ts";
import { instant } from "../../domain/units.ts";
import { MOST_BY_QUEUE, decodeMessage } from "../json/decode.ts";

/**
 * The revision that a message carries, as the moment at which it was sent: the host's copy of a message hides when it was put into the queue.
 * Undefined if it carries none, or cannot be read.
 */
export function explicitRevision(text: string): Instant | undefined {
  const decoded = decodeMessage(text, MOST_BY_QUEUE);
  if (decoded.kind === "problem" || typeof decoded.value !== "object" || decoded.value === null)
    return undefined;
  const revision: unknown = Reflect.get(decoded.value, "revision");
  return typeof revision === "number" ? instant(revision) : undefined;
}
