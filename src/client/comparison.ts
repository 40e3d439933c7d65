import { z } from "zod";
import { listOf, number, reader, text } from "./readable.ts";

/** A reader of the comparison, for display. */

const fleet = z
  .object({
    peakNodes: number,
    meanNodes: number,
    nodeHours: number,
    idleNodeHours: number,
    boots: number,
    cost: number,
    unpricedNodeHours: number,
  })
  .optional()
  .catch(undefined);

const comparison = z.object({
  observing: listOf(z.object({ nodearray: text, since: text, virtualNodes: number })),
  days: listOf(
    z.object({
      day: text,
      currency: text,
      waitingJobHours: z.object({ real: number, virtual: number }).optional().catch(undefined),
      nodearrays: listOf(
        z.object({
          nodearray: text,
          observedHours: number,
          real: fleet,
          virtual: fleet,
          differences: listOf(z.object({ nodeHours: number, text })),
        }),
      ),
    }),
  ),
  next: text,
});

export type ComparisonAnswer = z.infer<typeof comparison>;
export type FleetAnswer = NonNullable<z.infer<typeof fleet>>;

export const readComparison = reader(comparison);
