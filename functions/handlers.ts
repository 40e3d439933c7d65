/** The handler of each function. functions/main.ts loads this file with the first invocation. */
import type { HttpHandler } from "@azure/functions";
import { answerAutostop } from "./autostop.ts";
import { answerCluster, answerClusters } from "./clusters.ts";
import { answerRejectedMessages } from "./rejected-messages.ts";
import { answerTick } from "./tick.ts";
import { answerComparison } from "./comparison.ts";
import { answerConfig, answerWriteConfig } from "./config.ts";
import { answerConfigHistory } from "./config-history.ts";
import { answerRollbackConfig } from "./rollback-config.ts";
import { answerEndDown } from "./end-down.ts";
import { answerExplain } from "./explain.ts";
import { answerHealth } from "./health.ts";
import { answerHistory } from "./history.ts";
import { answerOpenApi } from "./openapi.ts";
import { answerPlan } from "./plan.ts";
import { answerRequestSet, answerWriteRequestSet } from "./request-sets.ts";
import { answerRestored } from "./restored.ts";
import type { RouteName } from "./routes.ts";
import { answerWake } from "./wake.ts";

export { onDemand } from "./demand.ts";
export { onTick } from "./snapshot.ts";

/** The handler of each route: a route without one, and one without a route, do not compile. */
export const HTTP: Readonly<Record<RouteName, HttpHandler>> = {
  autostop: answerAutostop,
  health: answerHealth,
  clusters: answerClusters,
  "rejected-messages": answerRejectedMessages,
  cluster: answerCluster,
  tick: answerTick,
  wake: answerWake,
  "request-set": answerRequestSet,
  "write-request-set": answerWriteRequestSet,
  comparison: answerComparison,
  config: answerConfig,
  "write-config": answerWriteConfig,
  "config-history": answerConfigHistory,
  "rollback-config": answerRollbackConfig,
  explain: answerExplain,
  history: answerHistory,
  plan: answerPlan,
  restored: answerRestored,
  "end-down": answerEndDown,
  openapi: answerOpenApi,
};
