import { z } from "zod";
import { outcome } from "./request-set-answers.ts";
import { time, count, text, texts, rejectedJob, observing, planBound, planMode, unit } from "./parts.ts";
import type { BuiltAnswer } from "./parts.ts";
import type { Shown } from "./shown.ts";

/** POST /api/clusters/{cluster}/plan: a dry run. */

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
  bound: planBound.optional(),
};

const trialPlan = z.object({
  ...trialCounts,
  creates: z.array(create),
  starts: texts,
  terminates: texts,
  outcomes: z.array(outcome.omit({ set: true }).extend({ requestSet: text, unmet: z.number() })),
});

const difference = z.object({
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
});

export const trialAnswer = z
  .object({
    cluster: text,
    lookedAt: time.meta({ description: "The observation that both plans use." }),
    currency: text.optional().meta({ description: "Of prices; absent: there are none." }),
    acting: z.boolean().meta({
      description:
        "False: the mode is observe, or the cluster is not started. In observe mode the plan is what would be done.",
    }),
    ...planMode,
    ...observing,
    plan: trialPlan,
    without: z.object(trialCounts).meta({ description: "The plan without the changes." }),
    difference,
    rejectedJobs: z.array(z.object({ requestSet: text, jobs: z.array(rejectedJob) })),
  })
  .meta({ description: "What would be planned with the changed inputs. Nothing was changed." });

export type TrialAnswerShown = BuiltAnswer<typeof trialAnswer>;
/** The answer without the jobs that could not be read: the door knows these. */
export type TrialShown = Omit<TrialAnswerShown, "rejectedJobs">;
export type TrialCountsShown = Shown<z.ZodObject<typeof trialCounts>>;
export type TrialPlanShown = Shown<typeof trialPlan>;
export type TrialCreateShown = Shown<typeof create>;
export type TrialDifferenceShown = Shown<typeof difference>;
export type ChangedDemandShown = TrialDifferenceShown["demands"][number];
