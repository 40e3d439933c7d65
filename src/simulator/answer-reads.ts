import type { SimulatorRequest, SimulatorResponse } from "./answer.ts";
import { answer } from "./answer.ts";
import type { Call } from "./call.ts";
import { refuseCall } from "./call.ts";
import { renderOperation } from "./operations.ts";
import { renderStatus } from "./status.ts";
import { Usage } from "./limits.ts";
import type { Cluster } from "./world.ts";

/** Answers to calls that change nothing: status, nodes, operations. */

type Query = SimulatorRequest["query"];

/** `GET status`. A planned false answer shows no node and no usage of ours. */
export function readStatus(call: Call, cluster: Cluster, query: Query): SimulatorResponse {
  const { world, fleet, faults, now } = call;
  const withNodes = query["nodes"] === "true";
  const falselyEmpty = faults.takeFalseEmpty();
  const view = falselyEmpty
    ? { records: [], ofArrays: [], activeNodes: new Map() }
    : fleet.roster.view(cluster);
  const usage = falselyEmpty ? new Usage() : fleet.holdings.shown;
  call.record({ kind: "status-read", at: now, cluster: cluster.name, withNodes });
  return answer(200, renderStatus({ cluster, world, usage, view: withNodes ? view : undefined, now }));
}

/** `GET nodes`: all listed nodes, or those of one operation that still exist (cyclecloud-wire.md A.4). */
export function listNodes(call: Call, cluster: Cluster, query: Query): SimulatorResponse {
  const { world, fleet, operations, now } = call;
  const { request_id: requestId, operation: operationId } = query;
  if (requestId !== undefined && operationId !== undefined)
    return refuseCall(call, 400, "Only one of request_id and operation can be given");
  const asked =
    requestId !== undefined
      ? { what: `request id ${requestId}`, operation: operations.findByRequest(requestId, now) }
      : operationId !== undefined
        ? { what: `id ${operationId}`, operation: operations.findById(operationId, now) }
        : undefined;
  if (asked === undefined) return answer(200, { nodes: fleet.roster.view(cluster).records });
  const { what, operation } = asked;
  if (operation === undefined || operation.cluster !== cluster.name) {
    if (world.quirks.unknownRequestNodes === "empty") return answer(200, { nodes: [] });
    return refuseCall(call, 404, `No operation found for ${what}`);
  }
  const nodes = operation.nodeIds.flatMap((id) => {
    const node = fleet.roster.find(id);
    const shows = node?.shown === true || !world.quirks.operationNodesLag;
    return node !== undefined && shows ? [fleet.roster.recordOf(node)] : [];
  });
  return answer(200, { nodes, operation: renderOperation(operation) });
}

/** `GET operations/?request_id=`. */
export function findOperations(call: Call, requestId: string | undefined): SimulatorResponse {
  const { quirks } = call.world;
  if (requestId === undefined || requestId === "") return refuseCall(call, 400, "request_id is required");
  const operation = call.operations.findByRequest(requestId, call.now);
  const isHidden = quirks.operationsKnowCreatesOnly && operation?.action !== "create";
  if (operation !== undefined && !isHidden) return answer(200, [renderOperation(operation)]);
  if (quirks.unknownRequestOperations === "empty") return answer(200, []);
  return refuseCall(call, 404, `No operation found for request id ${requestId}`);
}

/** `GET operations/{id}`. */
export function findOperation(call: Call, id: string): SimulatorResponse {
  const operation = call.operations.findById(id, call.now);
  return operation === undefined
    ? refuseCall(call, 404, `No operation found for id ${id}`)
    : answer(200, renderOperation(operation));
}
