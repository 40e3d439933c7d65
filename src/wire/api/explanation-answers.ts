import { z } from "zod";
import type { BuiltAnswer } from "./parts.ts";
import { nodeLife } from "./node-history-answer.ts";
import { metadata } from "./request-set-answers.ts";
import {
  time,
  count,
  text,
  texts,
  resources,
  standing,
  observing,
  planMode,
  unit,
  demandKind,
  bucketKey,
  reason,
  binding,
  verdict,
  counts,
  planBound,
} from "./parts.ts";
import type { Shown, Sparse } from "./shown.ts";
import type { Instant } from "../../domain/units.ts";

/** GET /api/clusters/{cluster}/history. */

const planCounts = z.object({
  created: count,
  started: count,
  terminated: count,
  nodes: count,
  demands: count,
  unmet: count,
  bound: planBound.optional(),
});

const historyRow = z.object({
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
  arrays: z
    .array(
      z.object({
        name: text.optional().meta({ description: "Absent: all others together." }),
        nodes: count.meta({ description: "With a VM." }),
        idle: count,
        pricePerHour: z.number().optional(),
        idlePricePerHour: z.number().optional(),
      }),
    )
    .optional()
    .meta({
      description:
        "The node arrays that have nodes, also dynamic and grouped ones, those with most nodes first. Absent: none, or an older release made the row.",
    }),
  callSeconds: z.record(z.string(), z.number()).optional().meta({
    description: "Seconds per call of CycleCloud's endpoints, of those that take a second or more.",
  }),
});

export const historyAnswer = z.object({
  cluster: text,
  ...observing,
  rows: z.array(historyRow),
  keptPlans: z
    .array(count)
    .meta({ description: "Plans of that time that changed something and can be explained." }),
  planCounts: z.array(planCounts.extend({ plan: count, at: time })).meta({ description: "Their counts." }),
  next: time.optional().meta({
    description: "There are older rows than the answer holds: ask again with this as the parameter `to`.",
  }),
});

export type HistoryShown = Omit<BuiltAnswer<typeof historyAnswer>, "rows"> & {
  readonly rows: readonly Sparse<typeof historyRow>[];
};

/** A row as it is made: with all members named, and before its time is a text. */
export type NewHistoryRow = Omit<Shown<typeof historyRow>, "at"> & { readonly at: Instant };

// GET /api/clusters/{cluster}/explain: a demand, a node or a host.

const explained = {
  cluster: text,
  plan: count,
  planAt: time,
  ...planMode,
  ...observing,
  counts: planCounts.optional().meta({ description: "Of all of a past plan." }),
  text: text.meta({ description: "All of it in sentences, a line each." }),
};

const jobExplained = z.object({
  ...explained,
  kind: z.literal("demand"),
  set: text,
  id: text,
  of: demandKind,
  unit,
  asked: z.number(),
  placed: z.number(),
  pending: z.number(),
  rank: count,
  ranks: count,
  places: z.array(
    z.object({
      origin: z.enum(["existing", "in-flight", "planned"]),
      bucket: bucketKey.optional(),
      nodeId: text.optional(),
      name: text.optional(),
      nodes: count,
      slots: count.optional(),
      bound: z.boolean(),
    }),
  ),
  moreNodes: count,
  incomplete: z.boolean(),
  reasons: z.array(reason),
  reasonTexts: texts,
  moreReasons: count,
  binding: binding.optional(),
  ahead: z.array(z.object({ raise: z.looseObject({ of: z.enum(["limit", "pool"]) }), demands: count })),
  alsoIn: texts,
  expectedReadyAt: time.optional().meta({
    description:
      "When the last of the nodes that it waits for can be expected; past: it takes longer than others did. Absent: it waits for none, they are not requested, or a past plan was asked for.",
  }),
  metadata,
});

const load = z.array(z.object({ set: text, id: text, slots: count, bound: z.boolean() }));

const nodeExplained = z.object({
  ...explained,
  kind: z.literal("node"),
  nodeId: text,
  name: text,
  hostname: text.optional(),
  array: text,
  purpose: text,
  verdict: verdict.optional(),
  neededBy: texts,
  load,
  moreJobs: count,
  ownership: text
    .optional()
    .meta({ description: "ours or not ours, and why; absent: it is gone, or a past plan was asked for." }),
  timeouts: z
    .object({ idleSeconds: z.number(), bootSeconds: z.number() })
    .optional()
    .meta({ description: "That count for it now; absent: it is gone, or a past plan was asked for." }),
  reported: z
    .object({ resources, available: resources })
    .optional()
    .meta({ description: "What its scheduler says of it now: it counts in place of what is computed." }),
  history: nodeLife
    .optional()
    .meta({ description: "Its life so far, or until it went. Absent: a past plan was asked for." }),
});

const hostExplained = z
  .object({
    ...explained,
    kind: z.literal("host"),
    hostname: text,
    requestSets: texts,
    standing: standing.optional().meta({ description: "Absent: it is not reported any more." }),
    resources,
    available: resources,
    jobs: texts,
    load,
    moreJobs: count,
  })
  .meta({ description: "A host that a scheduler reports and that is no node of the cluster." });

export const explanation = z.union([jobExplained, nodeExplained, hostExplained]);

export type DemandExplanationShown = BuiltAnswer<typeof jobExplained>;

export type ExplanationShown =
  | DemandExplanationShown
  | BuiltAnswer<typeof nodeExplained>
  | BuiltAnswer<typeof hostExplained>;
