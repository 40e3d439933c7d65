import { z } from "zod";
import { time, count, text, texts, unit, phase } from "./parts.ts";
import type { Shown } from "./shown.ts";

/** The node arrays of a cluster: its own, dynamic and grouped ones. A part of the answer of GET /api/clusters/{cluster}. */

const timeouts = {
  idleTimeout: z.number().meta({ description: "Of its nodes, by the configuration. Seconds." }),
  bootTimeout: z.number().meta({ description: "Of its nodes, by the configuration. Seconds." }),
};

const arrayUse = {
  mode: z
    .enum(["observe", "act"])
    .optional()
    .meta({ description: "observe: the array is only observed. Absent: an older app answers." }),
  ...timeouts,
  target: z
    .object({ nodes: count, cores: count })
    .meta({ description: "The largest target of any set in nodes, and in cores: two floors." }),
  askedBy: texts,
  moreSets: count.optional(),
  targets: z.array(z.object({ requestSet: text, id: text, unit, asked: z.number(), placed: z.number() })),
  nodes: z.partialRecord(phase, count),
  count: count.meta({ description: "All of them but those that are off." }),
  inFlight: count,
  neededBy: z.array(z.object({ requestSet: text, nodes: count })),
  notNeeded: count,
};

const dynamicArray = z.object({
  name: text,
  dynamic: z.literal(true),
  exists: z.boolean(),
  extends: text.optional(),
  flaggedForRemoval: z.boolean(),
  ...arrayUse,
  problem: text.optional().meta({ description: "Why it cannot come to be, or grow." }),
});

const ownArray = z.object({
  name: text,
  managed: z.boolean(),
  spot: z.boolean(),
  limit: z.object({ count: count.optional(), cores: count.optional() }),
  ...arrayUse,
  buckets: z.array(
    z.object({
      machineType: text,
      vcpus: z.number(),
      active: count,
      available: count,
      max: count.optional(),
      invalid: text.optional(),
    }),
  ),
});

export const nodearray = z.union([ownArray, dynamicArray]);

export const groupedArray = z
  .object({
    name: text,
    extends: text,
    ...timeouts,
    requestSets: texts,
    groupsWanted: count,
    groupsWhole: count,
    nodes: count,
    nodesReady: count,
    ungrouped: text.optional(),
    groups: z.array(
      z.object({
        id: text.optional(),
        bucket: text,
        machineType: text,
        state: z.enum(["whole", "filling", "given-up", "spare"]),
        nodesWanted: count,
        nodesAskedFor: count,
        nodes: count,
        nodesReady: count,
        since: time.optional(),
        givenUpAt: time.optional(),
        why: text,
      }),
    ),
  })
  .meta({
    description: 'The generated array of a grouped request: "execute:64" for cores, "execute:16n" for nodes.',
  });

export type OwnArrayShown = Shown<typeof ownArray>;
export type DynamicArrayShown = Shown<typeof dynamicArray>;
export type NodearrayShown = Shown<typeof nodearray>;
export type GroupedArrayShown = Shown<typeof groupedArray>;
/** The members that every array has. */
export type ArrayUseShown = Shown<z.ZodObject<typeof arrayUse>>;
export type ArrayTimeoutsShown = Shown<z.ZodObject<typeof timeouts>>;
export type GroupShown = GroupedArrayShown["groups"][number];
