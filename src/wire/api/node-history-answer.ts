import { z } from "zod";
import type { BuiltAnswer } from "./parts.ts";
import { observing, phase, text, texts, time, count } from "./parts.ts";
import type { Shown } from "./shown.ts";

/** GET /api/clusters/{cluster}/history/nodes. */

/** A node from the plan that asked for it until it went. GET /api/clusters/{cluster}/explain has it too. */
export const nodeLife = z.object({
  nodeId: text,
  name: text,
  hostname: text.optional(),
  instanceId: text.optional(),
  array: text,
  countsFor: text.meta({ description: 'A node array, a dynamic one, or a grouped one: "execute:64".' }),
  machineType: text.optional(),
  placementGroup: text.optional(),
  spot: z.literal(true).optional(),
  madeBy: z
    .enum(["us", "another tool"])
    .meta({ description: "Another tool: no create of ours is known to have made it." }),
  phase: phase.or(z.literal("gone")),
  askedAt: time.optional().meta({
    description: "When the plan was made that asked for it. Absent: another tool did, or it is not known.",
  }),
  askedByPlan: count.optional(),
  firstSeenAt: time.meta({ description: "The first observation that showed it." }),
  firstReadyAt: time.optional().meta({ description: "Absent: it never was Ready, or is deallocated." }),
  firstNeededAt: time.optional().meta({ description: "Absent: no plan needed it, or it is not known." }),
  requestSets: texts.meta({ description: "The first few request sets whose demand was put on it then." }),
  lastNeededAt: time
    .optional()
    .meta({ description: "To within the idle timeout: not each plan that needs it is noted." }),
  notNeededSince: time
    .optional()
    .meta({ description: "It was Ready, and no demand needed it any more. Absent: needed, or not known." }),
  draining: text.optional().meta({ description: "Why it was told to stop. Absent: the app did not." }),
  drainingSince: time.optional(),
  drainingByPlan: count.optional(),
  stopAcceptedAt: time.optional().meta({ description: "When CycleCloud accepted its stop." }),
  goneAt: time.optional().meta({ description: "The first observation that lacked it. Absent: it is there." }),
  why: text.optional().meta({ description: "Why it went, as far as the app knows. Absent: it is there." }),
  hours: z.number().meta({ description: "From its first observation until it went, or now." }),
  hoursDeallocated: z
    .number()
    .optional()
    .meta({ description: "Of these, those without a VM. Absent: it never was deallocated." }),
  pricePerHour: z.number().optional().meta({
    description: "With a VM, by the configuration's prices. Absent: not known.",
  }),
  pricePerHourDeallocated: z.number().optional().meta({
    description: "Of its disks, by `prices.deallocated`. Absent: not known, or it never was deallocated.",
  }),
  cost: z.number().optional().meta({
    description: "Of all hours; while it was deallocated that of its disks, or nothing if it is not known.",
  }),
  currency: text.optional(),
});

export const nodeHistoryAnswer = z.object({
  cluster: text,
  ...observing,
  rows: z.array(nodeLife),
  next: text.optional().meta({
    description: "There are more nodes than the answer holds: ask again with this as the parameter `page`.",
  }),
});

export type NodeLifeShown = Shown<typeof nodeLife>;
export type NodeHistoryShown = BuiltAnswer<typeof nodeHistoryAnswer>;
