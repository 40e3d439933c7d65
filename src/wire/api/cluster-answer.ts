import { z } from "zod";
import {
  among,
  count,
  counts,
  demandKind,
  health,
  paging,
  phase,
  preference,
  problemItem,
  rejectedJob,
  resources,
  standing,
  text,
  texts,
  time,
  unit,
  observing,
  planMode,
} from "./parts.ts";

/** GET /api/clusters/{cluster}: the main answer for operators. */

const cause = z.object({
  text,
  demands: count,
  first: z.object({ requestSet: text, id: text }),
});

const waiting = z
  .object({
    unmet: count,
    missing: z.array(z.object({ unit, amount: z.number() })),
    onTheirWay: count.meta({ description: "Demands whose place is on nodes that are still to come up." }),
    reasons: z.array(cause),
    remedies: z.array(cause),
  })
  .meta({ description: "What is asked for and not there, and why: the most frequent cause first." });

const trouble = z.object({
  kind: z.enum([
    "health",
    "backing-off",
    "node-failed",
    "node-down",
    "node-missing",
    "node-unclear",
    "nodes-removed",
    "nodes-not-needed",
    "nodes-not-ours",
    "nodes-unhealthy",
    "node-token",
    "stop-key-missing",
    "start-refused",
    "nodearray-missing",
    "revision-ahead",
    "insecure",
    "left-out",
    "job-rejected",
    "message-rejected",
  ]),
  text,
  count,
});

const ceiling = z.object({ nodes: count.optional(), cores: count.optional() });

const choice = z
  .object({
    preference,
    among,
    caps: z.object({ requestSets: z.record(text, ceiling), users: z.record(text, ceiling) }).optional(),
    prices: z.object({ currency: text, locations: texts }).optional(),
  })
  .meta({ description: "How new nodes are chosen, by the configuration." });

const times = {
  revision: z.number(),
  expirationInterval: z.number(),
  acceptedAt: time,
  expiresAt: time,
  expiresInSeconds: z.number(),
};

const separatePart = z
  .object({ live: z.boolean(), ...times })
  .optional()
  .meta({ description: "It came without demand, at least as new as the demand that is held." });

export const requestSetSummary = z.object({
  requestSet: text,
  state: z.enum(["live", "empty", "lapsed"]),
  ...times,
  demands: count,
  reportsHosts: z.boolean(),
  rejectedJobs: z.array(rejectedJob),
  moreRejectedJobs: count.optional().meta({
    description: "How many more jobs could not be read: only the first ones are listed. Absent: none.",
  }),
  report: separatePart,
  pools: separatePart,
});

const unmetDemand = z.object({
  requestSet: text,
  id: text,
  kind: demandKind,
  asked: z.number(),
  placed: z.number(),
  unit,
  reasons: texts,
  moreReasons: count.optional(),
  binding: text.optional(),
});

export const proposal = {
  creates: z.array(z.object({ bucket: text, count, countsFor: text })),
  starts: texts,
  terminates: texts,
};

const lastPlan = z.object({
  number: count,
  at: time,
  ...planMode,
  ...proposal,
  withheld: z.object(proposal).optional().meta({
    description:
      "What the plan would do in node arrays that are only observed. terminates: also nodes that it would look at once more first.",
  }),
  virtual: z.object(proposal).optional().meta({
    description:
      "What the virtual fleet of the observed node arrays did with this plan: nodes that only the record has. Absent: no array is observed.",
  }),
  demands: count,
  waitingForNodes: count,
  unmet: z.array(unmetDemand),
  unmetCount: count,
});

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
    .meta({ description: "The first look that showed it up no more, after it was Ready." }),
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
  why: text.meta({ description: "Why it stays or goes." }),
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

const nodes = z.object({ count, byPhase: counts, byVerdict: counts, list: z.array(node) });

const timeouts = {
  idleTimeout: z.number().meta({ description: "Of its nodes, by the configuration. Seconds." }),
  bootTimeout: z.number().meta({ description: "Of its nodes, by the configuration. Seconds." }),
};

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

const limit = z.object({
  limit: text.meta({ description: 'In words: "family quota standardHBv3Family".' }),
  kind: text,
  name: text,
  guessed: z.literal(true).optional().meta({
    description: "Of a family quota: no table knows the VM size, so its family is guessed from its name.",
  }),
  unit: z.enum(["nodes", "cores"]),
  used: z.number(),
  max: z.number(),
  left: z.number(),
});

const backoffCause = z.enum(["refused", "fell-short", "boot-failed", "unhealthy"]);

const bucket = z
  .object({
    nodearray: text,
    machineType: text,
    placementGroup: text.optional(),
    valid: z.boolean(),
    invalidReason: text.optional(),
    spot: z.boolean(),
    vcpus: z.number(),
    memoryGib: z.number(),
    gpus: z.number(),
    price: z.number().optional(),
    active: count,
    available: count,
    closed: text.optional(),
    limits: z.array(limit),
    backoff: z.object({ until: time, seconds: z.number(), cause: backoffCause, message: text }).optional(),
    lastCapacityFailureSeconds: z.number().optional(),
  })
  .meta({
    description:
      "A place where nodes are made, with all that bounds a new node there; a row of a placement group shows the group's own limit.",
  });

const outcome = z
  .object({
    requestSet: text,
    id: text,
    kind: demandKind,
    user: text.optional().meta({ description: "Of a job, as its sender names it." }),
    unit,
    asked: z.number(),
    placed: z.number(),
    pending: z.number().meta({ description: "Of placed, what waits for nodes that are coming." }),
    why: text.optional().meta({ description: "The reason that binds, where it has less than it asked for." }),
  })
  .meta({ description: "What became of one demand; those that lack something come first." });

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
  inFlight: z.array(
    z.object({
      requestId: text,
      bucket: text,
      countsFor: text,
      added: count,
      stillToShow: count,
      since: time,
    }),
  ),
  intents: z.array(
    z.object({
      id: text,
      effect: z.enum(["create", "start", "terminate"]),
      bucket: text.optional(),
      count: count.optional(),
      countsFor: text.optional(),
      nodes: texts.optional(),
      committedAt: time,
      sent: z.enum(["never", "maybe", "once-refused"]),
    }),
  ),
  backoffs: z.array(
    z.object({
      bucket: text,
      dynamicArray: text.optional(),
      until: time,
      cause: backoffCause,
      message: text,
    }),
  ),
  /** Each gets a create request of its own until CycleCloud has accepted it once. Absent: an older app answers. */
  alone: z.array(z.object({ bucket: text, dynamicArray: text.optional() })).optional(),
  rejections: z.array(
    z.object({ at: time, messageId: text, set: text.optional(), problems: z.array(problemItem) }),
  ),
  generation: count,
  observedGeneration: count,
  nextLookAt: time.optional(),
  ...paging,
});
