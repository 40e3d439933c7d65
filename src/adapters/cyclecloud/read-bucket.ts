import type { StatusBucket, Machine } from "../../domain/cluster.ts";
import { machineType, placementGroup } from "../../domain/ids.ts";
import { quoteText } from "../../domain/secrets.ts";
import {
  isObject,
  readCount,
  readFlag,
  readList,
  readMemoryGib,
  readNumber,
  readText,
} from "./read-fields.ts";
import type { JsonObject } from "./read-fields.ts";
import { readQuotas } from "./read-quotas.ts";

/** The properties that a bucket inherits from its array. */
export interface BucketSetting {
  readonly spot: boolean;
  /** The entry of the array's MachineType list at the bucket's position, for a bucket that does not name its own. */
  readonly machineType?: string;
}

/**
 * A bucket of an array (cyclecloud-wire.md A.3). Undefined if neither it nor its array names a VM size: then no node can be requested
 * there. A bucket without a description of its VM cannot be planned: it is read as invalid, without capacity, and keeps its nodes.
 */
export function readBucket(bucket: JsonObject, setting: BucketSetting): StatusBucket | undefined {
  const definition = bucket["definition"];
  const size =
    (isObject(definition) ? readText(definition["machineType"]) : undefined) ?? setting.machineType;
  if (size === undefined) return undefined;
  const machine = readMachine(bucket["virtualMachine"]);
  const maxCount = readCount(bucket["maxCount"]);
  const maxCoreCount = readCount(bucket["maxCoreCount"]);
  const maxPlacementGroupSize = readCount(bucket["maxPlacementGroupSize"]);
  const failure = readNumber(bucket["lastCapacityFailure"]);
  return {
    bucketId: readText(bucket["bucketId"]) ?? "",
    machineType: machineType(size),
    ...readValidity(bucket, machine),
    availableCount: readCount(bucket["availableCount"]) ?? 0,
    activeCount: readCount(bucket["activeCount"]) ?? readList(bucket["activeNodes"]).length,
    ...(maxCount === undefined ? {} : { maxCount }),
    ...(maxCoreCount === undefined ? {} : { maxCoreCount }),
    ...readQuotas(bucket, (machine ?? undescribedMachine).quotaVcpus, setting),
    // No room for even one node, or no value: there are no placement groups here.
    ...(maxPlacementGroupSize === undefined || maxPlacementGroupSize < 1 ? {} : { maxPlacementGroupSize }),
    placementGroups: readPlacementGroups(bucket["placementGroups"]),
    // Any negative number means never (cyclecloud-wire.md A.3).
    ...(failure === undefined || failure < 0 ? {} : { lastCapacityFailureSeconds: failure }),
    machine: machine ?? undescribedMachine,
  };
}

const undescribedMachine: Machine = { vcpus: 0, quotaVcpus: 0, gpus: 0, memoryGib: 0, infiniband: false };

function readValidity(
  bucket: JsonObject,
  machine: Machine | undefined,
): Pick<StatusBucket, "valid" | "invalidReason"> {
  if (bucket["valid"] === false)
    return { valid: false, invalidReason: quoteText(readText(bucket["invalidReason"]) ?? "no reason given") };
  return machine === undefined
    ? { valid: false, invalidReason: "no virtualMachine in status" }
    : { valid: true };
}

/** A VM without processors counts as not described. */
function readMachine(value: unknown): Machine | undefined {
  const vcpus = isObject(value) ? readCount(value["vcpuCount"]) : undefined;
  if (!isObject(value) || vcpus === undefined || vcpus === 0) return undefined;
  const quotaVcpus = readCount(value["vcpuQuotaCount"]);
  return {
    vcpus,
    quotaVcpus: quotaVcpus === undefined || quotaVcpus === 0 ? vcpus : quotaVcpus,
    gpus: readCount(value["gpuCount"]) ?? 0,
    memoryGib: readMemoryGib(value["memory"]) ?? 0,
    infiniband: readFlag(value["infiniband"]),
  };
}

function readPlacementGroups(value: unknown): StatusBucket["placementGroups"] {
  return readList(value).flatMap((group) => {
    const name = isObject(group) ? readText(group["name"]) : undefined;
    if (!isObject(group) || name === undefined) return [];
    return [{ name: placementGroup(name), activeCount: readCount(group["activeCount"]) ?? 0 }];
  });
}
