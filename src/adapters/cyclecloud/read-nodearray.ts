import type { CountAndCores, NodeArray } from "../../domain/cluster.ts";
import type { ArrayName, MachineType } from "../../domain/ids.ts";
import { arrayName, placementGroup } from "../../domain/ids.ts";
import { readAutoscale } from "./read-autoscale.ts";
import { readBucket } from "./read-bucket.ts";
import {
  isObject,
  readAttribute,
  readCount,
  readFlag,
  readList,
  readMachineType,
  readMemoryGib,
  readNumber,
  readText,
} from "./read-fields.ts";
import type { JsonObject } from "./read-fields.ts";

export interface NodeArrayReading {
  readonly array: NodeArray;
  /** Buckets left out because neither they nor their array name a VM size. */
  readonly bucketsWithoutMachineType: number;
  /** The nodes that its buckets name, by bucket. */
  readonly activeNodes: readonly ActiveNodes[];
}

/** A bucket's `activeNodes`. */
export interface ActiveNodes {
  readonly array: ArrayName;
  readonly machineType: MachineType;
  readonly names: readonly string[];
}

/** An element of `nodearrays` (cyclecloud-wire.md A.3). Its record may be absent. Undefined if it has no name. */
export function readNodeArray(element: JsonObject): NodeArrayReading | undefined {
  const record = isObject(element["nodearray"]) ? element["nodearray"] : {};
  const name = arrayNameOf(element, record);
  if (name === undefined) return undefined;
  const attributes = readRecord(record);
  const sizes = readAttribute(record, "MachineType");
  const elements = readList(element["buckets"]);
  const activeNodes: ActiveNodes[] = [];
  const buckets = elements.flatMap((bucket, position) => {
    if (!isObject(bucket)) return [];
    const size = readMachineType(sizes, position);
    const read = readBucket(bucket, {
      spot: attributes.spot,
      ...(size === undefined ? {} : { machineType: size }),
    });
    if (read === undefined) return [];
    const names = readList(bucket["activeNodes"]).flatMap((one) => readText(one) ?? []);
    activeNodes.push({ array: arrayName(name), machineType: read.machineType, names });
    return [read];
  });
  return {
    array: { name: arrayName(name), limit: readLimit(element), ...attributes, buckets },
    bucketsWithoutMachineType: elements.length - buckets.length,
    activeNodes,
  };
}

/** The name of an element of `nodearrays`. Undefined if it has none. */
export function arrayNameOf(element: JsonObject, record: JsonObject): string | undefined {
  return readText(element["name"]) ?? readText(readAttribute(record, "Name"));
}

/** `maxCount` and `maxCoreCount` of a cluster or an array. */
export function readLimit(element: JsonObject): CountAndCores {
  const count = readCount(element["maxCount"]);
  const cores = readCount(element["maxCoreCount"]);
  return { ...(count === undefined ? {} : { count }), ...(cores === undefined ? {} : { cores }) };
}

type Attributes = Omit<NodeArray, "name" | "limit" | "buckets">;

/**
 * The array's own record. Its `Azure.MaxScalesetSize` is not read: CycleCloud derives each bucket's maxPlacementGroupSize from it, and the
 * two sources disagree on the default (cyclecloud-wire.md C.3).
 */
function readRecord(record: JsonObject): Attributes {
  const region = readText(readAttribute(record, "Region"));
  const group = readText(readAttribute(record, "PlacementGroupId"));
  const { enabled, resources, configuration, isHpc } = readAutoscale(record);
  const memoryGib = readMemoryGib(readAttribute(record, "Memory"));
  const policy = readText(readAttribute(record, "ShutdownPolicy"));
  return {
    ...(region === undefined ? {} : { region }),
    spot: readFlag(readAttribute(record, "Interruptible")),
    autoscaled: enabled,
    ...(isHpc === false ? { notHpc: true } : {}),
    ...(policy?.toLowerCase() === "deallocate" ? { deallocates: true } : {}),
    ...(group === undefined ? {} : { placementGroup: placementGroup(group) }),
    priority: readNumber(readAttribute(record, "Priority")) ?? 1,
    resources,
    ...(memoryGib === undefined ? {} : { memoryGib }),
    ...(configuration === undefined ? {} : { configuration }),
  };
}
