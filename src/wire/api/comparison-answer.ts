import { z } from "zod";
import { count, text, texts, time } from "./parts.ts";
import type { Shown } from "./shown.ts";

/** GET /api/clusters/{cluster}/comparison. */

const hours = z.number().min(0);
const day = z.iso.date().meta({ description: "In UTC." });

const fleet = z.object({
  peakNodes: count,
  meanNodes: z.number(),
  nodeHours: hours.meta({ description: "Of nodes that have a VM, or get one." }),
  idleNodeHours: hours.meta({
    description: "Of these: up, with no job on the node and no demand that needs it.",
  }),
  boots: count,
  cost: z.number().optional().meta({ description: "By the configured prices; absent: there are none." }),
  unpricedNodeHours: hours.optional().meta({ description: "Their price is not known, and not in the cost." }),
});

const difference = z.object({
  kind: z.enum(["idle", "more", "fewer"]).meta({
    description:
      "idle: real nodes beyond the virtual ones that were idle. more: the same, booting or at work. fewer: virtual nodes beyond the real ones.",
  }),
  since: time,
  until: time,
  hours,
  nodes: count.meta({ description: "The most at a time." }),
  nodeHours: hours,
  stoppedAt: time.optional().meta({ description: "When the virtual nodes were stopped." }),
  requestSets: texts.optional().meta({ description: "The first few that need the virtual nodes." }),
  text: text.meta({ description: "All of it in a sentence." }),
});

export const comparisonAnswer = z.object({
  cluster: text,
  observing: z
    .array(z.object({ nodearray: text, since: time, virtualNodes: count }))
    .meta({ description: "The node arrays that are in mode observe now." }),
  days: z
    .array(
      z.object({
        day,
        currency: text.optional(),
        waitingJobHours: z.object({ real: hours, virtual: hours }).optional().meta({
          description: "How long jobs waited for capacity, all together; absent: no set has jobs.",
        }),
        nodearrays: z.array(
          z.object({
            nodearray: text,
            observedHours: hours,
            real: fleet,
            virtual: fleet,
            differences: z.array(difference).meta({ description: "The largest first." }),
          }),
        ),
      }),
    )
    .meta({ description: "The newest first." }),
  next: day.optional().meta({
    description: "There are older days than the answer holds: ask again with this as the parameter `until`.",
  }),
});

export type ComparisonShown = Shown<typeof comparisonAnswer>;
export type ComparedDayShown = ComparisonShown["days"][number];
export type ComparedArrayShown = ComparedDayShown["nodearrays"][number];
export type FleetShown = Shown<typeof fleet>;
export type DifferenceShown = Shown<typeof difference>;
