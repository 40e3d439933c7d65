import { z } from "zod";
import type { BuiltAnswer } from "./parts.ts";
import type { Shown } from "./shown.ts";
import { time, count, text, counts, observing } from "./parts.ts";

/** GET /api/clusters/{cluster}/history. */

export const planCounts = z.object({
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
      idle: count
        .optional()
        .meta({ description: "Ready nodes that no demand needs and that are not known to be busy." }),
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

export type HistoryShown = BuiltAnswer<typeof historyAnswer>;
export type HistoryRowShown = HistoryShown["rows"][number];
export type PlanCountsShown = Shown<typeof planCounts>;
