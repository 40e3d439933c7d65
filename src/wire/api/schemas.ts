import type { z } from "zod";
import { nodearraySchema } from "../message/nodearray-schema.ts";
import { whatIfSchema } from "../message/what-if-schema.ts";
import { acknowledgement, requestSetAnswer } from "./request-set-answers.ts";
import { clustersAnswer, healthAnswer, rejectedMessagesAnswer } from "./health-answers.ts";
import { explanation } from "./explanation-answers.ts";
import { historyAnswer } from "./history-answer.ts";
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
import { health, problemItem, problemJson, rejectedJob } from "./parts.ts";
import { comparisonAnswer } from "./comparison-answer.ts";
import { configAnswer, configHistory, configPatch, configRequest, configWritten } from "./configuration.ts";
import { hostRequest, jobRequest, requestSetRequest } from "./requests.ts";

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
