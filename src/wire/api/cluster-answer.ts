import { z } from "zod";
import { groupedArray, nodearray } from "./cluster-arrays.ts";
import { bucket } from "./cluster-buckets.ts";
import { outcome, requestSetSummary, waiting } from "./cluster-demand.ts";
import { nodes, schedulerHosts, stopKeys } from "./cluster-nodes.ts";
import { choice, lastPlan } from "./cluster-plan.ts";
import { underWay } from "./cluster-under-way.ts";
import { count, health, observing, paging, text, time } from "./parts.ts";
import type { BuiltAnswer } from "./parts.ts";
import type { Shown } from "./shown.ts";

/** GET /api/clusters/{cluster}: the main answer for operators. */

export const trouble = z.object({
  kind: z.enum([
    "health",
    "backing-off",
    "node-failed",
    "node-down",
    "down-wave",
    "down-busy",
    "down-kept",
    "node-missing",
    "node-unclear",
    "nodes-removed",
    "nodes-not-needed",
    "nodes-not-ours",
    "nodes-unhealthy",
    "node-token",
    "claims-ended",
    "stop-key-missing",
    "start-refused",
    "nodearray-missing",
    "revision-ahead",
    "insecure",
    "configuration",
    "left-out",
    "job-rejected",
    "message-rejected",
  ]),
  text,
  count,
});

export const clusterAnswer = z.object({
  cluster: text,
  ...observing,
  now: time,
  health,
  waiting,
  troubles: z.array(trouble),
  choice,
  demandCounts: z.object({ live: count, empty: count, lapsed: count }),
  demand: z.array(requestSetSummary.extend({ unmet: count })),
  plan: lastPlan.optional().meta({ description: "The last plan; absent: none was made yet." }),
  nodes,
  stopKeys,
  schedulerHosts,
  nodearrays: z.array(nodearray),
  groups: z.array(groupedArray),
  buckets: z.array(bucket),
  outcomes: z.array(outcome),
  totals: z.object({ created: count, terminated: count, started: count.optional() }),
  ...underWay,
  generation: count,
  observedGeneration: count,
  nextLookAt: time.optional(),
  ...paging,
});

export type ClusterShown = BuiltAnswer<typeof clusterAnswer>;
export type TroubleShown = Shown<typeof trouble>;
