import { z } from "zod";
import { time, count, text, texts, counts, resources, standing, phase } from "./parts.ts";
import type { Shown } from "./shown.ts";

/** The nodes of a cluster, and the hosts that only schedulers know. A part of the answer of GET /api/clusters/{cluster}. */

const node = z.object({
  name: text,
  nodeId: text,
  array: text,
  machineType: text,
  placementGroup: text.optional(),
  phase,
  status: text,
  statusMessage: text.optional(),
  hostname: text.optional(),
  instanceId: text.optional(),
  purpose: text,
  countsFor: text.meta({
    description: "The array that it counts for: one of the template, a dynamic one, or a grouped one.",
  }),
  madeBy: z
    .enum(["us", "another tool"])
    .meta({ description: "Another tool: no create of ours is known to have made it." }),
  ownership: text.meta({
    description: "ours or not ours, and why. Nodes that are not ours are never started or stopped.",
  }),
  released: text
    .optional()
    .meta({ description: "Why the group that it was made for does not count on it any more." }),
  firstSeenAt: time,
  firstReadyAt: time.optional(),
  leftReadyAt: time
    .optional()
    .meta({ description: "When an observation first showed it no longer up, after it was Ready." }),
  downSince: time.optional().meta({
    description: "Shown as shut down (Off or Terminated) since then, though it was Ready and is wanted.",
  }),
  endsAt: time
    .optional()
    .meta({ description: "It is down, and is terminated then, or later if `why` says so." }),
  expectedReadyAt: time.optional().meta({
    description: "Of a node that is coming, by the boot times seen; past: it takes longer than others did.",
  }),
  lastNeededAt: time.optional(),
  busyness: z.enum(["busy", "idle", "unknown"]),
  busynessSince: time,
  start: z.enum(["unsure", "accepted", "shown", "refused"]).optional(),
  startSince: time.optional(),
  stopKey: text
    .optional()
    .meta({ description: "The id of the key of its stop URL. Absent: not known, or it has none of ours." }),
  ownToken: z
    .literal(true)
    .optional()
    .meta({ description: "Its calls must carry the token that the node has chosen." }),
  unhealthySince: time.optional().meta({
    description: "It calls itself unhealthy, and is not stopped: a job is on it, or too many others went.",
  }),
  draining: text.optional(),
  drainingSince: time.optional(),
  verdict: text.meta({ description: 'The kind of `why`: "needed", "idle", "busyness-unknown", ...' }),
  why: text.meta({ description: "Why it stays or is stopped." }),
});

export const nodes = z.object({ count, byPhase: counts, byVerdict: counts, list: z.array(node) });

export const stopKeys = z
  .array(
    z.object({
      keyId: text.optional().meta({
        description: "Absent: nodes of which it is not known, or that have no stop URL of ours.",
      }),
      nodes: count,
      configured: z
        .boolean()
        .optional()
        .meta({ description: "AUTOSCALER_AUTOSTOP_KEYS has it: the calls of these nodes are answered." }),
      signing: z.literal(true).optional().meta({ description: "New nodes get it." }),
    }),
  )
  .meta({ description: "How many live nodes that the autoscaler made carry a stop URL of which key." });

export const schedulerHosts = z
  .object({
    count,
    capacity: count.meta({
      description: "Of these, the hosts that take jobs of the request sets that report them.",
    }),
    list: z.array(
      z.object({
        hostname: text,
        requestSets: texts,
        standing,
        resources,
        available: resources,
        jobs: texts,
        moreJobs: count,
        why: text.meta({ description: "Whether it is capacity, and if not, why." }),
      }),
    ),
  })
  .meta({ description: "Hosts that schedulers report with resources and that are no nodes of the cluster." });

export type NodeShown = Shown<typeof node>;
export type NodesShown = Shown<typeof nodes>;
export type StopKeyShown = Shown<typeof stopKeys>[number];
export type SchedulerHostsShown = Shown<typeof schedulerHosts>;
export type SchedulerHostShown = SchedulerHostsShown["list"][number];
