import type { SimulatorResponse } from "./answer.ts";
import { answer } from "./answer.ts";
import type { Call } from "./call.ts";
import { acceptOperation, answerAccepted, answerConflict, answerRepeat } from "./call.ts";
import { checkCreate } from "./check-create.ts";
import { createSet } from "./create.ts";
import type { JsonObject } from "./json.ts";
import type { ManagedNode } from "./manage.ts";
import { checkManagement, cycleNodes, selectNodes, startNodes, stopNodes } from "./manage.ts";
import { retryNode } from "./node-actions.ts";
import type { SimulatedNode } from "./node.ts";
import type { Action } from "./operations.ts";
import type { Cluster } from "./world.ts";
import { withoutAbsent } from "../domain/without-absent.ts";

/** Answers to calls that create nodes or change them. */

/** `POST nodes/create` (cyclecloud-wire.md A.6). */
export function createNodes(call: Call, cluster: Cluster, body: unknown): SimulatorResponse {
  const { world, fleet, operations, now } = call;
  const checked = checkCreate(body, cluster, fleet.roster.namesOf(cluster));
  if (checked.kind === "invalid") return answerConflict(call, checked.message);
  const { requestId, sets } = checked.request;
  if (requestId !== undefined && operations.isTaken(requestId, "create")) return answerRepeat(call);
  const outcomes = sets.map((set) => ({ set, ...createSet(set, requestId, world, fleet, now) }));
  const nodeIds = outcomes.flatMap(({ nodes }) => nodes.map(({ id }) => id));
  call.record({
    kind: "create-accepted",
    at: now,
    cluster: cluster.name,
    ...withoutAbsent({ requestId }),
    asked: sets.reduce((sum, set) => sum + set.count, 0),
    added: nodeIds.length,
    sets: outcomes.map(({ set, result }) => ({ asked: set.count, added: result.added })),
  });
  const operation = acceptOperation(call, "create", cluster, requestId, nodeIds);
  return answerAccepted(operation, { sets: outcomes.map(({ result }) => result) });
}

/** The actions on existing nodes (cyclecloud-wire.md A.7). */
export function manageNodes(
  call: Call,
  cluster: Cluster,
  action: Exclude<Action, "create">,
  body: unknown,
): SimulatorResponse {
  const checked = checkManagement(body);
  if (checked.kind === "invalid") return answerConflict(call, checked.message);
  const { requestId } = checked.request;
  if (requestId !== undefined && call.operations.isTaken(requestId, action)) return answerRepeat(call);
  const nodes = act(call, action, selectNodes(checked.request, cluster, call.fleet.roster), requestId);
  const done = nodes.filter(({ status }) => status === "OK").map(({ id }) => id);
  return answerAccepted(acceptOperation(call, action, cluster, requestId, done), { nodes });
}

function act(
  { world, fleet, now }: Call,
  action: Exclude<Action, "create">,
  selected: readonly SimulatedNode[],
  requestId: string | undefined,
): readonly ManagedNode[] {
  switch (action) {
    case "start":
      return startNodes(selected, requestId, fleet, now);
    case "restart":
    case "reimage":
      return cycleNodes(selected, action, fleet, now);
    default:
      return stopNodes(selected, action, requestId, world.quirks, fleet, now);
  }
}

/** `POST scale/{array}`: adds nodes until the array has this total, once. Never removes any (cyclecloud-wire.md A.8). */
export function scaleArray(
  call: Call,
  cluster: Cluster,
  nodearray: string,
  asked: JsonObject,
): SimulatorResponse {
  const totals = ["totalCoreCount", "totalNodeCount"].filter((name) => asked[name] !== undefined);
  const [unit] = totals;
  const total = unit === undefined ? Number.NaN : Number(asked[unit]);
  if (totals.length !== 1 || !Number.isInteger(total) || total < 0)
    return answerConflict(
      call,
      "Exactly one of totalCoreCount and totalNodeCount is required, a whole number",
    );
  const array = cluster.arrays.find(({ name }) => name === nodearray);
  const bucket = array?.buckets.find(({ invalidReason }) => invalidReason === undefined);
  if (bucket === undefined)
    return answerConflict(call, `Nodearray ${nodearray} does not exist, or has no valid bucket`);
  const isInCores = unit === "totalCoreCount";
  let missing = total;
  for (const node of call.fleet.roster.nodesOf(cluster)) {
    if (node.array === array && node.targetState === "Started")
      missing -= isInCores ? node.machine.vcpuCount : 1;
  }
  const count = isInCores ? Math.ceil(missing / bucket.machine.vcpuCount) : missing;
  if (count <= 0)
    return answerAccepted(acceptOperation(call, "create", cluster, undefined, []), { sets: [{ added: 0 }] });
  const definition = isInCores ? { definition: { machineType: bucket.machine.name } } : {};
  return createNodes(call, cluster, { sets: [{ count, nodearray, ...definition }] });
}

/** `POST retry`: every failed phase of the cluster begins again. */
export function retryNodes({ fleet, now }: Call, cluster: Cluster): SimulatorResponse {
  for (const node of fleet.roster.nodesOf(cluster)) retryNode(fleet, node, now);
  return answer(200, {});
}
