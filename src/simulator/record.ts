import type { JsonObject } from "./json.ts";
import { isObject, readAttribute } from "./json.ts";
import type { SimulatedNode } from "./node.ts";
import type { Quirks } from "./options.ts";
import type { NodeArray } from "./world.ts";
import { withoutAbsent } from "../domain/without-absent.ts";

/** A point in time in the form of records (cyclecloud-wire.md A.1). */
function recordTime(at: number): JsonObject {
  return { $date: new Date(at).toISOString().replace("Z", "+00:00") };
}

/**
 * The node's record in CycleCloud's data store. Attributes that a node does not have yet are left out: there is no address before there is
 * a VM (cyclecloud-wire.md A.4), and no State before the software is installed (captured samples).
 */
export function renderNode(node: SimulatedNode, quirks: Quirks): JsonObject {
  const state = stateOf(node);
  const subnet = readAttribute(node.attributes, "SubnetId") ?? node.array?.subnetId;
  const record: Record<string, unknown> = {
    ...node.attributes,
    Name: node.name,
    NodeId: node.id,
    ClusterName: node.cluster.name,
    Template: node.array?.name ?? node.name,
    MachineType: node.machine.name,
    CoreCount: node.machine.vcpuCount,
    Memory: node.machine.memory,
    Region: node.region,
    ...withoutAbsent({ SubnetId: subnet }),
    Interruptible: node.spot,
    KeepAlive: node.keepAlive,
    Status: node.status,
    Configuration: node.configuration,
    TargetState: node.targetState,
    ...withoutAbsent({ State: state, PlacementGroupId: node.group }),
    ...renderAddress(node),
    ...withoutAbsent({ StatusMessage: node.message }),
    ...renderFailure(node),
    ...(quirks.requestIdInStatus && node.requestId !== undefined ? { RequestId: node.requestId } : {}),
  };
  for (const field of quirks.omitNodeFields) delete record[field];
  return Object.freeze(finishRecord(record, quirks));
}

/** The array's own record, which is part of every status and never changes (cyclecloud-wire.md A.3). */
export function renderArray(array: NodeArray, quirks: Quirks): JsonObject {
  const machineTypes = array.buckets.map((bucket) => bucket.machine.name);
  const record: Record<string, unknown> = {
    Name: array.name,
    State: "Activated",
    TargetState: "Activated",
    Region: array.region,
    SubnetId: array.subnetId,
    Interruptible: array.spot,
    ShutdownPolicy: array.shutdownPolicy,
    Configuration: array.configuration,
    Azure: { MaxScalesetSize: array.maxPlacementGroupSize },
    MachineType: machineTypes.length === 1 ? machineTypes[0] : machineTypes,
    ...withoutAbsent({ PlacementGroupId: array.placementGroupId, Priority: array.priority }),
    ...(array.spot ? { MaxPrice: -1 } : {}),
    ...(array.throttleCapacitySeconds > 0 ? { ThrottleCapacity: true } : {}),
  };
  return Object.freeze(finishRecord(record, quirks));
}

/** The attribute State. Undefined where it is unknown (cyclecloud-wire.md A.5). */
function stateOf(node: SimulatedNode): string | undefined {
  if (node.status === "Ready") return "Started";
  if (node.status === "Preparing") return "Configuration";
  const isOff = node.status === "Terminated" || node.status === "Off";
  if (isOff) return node.targetState === "Started" ? undefined : "Terminated";
  if (node.status === "Deallocated") return "Deallocated";
  if (node.status === "Failed" && node.targetState === "Started")
    return node.wasReady ? "Failed" : "Configuration";
  return undefined;
}

function renderAddress(node: SimulatedNode): JsonObject {
  if (node.address === undefined) return {};
  const { instanceId, privateIp, hostname } = node.address;
  return { InstanceId: instanceId, PrivateIp: privateIp, Hostname: hostname };
}

function renderFailure(node: SimulatedNode): JsonObject {
  if (node.failedAt === undefined) return {};
  const phase = node.targetState === "Terminated" ? "Azure.DeleteVirtualMachines" : "Cloud.AwaitBootup";
  return {
    PhaseMap: {
      [phase]: {
        Status: "Failed",
        StartTime: recordTime(node.upAt ?? node.createdAt),
        EndTime: recordTime(node.failedAt),
        Message: node.message,
      },
    },
    PhaseFailed: true,
  };
}

function finishRecord(record: Record<string, unknown>, quirks: Quirks): JsonObject {
  if (quirks.newFields) record["FutureAttribute"] = { Nested: [1, "two"] };
  return quirks.keyCase === "lower" ? lowerKeys(record) : record;
}

/** Turns the keys of the record and of nested records into lower case. Names inside Configuration are the user's own, and stay. */
function lowerKeys(record: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [
      key.toLowerCase(),
      isObject(value) && key !== "Configuration" && key !== "Tags" && key !== "PhaseMap"
        ? lowerKeys(value)
        : value,
    ]),
  );
}
