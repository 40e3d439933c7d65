import { z } from "zod";
import { NAME_CAUSES } from "../../domain/name-cause.ts";
import { requestSetSummary, proposal } from "./cluster-demand.ts";
import { time, count, text, texts, rejectedJob, observing, paging, unit, demandKind } from "./parts.ts";
import type { BuiltAnswer } from "./parts.ts";
import type { Shown } from "./shown.ts";

/** The answers about one request set. */

/** The parts of a set that have their own revision and expiry. */
const part = z.enum(["demand", "schedulerNodes", "pools"]);

export const acknowledgement = z
  .object({
    cluster: text,
    requestSet: text,
    revision: z.number(),
    expiresAt: time,
    changed: z.boolean().meta({ description: "False: a mere renewal, or a report alone." }),
    taken: z.array(part).meta({ description: "The parts of the message that are in force now." }),
    older: z.array(part).meta({ description: "Its other parts: a newer revision of each is held." }),
    asks: z.object({ nodearrays: count, jobs: count, slots: z.number() }).optional().meta({
      description:
        "How much was accepted; slots are those of all jobs. Absent: the message left the demand as it is.",
    }),
    rejectedJobs: z.array(rejectedJob),
    moreRejectedJobs: count.optional().meta({
      description: "How many more jobs could not be read: only the first ones are listed. Absent: none.",
    }),
    notes: texts.meta({
      description:
        "What is accepted, and may not be meant: jobs that ask for no amount, a cut interval, an unknown node array, and the like.",
    }),
    ...observing,
  })
  .meta({ description: "The demand is stored; achieving it is under way." });

export const outcome = z.object({
  set: text,
  id: text,
  kind: demandKind,
  unit,
  asked: z.number(),
  placed: z.number(),
  pending: z.number(),
  reasons: texts,
  moreReasons: count.optional(),
  binding: text.optional(),
});

export const metadata = z
  .record(text, z.unknown())
  .optional()
  .meta({ description: "What the job's driver noted of it." });

/** What became of one name. */
const namedNode = z.object({
  name: text,
  array: text,
  state: z.enum(["coming", "ready", "refused", "failed"]),
  reason: text.optional(),
  from: time.optional().meta({
    description:
      "When a refusal or failure was decided, else since when the name is wanted. Absent: no plan has seen it.",
  }),
  since: z.number().optional().meta({
    description: "The moment of the resume that this answers, as the sender said it. Absent: none was said.",
  }),
  cause: z.enum(NAME_CAUSES).optional().meta({
    description: "What kind of thing `reason` is. Absent: it is none that keeps the name from its node.",
  }),
  holdsFor: z.enum(["everyone", "name"]).optional().meta({
    description:
      "For whom the cause holds: everyone who could use this node array, size and placement group, or this name alone. Absent: neither is known, as for the cap of another request set.",
  }),
  room: count.optional().meta({
    description:
      "How many more nodes of its node array, size and placement group the set can have now. Absent: the cause does not hold for everyone, or no plan has seen the demand as it is now.",
  }),
  until: time.optional().meta({
    description: "There is no room because of pauses: when the first of them ends. Absent: no end is known.",
  }),
  earlier: z.literal(true).optional().meta({
    description:
      "Its node was Ready before the resume that the name waits for. It goes once its scheduler reports it closed without a job.",
  }),
  nodeId: text.optional(),
  ours: z.literal(false).optional().meta({
    description:
      "The autoscaler did not make the node, and does not stop it. Absent: it is ours, or there is none.",
  }),
});

export const requestSetAnswer = requestSetSummary.extend({
  observed: z.boolean().meta({ description: "A plan has taken this demand into account." }),
  expectedReadyAt: time
    .optional()
    .meta({ description: "When the last node that it waits for can be expected, by the boot times seen." }),
  withheld: z.object(proposal).optional().meta({
    description:
      "If it waits for nodes: what the plan of the cluster would do in node arrays that are only observed.",
  }),
  outcomes: z.array(outcome.extend({ metadata })),
  names: z
    .array(namedNode)
    .optional()
    .meta({ description: "What became of each name. Absent: the set names no nodes." }),
  ...observing,
  ...paging,
});

export type NameShown = Shown<typeof namedNode>;
export type OneRequestSetShown = BuiltAnswer<typeof requestSetAnswer>;
export type AcknowledgementShown = BuiltAnswer<typeof acknowledgement>;
