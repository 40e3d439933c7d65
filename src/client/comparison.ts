import { z } from "zod";

/** Reads the comparison for display, as state.ts reads the other answers: unreadable parts are left out. */

const text = z.string().optional().catch(undefined);
const number = z.number().optional().catch(undefined);
const listOf = <T extends z.ZodType>(item: T) => z.array(item).catch([]);

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

/** Undefined if it is no comparison. */
export function readComparison(body: unknown): ComparisonAnswer | undefined {
  return comparison.safeParse(body).data;
}
