import type { HttpHandler } from "@azure/functions";
import { answerAutostop } from "./autostop.ts";
import {
  answerCluster,
  answerClusters,
  answerRejectedMessages,
  answerComparison,
  answerHealth,
} from "./clusters.ts";
import { answerTick, answerEndDown, answerRestored, answerWake } from "./tick.ts";
import { answerConfig, answerWriteConfig, answerConfigHistory, answerRollbackConfig } from "./config.ts";
import { answerExplain, answerHistory, answerNodeHistory } from "./explain.ts";
import { answerPage } from "./page.ts";
import { answerPlan } from "./plan.ts";
import { answerRequestSet, answerWriteRequestSet } from "./request-sets.ts";
import type { RouteName } from "./routes.ts";
import { answering } from "./answering.ts";
import { rereadable } from "./rereadable.ts";

/** The handler of each function. functions/main.ts loads this file with the first invocation. */

export { onDemand } from "./demand.ts";
export { onTick } from "./snapshot.ts";

/**
 * The description of this API. Made at build time and read at the first request, so that neither schemas nor text slow down a cold start.
 */
export const answerOpenApi: HttpHandler = (_request, context) =>
  answering(context, async () => {
    const { default: description } = await import("./openapi.json", { with: { type: "json" } });
    return { status: 200, jsonBody: description };
  });

/** The handler of each route: a route without one, and one without a route, do not compile. */
export const HTTP: Readonly<Record<RouteName, HttpHandler>> = {
  autostop: answerAutostop,
  health: answerHealth,
  page: answerPage,
  "page-file": answerPage,
  clusters: rereadable(answerClusters),
  "rejected-messages": answerRejectedMessages,
  cluster: rereadable(answerCluster),
  tick: answerTick,
  wake: answerWake,
  "request-set": answerRequestSet,
  "write-request-set": answerWriteRequestSet,
  comparison: rereadable(answerComparison),
  config: answerConfig,
  "write-config": answerWriteConfig,
  "config-history": answerConfigHistory,
  "rollback-config": answerRollbackConfig,
  explain: rereadable(answerExplain),
  history: rereadable(answerHistory),
  "node-history": rereadable(answerNodeHistory),
  plan: answerPlan,
  restored: answerRestored,
  "end-down": answerEndDown,
  openapi: answerOpenApi,
};
