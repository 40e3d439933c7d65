import type { SimulatorRequest, SimulatorResponse } from "./answer.ts";
import { createNodes, manageNodes, retryNodes, scaleArray } from "./answer-changes.ts";
import { findOperation, findOperations, listNodes, readStatus } from "./answer-reads.ts";
import type { Call } from "./call.ts";
import { refuseCall } from "./call.ts";
import type { JsonObject } from "./json.ts";
import { isObject } from "./json.ts";
import type { Route } from "./routes.ts";

/** Answers a call that was let in, as cyclecloud-wire.md says the server does. */
export function answerCall(
  call: Call,
  request: SimulatorRequest,
  route: Route | undefined,
): SimulatorResponse {
  const { query, body } = request;
  if (route === undefined) return refuseCall(call, 404, `No resource at ${request.path}`);
  if (route.kind === "operations") return findOperations(call, query["request_id"]);
  if (route.kind === "operation") return findOperation(call, route.id);
  const cluster = call.world.clusters.get(route.cluster);
  if (cluster === undefined) return refuseCall(call, 404, `Cluster ${route.cluster} does not exist`);
  switch (route.kind) {
    case "status":
      return readStatus(call, cluster, query);
    case "nodes":
      return listNodes(call, cluster, query);
    case "create":
      return createNodes(call, cluster, body);
    case "scale":
      return scaleArray(call, cluster, route.nodearray, { ...toObject(body), ...query });
    case "retry":
      return retryNodes(call, cluster);
    case "manage":
      return manageNodes(call, cluster, route.action, body);
  }
}

const toObject = (body: unknown): JsonObject => (isObject(body) ? body : {});
