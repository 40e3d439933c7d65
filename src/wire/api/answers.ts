import { z } from "zod";
import { proposal, requestSetSummary } from "./cluster-answer.ts";
import {
  binding,
  bucketKey,
  count,
  counts,
  demandKind,
  health,
  observing,
  paging,
  planMode,
  problemItem,
  reason,
  rejectedJob,
  resources,
  standing,
  text,
  texts,
  time,
  unit,
  verdict,
} from "./parts.ts";

/** The other answers of the HTTP API. */

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

const outcome = z.object({
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

const metadata = z
  .record(text, z.unknown())
  .optional()
  .meta({ description: "What the job's driver noted of it." });

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
  ...observing,
  ...paging,
});

const waiting = z.object({
  count,
  oldestAgeSeconds: z
    .number()
    .optional()
    .meta({ description: "Absent: there is none, or it is being handled." }),
});
const POISON = "Messages that failed too often, in demand-poison: the timer deals with them.";
const REJECTED = "Messages that could not be taken in, in demand-rejected, for 30 days.";

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

const planCounts = z.object({
  created: count,
  started: count,
  terminated: count,
  nodes: count,
  demands: count,
  unmet: count,
});

export const historyAnswer = z.object({
  cluster: text,
  ...observing,
  rows: z.array(
    z.object({
      at: time,
      plan: count,
      nodes: counts,
      inFlight: count,
      liveSets: count,
      created: count,
      terminated: count,
      started: count.optional(),
      unmet: count,
      mode: z.literal("observe").optional().meta({
        description:
          "The last plan only showed what it would do. Absent: it acted, or an older release made the row.",
      }),
      withheld: z.object({ create: count, start: count, stop: count }).optional().meta({
        description:
          "Nodes that the last plan would create, start and stop in node arrays that are only observed.",
      }),
      trouble: text.optional(),
      idle: count.optional().meta({ description: "Ready nodes that nothing needs and nobody calls busy." }),
      pricePerHour: z.number().optional().meta({ description: "Of all nodes whose price is known." }),
      idlePricePerHour: z.number().optional(),
      currency: text.optional(),
      unpricedNodes: count.optional(),
      callSeconds: z.record(z.string(), z.number()).optional().meta({
        description: "Seconds per call of CycleCloud's endpoints, of those that take a second or more.",
      }),
    }),
  ),
  keptPlans: z
    .array(count)
    .meta({ description: "Plans of that time that changed something and can be explained." }),
  planCounts: z.array(planCounts.extend({ plan: count, at: time })).meta({ description: "Their counts." }),
  next: time.optional().meta({
    description: "There are older rows than the answer holds: ask again with this as the parameter `to`.",
  }),
});

const explained = {
  cluster: text,
  plan: count,
  planAt: time,
  ...planMode,
  ...observing,
  counts: planCounts.optional().meta({ description: "Of all of a past plan." }),
  text: text.meta({ description: "All of it in sentences, a line each." }),
};

export const jobExplained = z.object({
  ...explained,
  kind: z.literal("demand"),
  set: text,
  id: text,
  of: demandKind,
  unit,
  asked: z.number(),
  placed: z.number(),
  pending: z.number(),
  rank: count,
  ranks: count,
  places: z.array(
    z.object({
      origin: z.enum(["existing", "in-flight", "planned"]),
      bucket: bucketKey.optional(),
      nodeId: text.optional(),
      name: text.optional(),
      nodes: count,
      slots: count.optional(),
      bound: z.boolean(),
    }),
  ),
  moreNodes: count,
  incomplete: z.boolean(),
  reasons: z.array(reason),
  reasonTexts: texts,
  moreReasons: count,
  binding: binding.optional(),
  ahead: z.array(z.object({ raise: z.looseObject({ of: z.enum(["limit", "pool"]) }), demands: count })),
  alsoIn: texts,
  metadata,
});

const load = z.array(z.object({ set: text, id: text, slots: count, bound: z.boolean() }));

export const nodeExplained = z.object({
  ...explained,
  kind: z.literal("node"),
  nodeId: text,
  name: text,
  hostname: text.optional(),
  array: text,
  purpose: text,
  verdict: verdict.optional(),
  neededBy: texts,
  load,
  moreJobs: count,
  ownership: text
    .optional()
    .meta({ description: "ours or not ours, and why; absent: it is gone, or a past plan was asked for." }),
  timeouts: z
    .object({ idleSeconds: z.number(), bootSeconds: z.number() })
    .optional()
    .meta({ description: "That count for it now; absent: it is gone, or a past plan was asked for." }),
  reported: z
    .object({ resources, available: resources })
    .optional()
    .meta({ description: "What its scheduler says of it now: it counts in place of what is computed." }),
});

export const hostExplained = z
  .object({
    ...explained,
    kind: z.literal("host"),
    hostname: text,
    requestSets: texts,
    standing: standing.optional().meta({ description: "Absent: it is not reported any more." }),
    resources,
    available: resources,
    jobs: texts,
    load,
    moreJobs: count,
  })
  .meta({ description: "A host that a scheduler reports and that is no node of the cluster." });

export const explanation = z.union([jobExplained, nodeExplained, hostExplained]);

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
    .meta({ description: "null: a cluster has never been looked at, or cannot be read." }),
  poisonMessages: waiting.optional().meta({ description: `${POISON} Absent: the queue cannot be read.` }),
  rejectedMessages: waiting.optional().meta({ description: `${REJECTED} Absent: the queue cannot be read.` }),
});

export const stopAnswer = z
  .object({ stop: z.literal(true), instance: text })
  .meta({ description: "The node will be stopped." });

export const openapiAnswer = z.looseObject({ openapi: text }).meta({ description: "This document." });

const create = z.object({
  nodearray: text,
  machineType: text,
  placementGroup: text.optional(),
  count: z.int(),
});

const trialCounts = {
  nodesCreated: count,
  nodesStarted: count,
  demands: count,
  unmet: count,
  pricePerHour: z.number().optional().meta({ description: "Of the nodes created; absent: not known." }),
};

export const trialAnswer = z
  .object({
    cluster: text,
    lookedAt: time.meta({ description: "The look that both plans are made on." }),
    currency: text.optional().meta({ description: "Of prices; absent: there are none." }),
    acting: z.boolean().meta({
      description:
        "False: the mode is observe, or the cluster is not started. In observe mode the plan is what would be done.",
    }),
    ...planMode,
    ...observing,
    plan: z.object({
      ...trialCounts,
      creates: z.array(create),
      starts: texts,
      terminates: texts,
      outcomes: z.array(outcome.omit({ set: true }).extend({ requestSet: text, unmet: z.number() })),
    }),
    without: z.object(trialCounts).meta({ description: "The plan without the changes." }),
    difference: z.object({
      nodesCreated: z.int(),
      pricePerHour: z.number().optional(),
      creates: z.array(create),
      started: texts,
      notStarted: texts,
      demands: z.array(
        z.object({
          requestSet: text,
          id: text,
          unit,
          asked: z.number(),
          placed: z.number(),
          askedWithout: z.number(),
          placedWithout: z.number(),
        }),
      ),
      demandCount: count,
    }),
    rejectedJobs: z.array(z.object({ requestSet: text, jobs: z.array(rejectedJob) })),
  })
  .meta({ description: "What would be planned with the changed inputs. Nothing was changed." });
