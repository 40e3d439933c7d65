import { z } from "zod";
import {
  time,
  count,
  text,
  rejectedJob,
  unit,
  demandKind,
  texts,
  preference,
  among,
  planMode,
  planBound,
} from "./parts.ts";
import type { Shown } from "./shown.ts";

/** The demand of a cluster, and what became of it. A part of the answer of GET /api/clusters/{cluster}. */

const cause = z.object({
  text,
  demands: count,
  first: z.object({ requestSet: text, id: text }),
});

export const waiting = z
  .object({
    unmet: count,
    missing: z.array(z.object({ unit, amount: z.number() })),
    onTheirWay: count.meta({ description: "Demands whose place is on nodes that are still to come up." }),
    reasons: z.array(cause),
    remedies: z.array(cause),
  })
  .meta({ description: "What is asked for and not there, and why: the most frequent cause first." });

const times = {
  revision: z.number(),
  expirationInterval: z.number(),
  acceptedAt: time,
  expiresAt: time,
  expiresInSeconds: z.number(),
};

const separatePart = z
  .object({ live: z.boolean(), ...times })
  .optional()
  .meta({ description: "It came without demand, at least as new as the demand that is held." });

export const requestSetSummary = z.object({
  requestSet: text,
  state: z.enum(["live", "empty", "lapsed"]),
  ...times,
  demands: count,
  leftOut: text.optional().meta({
    description:
      "Why plans do not read this set. Absent: they do. Demand that a plan read and left out is in `troubles`.",
  }),
  reportsHosts: z.boolean(),
  rejectedJobs: z.array(rejectedJob),
  moreRejectedJobs: count.optional().meta({
    description: "How many more jobs could not be read: only the first ones are listed. Absent: none.",
  }),
  report: separatePart,
  pools: separatePart,
});

export const outcome = z
  .object({
    requestSet: text,
    id: text,
    kind: demandKind,
    user: text.optional().meta({ description: "Of a job, as its sender names it." }),
    unit,
    asked: z.number(),
    placed: z.number(),
    pending: z.number().meta({ description: "Of placed, what waits for nodes that are coming." }),
    why: text.optional().meta({ description: "The reason that binds, where it has less than it asked for." }),
  })
  .meta({ description: "What became of one demand; those that lack something come first." });

export type WaitingShown = Shown<typeof waiting>;
export type CauseShown = Shown<typeof cause>;
export type RequestSetShown = Shown<typeof requestSetSummary>;
export type OutcomeShown = Shown<typeof outcome>;

// The last plan of a cluster, and how new nodes are chosen. A part of the answer of GET /api/clusters/{cluster}.

const ceiling = z.object({ nodes: count.optional(), cores: count.optional() });

export const choice = z
  .object({
    preference,
    among,
    caps: z.object({ requestSets: z.record(text, ceiling), users: z.record(text, ceiling) }).optional(),
    prices: z.object({ currency: text, locations: texts }).optional(),
  })
  .meta({ description: "How new nodes are chosen, by the configuration." });

const unmetDemand = z.object({
  requestSet: text,
  id: text,
  kind: demandKind,
  asked: z.number(),
  placed: z.number(),
  unit,
  reasons: texts,
  moreReasons: count.optional(),
  binding: text.optional(),
});

export const proposal = {
  creates: z.array(z.object({ bucket: text, count, countsFor: text })),
  starts: texts,
  terminates: texts,
};

export const lastPlan = z.object({
  number: count,
  at: time,
  ...planMode,
  ...proposal,
  withheld: z.object(proposal).optional().meta({
    description:
      "What the plan would do in node arrays that are only observed. terminates: also nodes that it would check once more first.",
  }),
  virtual: z.object(proposal).optional().meta({
    description:
      "What the virtual fleet of the observed node arrays did with this plan: nodes that only the record has. Absent: no array is observed.",
  }),
  bound: planBound.optional(),
  demands: count,
  waitingForNodes: count,
  unmet: z.array(unmetDemand),
  unmetCount: count,
});

export type ChoiceShown = Shown<typeof choice>;
export type LastPlanShown = Shown<typeof lastPlan>;
export type UnmetShown = Shown<typeof unmetDemand>;
export type ProposalShown = Shown<z.ZodObject<typeof proposal>>;
export type CreateShown = ProposalShown["creates"][number];
