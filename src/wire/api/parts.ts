import { z } from "zod";
import type { Shown, Sparse } from "./shown.ts";

/** Parts that several answers share. Absent members are left out of the JSON, never null. */

export const time = z.iso.datetime().meta({ description: "A moment, ISO 8601 in UTC." });
export const count = z.int().min(0);
export const text = z.string();
export const texts = z.array(text);
export const counts = z.record(text, count);
/** A single value of a constraint or a resource. Sizes are texts: "memory::4g". */
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
export const resources = z.record(text, scalar);
/** Whether a reported host that is no node of the cluster is capacity, or why not. */
export const standing = z.enum(["capacity", "closed", "former-node", "named-as-a-node", "load-unknown"]);

export const problemItem = z
  .object({
    path: text.meta({ description: "Where in the input; empty: all of it." }),
    found: text,
    expected: text,
    didYouMean: text.optional(),
  })
  .meta({ description: "One thing that is wrong with an input." });

export const problemBody = z.object({
  type: z.literal("about:blank"),
  title: text,
  status: z.int(),
  detail: text,
  problems: z.array(problemItem).optional(),
  settings: z
    .array(z.object({ setting: text, expected: text }))
    .optional()
    .meta({ description: "App settings that have problems." }),
  held: z.number().optional().meta({ description: "The newer revision of the request set that is held." }),
  near: z
    .array(count)
    .optional()
    .meta({ description: "Kept plans with numbers near the one that was asked for." }),
  nearest: texts.optional().meta({ description: "Known names that are similar to an unknown one." }),
  jobProblems: z.array(problemItem).optional().meta({ description: "Why the job could not be read." }),
  stop: z.literal(false).optional().meta({ description: "To a node's question: it is not stopped." }),
  undrain: z
    .boolean()
    .optional()
    .meta({ description: "To a node's question: whether the node may take work again." }),
  stopUnderWay: z.literal(true).optional().meta({
    description:
      "To a node's question: a stop of the node is under way, or the question is still being decided. It stays closed until it hears something else, for 20 minutes at most.",
  }),
});

export const problemJson = z
  .looseObject(problemBody.shape)
  .meta({ description: "An error, by RFC 9457. `problems` has everything that is wrong with the request." });

export const rejectedJob = z.object({ name: text, problems: z.array(problemItem) });

/** Members of every answer of a cluster. */
export const observing = {
  observing: text.optional().meta({
    description:
      'What of the cluster is only observed, as "observing only: nothing is created or stopped". Absent: nothing.',
  }),
};

/** The mode of a plan. */
export const planMode = {
  mode: z
    .enum(["observe", "act"])
    .meta({ description: "observe: the plan does nothing, and only shows what it would do." }),
  observed: texts
    .optional()
    .meta({ description: "Node arrays that are only observed; absent: none, or mode says it of all." }),
};

/** Members of an answer whose lists are cut. */
export const paging = {
  pages: z
    .array(z.object({ list: text, from: count, shown: count, count }))
    .optional()
    .meta({
      description:
        "Lists of which this answer shows a part, by the path of their member: `shown` items after the first `from`, of `count` in all. Absent: all lists are complete.",
    }),
  next: text.optional().meta({
    description:
      "The same request with this as the parameter `page` shows what comes after in each list. Absent: nothing does.",
  }),
};

export const unit = z.enum(["nodes", "cores", "groups", "slots"]);
export const planBound = z
  .object({ unit: z.enum(["nodes", "price"]), amount: z.number(), least: z.number(), gap: z.number(), text })
  .meta({
    description:
      "What the new and started nodes come to, a lower bound of that for every plan that serves as much, and the difference. Absent: there are none, or prices are unknown.",
  });
export const demandKind = z.enum(["target", "groups", "job"]);
export const preference = z.enum(["existing-first", "bucket-order"]);
export const among = z.enum(["priority", "cheapest"]);

export const phase = z.enum([
  "coming",
  "ready",
  "failed",
  "going",
  "off",
  "deallocated",
  "down",
  "missing",
  "unknown",
]);

export const bucketKey = z.object({ array: text, machineType: text, placementGroup: text.optional() });

/** Reasons, bindings and verdicts are data with quantities. Each also has a sentence. */
export const reason = z
  .looseObject({ code: text })
  .meta({ description: "Why something is not possible, with its quantities, by `code`." });
export const binding = z
  .looseObject({ kind: z.enum(["raise", "wait", "too-large", "no-raise"]) })
  .meta({ description: "What stands between a demand and all that it asks for." });
export const verdict = z.looseObject({ kind: text }).meta({ description: "Why a node stays or is stopped." });

export const health = z.object({
  ok: z.boolean(),
  starting: z.literal(true).optional().meta({
    description: "Not ok, because the cluster is new here and was not observed yet: ask again.",
  }),
  observing: z.literal(true).optional().meta({ description: "Nothing acts. Absent: something does." }),
  notes: texts.meta({
    description: "Why it is not ok, and what keeps the autoscaler from acting although it is.",
  }),
  warnings: texts.meta({ description: "What costs money or needs attention, although all works." }),
  lastLookAgeSeconds: z.number().optional(),
  trouble: z.object({ at: time, kind: text, message: text }).optional(),
  restingUntil: time.optional(),
  awaiting: texts.optional().meta({ description: "Request sets whose next message ends the rest." }),
  clusterState: text.optional(),
});

/** An answer of a cluster as it is built. The door adds `observing` to it. */
export type BuiltAnswer<S extends z.ZodType> = Omit<Shown<S>, keyof typeof observing>;

export type HealthShown = Shown<typeof health>;
export type BucketKeyShown = Shown<typeof bucketKey>;
export type PhaseShown = Shown<typeof phase>;
/** Without the members that an error does not have. */
export type ProblemJsonShown = Sparse<typeof problemBody>;
export type SettingShown = NonNullable<ProblemJsonShown["settings"]>[number];
export type ProblemShown = Shown<typeof problemItem>;
export type RejectedJobShown = Shown<typeof rejectedJob>;
export type PagingShown = Shown<z.ZodObject<typeof paging>>;
