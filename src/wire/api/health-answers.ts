import { z } from "zod";
import { time, count, text, problemItem, health } from "./parts.ts";
import type { Shown } from "./shown.ts";

/** The answers about all clusters: health, and messages that were put aside. */

const waiting = z.object({
  count,
  oldestAgeSeconds: z
    .number()
    .optional()
    .meta({ description: "Absent: there is none, or it is being handled." }),
});
const POISON = "Messages that failed too often, in demand-poison: the timer handles them.";
const REJECTED = "Messages that could not be accepted, in demand-rejected, for 30 days.";

/** Messages that were put aside. A reader gets the kind and length of each text, an operator the text. */
export const rejectedMessagesAnswer = waiting.extend({
  oldest: z.array(
    z.object({
      messageId: text,
      rejectedAt: time,
      cluster: text.optional(),
      set: text.optional(),
      problems: z.array(problemItem),
      text,
    }),
  ),
});

const lastWake = z.object({ id: text, at: time }).optional().meta({
  description: "The last wake message with an id that came through the queue. Absent: none did.",
});

export const clustersAnswer = z.object({
  version: text.meta({ description: "The release that answers." }),
  time: time.meta({ description: "The app's clock." }),
  timerAt: time.optional().meta({ description: "When the timer last ran. Absent: it has never run." }),
  clusters: z.array(z.object({ cluster: text, health, lastWake })),
  poisonMessages: waiting.meta({ description: POISON }),
  rejectedMessages: rejectedMessagesAnswer,
});

export const healthAnswer = z.object({
  ok: z.boolean(),
  clusters: count,
  observing: text.optional().meta({
    description: "How many clusters are only observed, in words. Absent: none.",
  }),
  warnings: count.meta({
    description:
      "Of all clusters, and one while messages lie in demand-poison for five minutes. They leave ok as it is.",
  }),
  oldestLookAgeSeconds: z
    .number()
    .nullable()
    .meta({ description: "null: a cluster has never been observed, or cannot be read." }),
  poisonMessages: waiting.optional().meta({ description: `${POISON} Absent: the queue cannot be read.` }),
  rejectedMessages: waiting.optional().meta({ description: `${REJECTED} Absent: the queue cannot be read.` }),
});

export type ClustersShown = Shown<typeof clustersAnswer>;
export type AllHealthShown = Shown<typeof healthAnswer>;
export type WaitingMessagesShown = Shown<typeof waiting>;
export type RejectedMessagesShown = Shown<typeof rejectedMessagesAnswer>;
export type RejectedMessageShown = RejectedMessagesShown["oldest"][number];
