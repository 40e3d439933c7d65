import { z } from "zod";
import type { DryRun, Explanation, History } from "./answers.ts";
import { counts, flag, lines, listOf, number, readerOf, text, texts } from "./readable.ts";

/** Readers of past and tried plans, for display: history, dry runs, explanations. */

const history = z.object({
  keptPlans: z.array(z.number()).catch([]),
  rows: listOf(
    z.object({
      at: text,
      plan: number,
      nodes: counts,
      inFlight: number,
      liveSets: number,
      created: number,
      terminated: number,
      unmet: number,
      mode: text,
      withheld: z.record(z.string(), z.number()).optional().catch(undefined),
      idle: number,
      pricePerHour: number,
      idlePricePerHour: number,
      currency: text,
      unpricedNodes: number,
      callSeconds: z.record(z.string(), z.number()).optional().catch(undefined),
    }),
  ),
});

const triedCreate = z.object({
  nodearray: text,
  machineType: text,
  placementGroup: text,
  count: number,
});

const unmet = z.object({
  requestSet: text,
  id: text,
  unit: text,
  asked: number,
  placed: number,
  reasons: texts,
  binding: text,
});

/** A dry run: the actions that it would take, and how they differ from those without the changes. */
const dryRun = z.object({
  currency: text,
  acting: flag,
  mode: text,
  observed: texts,
  plan: z.object({
    creates: listOf(triedCreate),
    starts: texts,
    terminates: texts,
    demands: number,
    unmet: number,
    pricePerHour: number,
    outcomes: listOf(unmet),
  }),
  difference: z
    .object({
      nodesCreated: number,
      pricePerHour: number,
      demands: listOf(
        z.object({
          requestSet: text,
          id: text,
          unit: text,
          asked: number,
          placed: number,
          askedWithout: number,
          placedWithout: number,
        }),
      ),
    })
    .optional()
    .catch(undefined),
  rejectedJobs: listOf(z.object({ requestSet: text, jobs: listOf(z.object({ name: text })) })),
});

const explanation = z.object({ text: lines });

export const readHistory = readerOf<History>()(history);
export const readDryRun = readerOf<DryRun>()(dryRun);
export const readExplanation = readerOf<Explanation>()(explanation);

export type HistoryAnswer = z.infer<typeof history>;
export type HistoryRowAnswer = HistoryAnswer["rows"][number];
export type DryRunAnswer = z.infer<typeof dryRun>;
