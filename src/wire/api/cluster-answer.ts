import { z } from "zod";
import { bucket, backoffCause } from "./cluster-buckets.ts";
import { outcome, requestSetSummary, waiting, choice, lastPlan } from "./cluster-demand.ts";
import {
  count,
  health,
  observing,
  paging,
  text,
  time,
  texts,
  unit,
  phase,
  counts,
  resources,
  standing,
  problemItem,
} from "./parts.ts";
import type { BuiltAnswer } from "./parts.ts";
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
  oldNodes: texts.optional().meta({
    description:
      "Its nodes that were made with other attributes than it is asked for with now: the first ones by name. Absent: none.",
  }),
  moreOldNodes: count.optional(),
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

const nodearray = z.union([ownArray, dynamicArray]);

const groupedArray = z
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

// The nodes of a cluster, and the hosts that only schedulers know. A part of the answer of GET /api/clusters/{cluster}.

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
  deallocatedSince: time.optional(),
  downSince: time.optional().meta({
    description: "Shown as shut down (Off or Terminated) since then, though it was Ready and is wanted.",
  }),
  endsAt: time
    .optional()
    .meta({ description: "It is down or deallocated, and ends then, or later if `why` says so." }),
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

const nodes = z.object({
  count,
  byPhase: counts,
  byVerdict: counts,
  deallocated: z
    .object({
      count,
      since: time,
      pricePerHour: z.number().optional(),
      currency: text.optional(),
    })
    .optional()
    .meta({ description: "The first since when. The price is that of their disks; absent: not configured." }),
  kept: z.object({ count, pricePerHour: z.number().optional(), currency: text.optional() }).optional().meta({
    description:
      "Nodes that a scheduler keeps (`keep` in a report): they are not stopped. The price is of those that have one; absent: none has.",
  }),
  list: z.array(node),
});

const stopKeys = z
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

const schedulerHosts = z
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

// Requests that have not ended, and recent refusals. A part of the answer of GET /api/clusters/{cluster}.

const inFlight = z.object({
  requestId: text,
  bucket: text,
  countsFor: text,
  added: count,
  stillToShow: count,
  since: time,
});

const intent = z.object({
  id: text,
  effect: z.enum(["create", "start", "terminate", "deallocate"]),
  bucket: text.optional(),
  count: count.optional(),
  countsFor: text.optional(),
  nodes: texts.optional(),
  committedAt: time,
  sent: z.enum(["never", "maybe", "once-refused"]),
});

const backoff = z.object({
  bucket: text,
  dynamicArray: text.optional(),
  until: time,
  cause: backoffCause,
  message: text,
});

const rejection = z.object({
  at: time,
  messageId: text,
  set: text.optional(),
  problems: z.array(problemItem),
});

const alone = z.object({ bucket: text, dynamicArray: text.optional() });

const underWay = {
  inFlight: z.array(inFlight),
  intents: z.array(intent),
  backoffs: z.array(backoff),
  /** Each gets a create request of its own until CycleCloud has accepted it once. Absent: an older app answers. */
  alone: z.array(alone).optional(),
  rejections: z.array(rejection),
};

export type InFlightShown = Shown<typeof inFlight>;

export type IntentShown = Shown<typeof intent>;

export type BackoffShown = Shown<typeof backoff>;

export type AloneShown = Shown<typeof alone>;

export type RejectionShown = Shown<typeof rejection>;

export type UnderWayShown = Shown<z.ZodObject<typeof underWay>>;

// GET /api/clusters/{cluster}: the main answer for operators.

const trouble = z.object({
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
    "shutdown-policy",
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
