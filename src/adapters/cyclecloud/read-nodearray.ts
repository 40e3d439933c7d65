import type { CountAndCores, NodeArray, StatusBucket, Machine, Quota } from "../../domain/cluster.ts";
import type { ArrayName, MachineType } from "../../domain/ids.ts";
import { arrayName, placementGroup, machineType } from "../../domain/ids.ts";
import {
  readAutoscale,
  readAttribute,
  readCount,
  readFlag,
  readList,
  readMachineType,
  readMemoryGib,
  readNumber,
  readText,
} from "./read-fields.ts";
import { quoteText } from "../../domain/secrets.ts";
import type { ArrayTemplates } from "../../app/ports/cyclecloud.ts";
import type { NodeAttributes } from "../../domain/demand.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

interface NodeArrayReading {
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
export function readNodeArray(element: Fields): NodeArrayReading | undefined {
  const record = isFields(element["nodearray"]) ? element["nodearray"] : {};
  const name = arrayNameOf(element, record);
  if (name === undefined) return undefined;
  const attributes = readRecord(record);
  const sizes = readAttribute(record, "MachineType");
  const elements = readList(element["buckets"]);
  const activeNodes: ActiveNodes[] = [];
  const buckets = elements.flatMap((bucket, position) => {
    if (!isFields(bucket)) return [];
    const size = readMachineType(sizes, position);
    const read = readBucket(bucket, {
      spot: attributes.spot,
      ...withoutAbsent({ machineType: size }),
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
function arrayNameOf(element: Fields, record: Fields): string | undefined {
  return readText(element["name"]) ?? readText(readAttribute(record, "Name"));
}

/** `maxCount` and `maxCoreCount` of a cluster or an array. */
export function readLimit(element: Fields): CountAndCores {
  const count = readCount(element["maxCount"]);
  const cores = readCount(element["maxCoreCount"]);
  return withoutAbsent({ count, cores });
}

type Attributes = Omit<NodeArray, "name" | "limit" | "buckets">;

/**
 * The array's own record. Its `Azure.MaxScalesetSize` is not read: CycleCloud derives each bucket's maxPlacementGroupSize from it, and the
 * two sources disagree on the default (cyclecloud-wire.md C.3).
 */
function readRecord(record: Fields): Attributes {
  const region = readText(readAttribute(record, "Region"));
  const group = readText(readAttribute(record, "PlacementGroupId"));
  const { enabled, resources, configuration, isHpc } = readAutoscale(record);
  const memoryGib = readMemoryGib(readAttribute(record, "Memory"));
  const shutdown = readText(readAttribute(record, "ShutdownPolicy"));
  const policy = shutdown?.toLowerCase();
  return {
    ...withoutAbsent({ region }),
    spot: readFlag(readAttribute(record, "Interruptible")),
    autoscaled: enabled,
    ...(isHpc === false ? { notHpc: true } : {}),
    ...(policy === "deallocate" ? { deallocates: true } : {}),
    ...(shutdown === undefined || policy === "deallocate" || policy === "terminate"
      ? {}
      : { oddShutdownPolicy: quoteText(shutdown) }),
    ...(group === undefined ? {} : { placementGroup: placementGroup(group) }),
    priority: readNumber(readAttribute(record, "Priority")) ?? 1,
    resources,
    ...withoutAbsent({ memoryGib, configuration }),
  };
}

/** The properties that a bucket inherits from its array. */
interface BucketSetting {
  readonly spot: boolean;
  /** The entry of the array's MachineType list at the bucket's position, for a bucket that does not name its own. */
  readonly machineType?: string;
}

/**
 * A bucket of an array (cyclecloud-wire.md A.3). Undefined if neither it nor its array names a VM size: then no node can be requested
 * there. A bucket without a description of its VM cannot be planned: it is read as invalid, without capacity, and keeps its nodes.
 */
function readBucket(bucket: Fields, setting: BucketSetting): StatusBucket | undefined {
  const definition = bucket["definition"];
  const size =
    (isFields(definition) ? readText(definition["machineType"]) : undefined) ?? setting.machineType;
  if (size === undefined) return undefined;
  const machine = readMachine(bucket["virtualMachine"]);
  const maxCount = readCount(bucket["maxCount"]);
  const maxCoreCount = readCount(bucket["maxCoreCount"]);
  const counts = readCounts(bucket, machine);
  const { maxPlacementGroupSize } = counts;
  const failure = readNumber(bucket["lastCapacityFailure"]);
  return {
    bucketId: readText(bucket["bucketId"]) ?? "",
    machineType: machineType(size),
    ...readValidity(bucket, machine),
    availableCount: counts.availableCount ?? 0,
    activeCount: counts.activeCount ?? readList(bucket["activeNodes"]).length,
    ...withoutAbsent({ maxCount, maxCoreCount }),
    ...readQuotas(bucket, (machine ?? undescribedMachine).quotaVcpus, setting),
    // No room for even one node, or no value: there are no placement groups here.
    ...(maxPlacementGroupSize === undefined || maxPlacementGroupSize < 1 ? {} : { maxPlacementGroupSize }),
    placementGroups: readPlacementGroups(bucket["placementGroups"]),
    // Any negative number means never (cyclecloud-wire.md A.3).
    ...(failure === undefined || failure < 0 ? {} : { lastCapacityFailureSeconds: failure }),
    machine: machine ?? undescribedMachine,
    ...(counts.contradictions.length === 0 ? {} : { contradictions: counts.contradictions }),
  };
}

/** Counts of nodes, and the counts of cores that say the same (cyclecloud-wire.md A.3). */
const IN_CORES = {
  availableCount: "availableCoreCount",
  activeCount: "activeCoreCount",
  maxPlacementGroupSize: "maxPlacementGroupCoreSize",
} as const;

type Counts = { readonly [K in keyof typeof IN_CORES]?: number } & {
  readonly contradictions: readonly string[];
};

/** Where only the cores are given, the nodes are counted from them. Where both are and differ, the nodes count. */
function readCounts(bucket: Fields, machine: Machine | undefined): Counts {
  const found: { -readonly [K in keyof typeof IN_CORES]?: number } = {};
  const contradictions: string[] = [];
  for (const name of ["availableCount", "activeCount", "maxPlacementGroupSize"] as const) {
    const nodes = readCount(bucket[name]);
    const cores = readCount(bucket[IN_CORES[name]]);
    const { vcpus = 0, quotaVcpus = 0 } = machine ?? {};
    const counted = cores === undefined || vcpus === 0 ? undefined : Math.floor(cores / vcpus);
    // Without a size in nodes there are no placement groups.
    const count = name === "maxPlacementGroupSize" ? nodes : (nodes ?? counted);
    if (count !== undefined) found[name] = count;
    // Cores may be those of the quota, which are more for constrained sizes.
    if (
      nodes === undefined ||
      counted === undefined ||
      [nodes * vcpus, nodes * quotaVcpus].includes(cores ?? 0)
    )
      continue;
    contradictions.push(`${name} ${nodes} and ${IN_CORES[name]} ${cores ?? 0}`);
  }
  return { ...found, contradictions };
}

const undescribedMachine: Machine = { vcpus: 0, quotaVcpus: 0, gpus: 0, memoryGib: 0, infiniband: false };

function readValidity(
  bucket: Fields,
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
  const vcpus = isFields(value) ? readCount(value["vcpuCount"]) : undefined;
  if (!isFields(value) || vcpus === undefined || vcpus === 0) return undefined;
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
    const name = isFields(group) ? readText(group["name"]) : undefined;
    if (!isFields(group) || name === undefined) return [];
    return [{ name: placementGroup(name), activeCount: readCount(group["activeCount"]) ?? 0 }];
  });
}

type Quotas = Pick<StatusBucket, "familyQuota" | "regionalQuota">;

/**
 * The quotas of a bucket (cyclecloud-wire.md A.3). Some 8.x releases began to report them separately, as `family*` and `regional*`; these
 * take precedence. Before, each bucket had only `quotaCoreCount`, the smaller of the two quotas, and `consumedCoreCount`, the use of the
 * family in the region. A quota that is not reported separately is derived from those:
 * - the family's: it allows no more than the smaller quota, and its use is its own, so all sizes of the family share it;
 * - the region's, if the family's is larger: the use of other families is unknown, so less may be available;
 * - for spot nodes, which have no family quota (0 of 0 has no meaning, semantics 2): the region's, unless it is 0.
 */
function readQuotas(bucket: Fields, quotaVcpus: number, { spot }: { readonly spot: boolean }): Quotas {
  const family = spot ? undefined : readQuota(bucket, KEYS.family, quotaVcpus);
  const regional = readQuota(bucket, KEYS.regional, quotaVcpus);
  const either = readQuota(bucket, KEYS.either, quotaVcpus);
  const familyQuota = family ?? (spot ? undefined : either);
  const regionalQuota = regional ?? (spot ? unlessNothing(either) : regionalBelow(family, either));
  return {
    ...withoutAbsent({ familyQuota, regionalQuota }),
  };
}

interface Keys {
  readonly cores: string;
  readonly nodes: string;
  readonly consumed: string;
}

const KEYS = {
  family: { cores: "familyQuotaCoreCount", nodes: "familyQuotaCount", consumed: "familyConsumedCoreCount" },
  regional: {
    cores: "regionalQuotaCoreCount",
    nodes: "regionalQuotaCount",
    consumed: "regionalConsumedCoreCount",
  },
  either: { cores: "quotaCoreCount", nodes: "quotaCount", consumed: "consumedCoreCount" },
} as const satisfies Readonly<Record<string, Keys>>;

/** In cores. If only a count of nodes is given, the cores of that many nodes. */
function readQuota(bucket: Fields, keys: Keys, quotaVcpus: number): Quota | undefined {
  const nodes = quotaVcpus > 0 ? readCount(bucket[keys.nodes]) : undefined;
  const quotaCores = readCount(bucket[keys.cores]) ?? (nodes === undefined ? undefined : nodes * quotaVcpus);
  if (quotaCores === undefined) return undefined;
  return { quotaCores, consumedCores: readCount(bucket[keys.consumed]) ?? 0 };
}

function unlessNothing(quota: Quota | undefined): Quota | undefined {
  return quota === undefined || quota.quotaCores === 0 ? undefined : quota;
}

/** The smaller quota is the region's if the family's is larger. */
function regionalBelow(family: Quota | undefined, either: Quota | undefined): Quota | undefined {
  if (family === undefined || either === undefined) return undefined;
  return either.quotaCores < family.quotaCores ? either : undefined;
}

/** Holds the Configuration of each node array of one status in a private member that nothing stores, logs or prints. */
class StatusTemplates implements ArrayTemplates {
  readonly #configurations: ReadonlyMap<ArrayName, NodeAttributes>;

  constructor(configurations: ReadonlyMap<ArrayName, NodeAttributes>) {
    this.#configurations = configurations;
  }

  configurationOf(array: ArrayName): NodeAttributes | undefined {
    return this.#configurations.get(array);
  }
}

/** Reads `nodearrays[].nodearray.Configuration` of a status (cyclecloud-wire.md A.3). Arrays without one are missing here. */
export function readTemplates(status: unknown): ArrayTemplates {
  const configurations = new Map<ArrayName, NodeAttributes>();
  for (const element of readList(isFields(status) ? status["nodearrays"] : undefined)) {
    if (!isFields(element)) continue;
    const record = isFields(element["nodearray"]) ? element["nodearray"] : {};
    const name = arrayNameOf(element, record);
    const configuration = readAttribute(record, "Configuration");
    if (name !== undefined && isFields(configuration)) configurations.set(arrayName(name), configuration);
  }
  return new StatusTemplates(configurations);
}
