import { z } from "zod";
import { time, count, text, texts, unit, demandKind, preference, among, planMode } from "./parts.ts";
import type { Shown } from "./shown.ts";

/** The last plan of a cluster, and how new nodes are chosen. A part of the answer of GET /api/clusters/{cluster}. */

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
