import { z } from "zod";
import type { BuiltAnswer } from "./parts.ts";
import { time, count, text, texts, observing } from "./parts.ts";
import type { Shown } from "./shown.ts";

/** The short answers of the HTTP API. */

export const tickAnswer = z.object({
  cluster: text,
  outcome: z.enum(["planned", "covered", "waiting", "troubled", "overtaken", "failed", "timed-out"]),
  plan: count.optional(),
  trouble: z.object({ kind: text, message: text }).optional(),
  until: time.optional(),
  message: text.optional(),
  ...observing,
});

export const wakeAnswer = z
  .object({ cluster: text, id: text.meta({ description: "Shown as lastWake once it came through." }) })
  .meta({ description: "A wake message is in the queue." });

export const restoredAnswer = z
  .object({
    cluster: text,
    epoch: text.meta({ description: "Random; ids of requests to CycleCloud are made with it." }),
    plan: count.meta({ description: "The next plan has the next number." }),
    restingUntil: time.meta({ description: "Scale-down rests until then." }),
    createsFrom: time.meta({ description: "If the cluster has nodes, nothing is created before." }),
    ...observing,
  })
  .meta({ description: "A new epoch has begun." });

export const endDownAnswer = z
  .object({
    cluster: text,
    nodearray: text,
    count,
    nodes: texts.meta({ description: "Those that the last observation shows as shut down." }),
    until: time.meta({ description: "The order is in force until then." }),
    ...observing,
  })
  .meta({ description: "These nodes end, within the bounds, unless an exception keeps them." });

export const stopAnswer = z
  .object({ stop: z.literal(true), instance: text })
  .meta({ description: "The node will be stopped." });

export const openapiAnswer = z.looseObject({ openapi: text }).meta({ description: "This document." });

export type TickShown = BuiltAnswer<typeof tickAnswer>;
export type WakeShown = BuiltAnswer<typeof wakeAnswer>;
export type RestoredShown = BuiltAnswer<typeof restoredAnswer>;
export type EndDownShown = BuiltAnswer<typeof endDownAnswer>;
export type StopShown = Shown<typeof stopAnswer>;
