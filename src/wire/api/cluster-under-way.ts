import { z } from "zod";
import { backoffCause } from "./cluster-buckets.ts";
import { count, problemItem, text, texts, time } from "./parts.ts";
import type { Shown } from "./shown.ts";

/** Requests that have not ended, and recent refusals. A part of the answer of GET /api/clusters/{cluster}. */

const inFlight = z.object({
  requestId: text,
  bucket: text,
  countsFor: text,
  added: count,
  stillToShow: count,
  since: time,
});

const intent = z.object({
  id: text,
  effect: z.enum(["create", "start", "terminate"]),
  bucket: text.optional(),
  count: count.optional(),
  countsFor: text.optional(),
  nodes: texts.optional(),
  committedAt: time,
  sent: z.enum(["never", "maybe", "once-refused"]),
});

const backoff = z.object({
  bucket: text,
  dynamicArray: text.optional(),
  until: time,
  cause: backoffCause,
  message: text,
});

const rejection = z.object({
  at: time,
  messageId: text,
  set: text.optional(),
  problems: z.array(problemItem),
});

const alone = z.object({ bucket: text, dynamicArray: text.optional() });

export const underWay = {
  inFlight: z.array(inFlight),
  intents: z.array(intent),
  backoffs: z.array(backoff),
  /** Each gets a create request of its own until CycleCloud has accepted it once. Absent: an older app answers. */
  alone: z.array(alone).optional(),
  rejections: z.array(rejection),
};

export type InFlightShown = Shown<typeof inFlight>;
export type IntentShown = Shown<typeof intent>;
export type BackoffShown = Shown<typeof backoff>;
export type AloneShown = Shown<typeof alone>;
export type RejectionShown = Shown<typeof rejection>;
export type UnderWayShown = Shown<z.ZodObject<typeof underWay>>;
