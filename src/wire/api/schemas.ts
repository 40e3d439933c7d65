import { nodearraySchema } from "../message/nodearray-schema.ts";
import { whatIfSchema } from "../message/what-if-schema.ts";
import { acknowledgement, requestSetAnswer } from "./request-set-answers.ts";
import { clustersAnswer, healthAnswer, rejectedMessagesAnswer } from "./health-answers.ts";
import { explanation, historyAnswer } from "./explanation-answers.ts";
import {
  endDownAnswer,
  openapiAnswer,
  restoredAnswer,
  stopAnswer,
  tickAnswer,
  wakeAnswer,
} from "./answers.ts";
import { trialAnswer } from "./trial-answer.ts";
import { clusterAnswer } from "./cluster-answer.ts";
import { health, problemItem, problemJson, rejectedJob, resources, text, texts } from "./parts.ts";
import { nodeHistoryAnswer } from "./node-history-answer.ts";
import { comparisonAnswer } from "./comparison-answer.ts";
import { configAnswer, configHistory, configPatch, configRequest, configWritten } from "./configuration.ts";
import { z } from "zod";
import { envelopeSchema } from "../message/envelope.ts";
import { markSchema, poolSchema } from "../message/pool.ts";

/**
 * The inputs of the API. Lists with thousands of members have readers of their own (see fields.ts). Their schemas here only describe them,
 * and a test compares the two.
 */

const constraint = z.record(text, z.unknown()).meta({
  description: "Resources with amounts or choices, node properties, and, or, xor, not, ...: all must hold.",
});

const jobRequest = z
  .strictObject({
    name: text.min(1),
    user: text.min(1).optional(),
    priority: z.number().optional().meta({ description: "Higher is served first; default 0." }),
    iterations: z.int().min(1).optional().meta({ description: "All slots, queued and running; default 1." }),
    "iterations-remaining": z
      .int()
      .min(0)
      .optional()
      .meta({ description: "As scalelib writes it: slots that do not run yet." }),
    "node-count": z.int().min(0).optional(),
    constraints: z.union([constraint, z.array(constraint)]).optional(),
    colocated: z.boolean().optional(),
    exclusive: z.boolean().optional().meta({ description: "The job's nodes run nothing else." }),
    "packing-strategy": z.enum(["pack", "scatter"]).optional().meta({
      description:
        "With a node-count: scatter is all of the nodes or none, pack as many as possible, with one slot each.",
    }),
    "executing-hostnames": texts.optional(),
    placed: z
      .array(z.strictObject({ hostname: text.min(1), iterations: z.int().min(1) }))
      .optional()
      .meta({ description: "Slots that run already, by host." }),
    span: z.boolean().optional(),
    spot: z.enum(["never", "allow", "only"]).optional(),
    walltime: z.number().positive().optional(),
    metadata: z
      .record(text, z.unknown())
      .optional()
      .meta({ description: "As scalelib writes it: for people to read, at most 4096 characters of JSON." }),
  })
  .meta({ description: "A job. One that cannot be read is rejected by itself, and the others stand." });

const hostRequest = z
  .strictObject({
    hostname: text.min(1),
    resources: resources.optional().meta({ description: "What the host has in all." }),
    available: resources.optional().meta({ description: "What is left of that now." }),
    jobs: texts.optional().meta({ description: "What runs there; absent or empty: nothing." }),
    jobIds: texts.optional().meta({ description: "Another name for jobs." }),
    state: text.min(1).optional(),
    keep: text
      .min(1)
      .optional()
      .meta({ description: "Why its node must not be stopped, as long as this report counts." }),
  })
  .meta({ description: "What the scheduler knows of one of its hosts." });

const listOrOne = <T extends z.ZodType>(item: T) => z.union([z.array(item), item]);

const requestSetRequest = z
  .strictObject({
    ...envelopeSchema.shape,
    version: envelopeSchema.shape.version.optional(),
    cluster: envelopeSchema.shape.cluster.optional(),
    nodearrays: listOrOne(nodearraySchema).optional(),
    jobs: listOrOne(jobRequest).optional(),
    schedulerNodes: z.array(hostRequest).optional(),
    pools: z.array(z.union([poolSchema, markSchema])).optional(),
  })
  .meta({
    description:
      "With nodearrays or jobs: everything that a request set needs now; it replaces what the set asked for before. With neither: schedulerNodes, pools or both; the demand stays as it is.",
  });

/** The schemas of the API by the names that the description gives them. */
export const SCHEMAS = {
  Problem: problemJson,
  ProblemItem: problemItem,
  RejectedJob: rejectedJob,
  RequestSet: requestSetRequest,
  Nodearray: nodearraySchema,
  Job: jobRequest,
  SchedulerNode: hostRequest,
  Acknowledgement: acknowledgement,
  RequestSetState: requestSetAnswer,
  Clusters: clustersAnswer,
  RejectedMessages: rejectedMessagesAnswer,
  Cluster: clusterAnswer,
  ClusterHealth: health,
  Explanation: explanation,
  History: historyAnswer,
  NodeHistory: nodeHistoryAnswer,
  Comparison: comparisonAnswer,
  WhatIf: whatIfSchema,
  DryRun: trialAnswer,
  Tick: tickAnswer,
  Restored: restoredAnswer,
  EndDown: endDownAnswer,
  Wake: wakeAnswer,
  ConfigurationRequest: configRequest,
  ConfigurationPatch: configPatch,
  Configuration: configAnswer,
  ConfigurationWritten: configWritten,
  ConfigurationHistory: configHistory,
  Health: healthAnswer,
  Stop: stopAnswer,
  OpenApi: openapiAnswer,
} as const satisfies Readonly<Record<string, z.ZodType>>;

export type SchemaName = keyof typeof SCHEMAS;
