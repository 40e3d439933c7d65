import type { InvocationContext } from "@azure/functions";
import type { Problem } from "../src/domain/demand.ts";
import type { QueueMessageRead } from "../src/wire/message/message-read.ts";
import { shorten } from "../src/wire/json/problem.ts";
import { secondsBetween, instant } from "../src/domain/units.ts";
import type { Seconds, Instant } from "../src/domain/units.ts";
import { putAside } from "../src/app/demand/put-aside.ts";
import type { RejectedMessage } from "../src/app/ports/demand-queue.ts";
import type { Composition } from "../src/compose/composition.ts";
import { writeSome } from "../src/wire/json/write-some.ts";
import { withoutAbsent } from "../src/domain/without-absent.ts";

/** The parts of a queue invocation that the functions need. */
export type Delivery = Pick<InvocationContext, "invocationId" | "triggerMetadata">;

/** The host parses JSON text: the handler then gets an object, otherwise the text (platform.md section 3b). */
export function messageOf(message: unknown): string | Uint8Array | object {
  if (typeof message === "string" || message instanceof Uint8Array) return message;
  return typeof message === "object" && message !== null ? message : JSON.stringify(message ?? null);
}

/** The message as text again, to be put aside. Cut if it is nested deeper than JSON.stringify can follow. */
function textOf(message: unknown): string {
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

/** Puts aside a message of the queue `demand`, as the host delivered it. Throws PortError only. */
export function putDeliveryAside(
  composed: Composition,
  message: unknown,
  context: Delivery,
  source: Source,
  problems: readonly Problem[],
): Promise<void> {
  return putMessageAside(
    composed,
    { messageId: messageIdOf(context), text: textOf(message) },
    source,
    problems,
  );
}

/** The cluster and the set of a message, as far as they could be read. */
type Source = Pick<RejectedMessage, "cluster" | "set">;

/** Puts a message aside now, with its problems. Throws PortError only. */
export async function putMessageAside(
  { app }: Composition,
  { messageId, text }: Pick<RejectedMessage, "messageId" | "text">,
  { cluster, set }: Source,
  problems: readonly Problem[],
): Promise<void> {
  await putAside(app, {
    messageId,
    rejectedAt: app.ports.clock.now(),
    ...withoutAbsent({ cluster, set }),
    problems,
    text,
  });
}

/** Long enough for an instance of the other release to take the message, and short compared with the usual validity of five minutes. */
const PUT_BACK_SECONDS: Seconds = 30;

/**
 * Puts a message back into the demand queue for another release to take (architecture.md, Storage). Sending again must make it neither
 * newer nor longer valid, so from now on it carries its revision and only the rest of its validity. That alone ends the repetition.
 */
export async function putBack(
  composed: Composition,
  { message, update }: Extract<QueueMessageRead, { kind: "update" }>,
): Promise<void> {
  const { clock, log, queue } = composed.app.ports;
  const left = secondsBetween(clock.now(), update.expiresAt);
  const { cluster, set } = update;
  if (left <= 0) return log("demand", { cluster, set, outcome: "stale", expiredAt: update.expiresAt });
  const pinned = { ...message, revision: update.revision.value, expirationInterval: left };
  await queue.resend(JSON.stringify(pinned), PUT_BACK_SECONDS);
  log("put-back", { cluster, set, delaySeconds: PUT_BACK_SECONDS, secondsLeft: left });
}

const LONGEST_MESSAGE = 200;

/** The text about a message on which the app failed, if neither storage nor network was the cause. */
export function describeDefect(error: unknown): Problem {
  return {
    path: "",
    found: `a message on which the app failed: ${shorten(nameOf(error), LONGEST_MESSAGE)}`,
    expected: "a message that the app can handle; the failure is a defect of the app",
  };
}

function nameOf(error: unknown): string {
  // The engine quotes the input in these, which may be a secret.
  if (error instanceof SyntaxError) return error.name;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
