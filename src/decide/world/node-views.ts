import type { Catalogue, VmSize } from "../../domain/catalogue.ts";
import { describeVmSize, findVmSize } from "../../domain/catalogue.ts";
import type { Machine, Node, NodeArray } from "../../domain/cluster.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import type { Resources, Scalar } from "../../domain/resources.ts";
import type { NodeProperties, NodeView } from "../../domain/node-view.ts";
import type { Seconds } from "../../domain/units.ts";

/** The part of a bucket that views need. Array and machine are absent if the cluster no longer offers them. */
export interface ViewedPlace {
  readonly bucket: BucketKey;
  readonly array: NodeArray | undefined;
  readonly machine: Machine | undefined;
  /** CycleCloud's id of the bucket. */
  readonly bucketId?: string;
  readonly capacityFailureSeconds?: Seconds;
}

const NO_CONFIGURATION: Readonly<Record<string, Scalar>> = {};
const NO_JOBS: ReadonlySet<string> = new Set<string>();

/** The version that scalelib reports. */
const LIBRARY_VERSION = "7.9";

/** A new node of a bucket (scalelib.md 3 and 5), before default resources. */
export function viewBucket(place: ViewedPlace, catalogue: Catalogue): NodeView {
  const { array } = place;
  const machine = describeMachine(place, catalogue);
  const properties: NodeProperties = {
    ...commonProperties(place, machine),
    name: `${place.bucket.array}-0`,
    hostname: null,
    fqdn: null,
    hostname_or_uuid: null,
    private_ip: null,
    instance_id: null,
    spot: array?.spot ?? false,
    memory: { amount: array?.memoryGib ?? machine.memoryGib, unit: "g" },
    state: "Off",
    exists: false,
    keep_alive: false,
    create_time_remaining: -1,
  };
  const view: NodeView = {
    properties,
    available: array?.resources ?? {},
    nodeId: null,
    configuration: array?.configuration ?? NO_CONFIGURATION,
    jobs: NO_JOBS,
  };
  const { capacityFailureSeconds } = place;
  return capacityFailureSeconds === undefined ? view : { ...view, capacityFailureSeconds };
}

/**
 * An existing node, before default resources. It is described by its bucket, like a new one. If the two differed, the nodes of each plan could
 * be too small for the next one, which would create more (scalelib defects 29 and 30). The node's own record can only add to that.
 */
export function viewNode(node: Node, place: ViewedPlace, catalogue: Catalogue): NodeView {
  const machine = describeMachine(place, catalogue, node);
  const hostname = node.hostname?.split(".")[0] ?? null;
  const properties: NodeProperties = {
    ...commonProperties(place, machine),
    name: node.name,
    hostname,
    fqdn: node.hostname ?? null,
    hostname_or_uuid: hostname ?? node.nodeId,
    private_ip: node.privateIp ?? null,
    instance_id: node.instanceId ?? null,
    spot: node.spot ?? place.array?.spot ?? false,
    memory: { amount: Math.max(node.memoryGib ?? 0, machine.memoryGib), unit: "g" },
    state: node.status,
    exists: node.phase === "ready" || node.phase === "coming" || node.phase === "failed",
    keep_alive: node.keepAlive,
    create_time_remaining: -1,
  };
  return {
    properties,
    available: withOwn(place.array?.resources, node.resources),
    nodeId: node.nodeId,
    configuration: node.configuration ?? place.array?.configuration ?? NO_CONFIGURATION,
    jobs: NO_JOBS,
  };
}

function withOwn(ofArray: Resources = {}, own: Resources | undefined): Resources {
  return own === undefined ? ofArray : { ...ofArray, ...own };
}

type OfOneNode =
  | "name"
  | "hostname"
  | "fqdn"
  | "hostname_or_uuid"
  | "private_ip"
  | "instance_id"
  | "spot"
  | "memory"
  | "state"
  | "exists"
  | "keep_alive"
  | "create_time_remaining";

/** The properties that all nodes of a place have. Times are those of a new node, because the ledger has those of existing ones. */
function commonProperties(place: ViewedPlace, machine: Described): Omit<NodeProperties, OfOneNode> {
  const group = place.bucket.placementGroup ?? null;
  return {
    nodearray: place.bucket.array,
    bucket_id: place.bucketId ?? null,
    vm_size: place.bucket.machineType,
    vm_family: machine.family,
    location: place.array?.region ?? null,
    vcpu_count: machine.vcpus,
    pcpu_count: machine.pcpus,
    gpu_count: machine.gpus,
    infiniband: machine.infiniband,
    colocated: group !== null,
    placement_group: group,
    cores_per_socket: machine.vcpusPerCore,
    version: LIBRARY_VERSION,
    create_time_unix: 0,
    last_match_time_unix: 0,
    delete_time_unix: null,
    create_time: NEVER,
    last_match_time: NEVER,
    delete_time: null,
  };
}

const NEVER = "1970-01-01T00:00:00Z";

interface Described {
  readonly family: string;
  readonly vcpus: number;
  readonly pcpus: number;
  readonly gpus: number;
  readonly memoryGib: number;
  readonly infiniband: boolean;
  readonly vcpusPerCore: number;
}

/** The machine by CycleCloud and the catalogue. The larger number of GPUs counts, except if the user's own table has one. */
function describeMachine(place: ViewedPlace, catalogue: Catalogue, node?: Node): Described {
  const { array, bucket } = place;
  const found = findVmSize(catalogue, array?.region, bucket.machineType);
  const own = found.authority === "override" ? found.size : {};
  const size = describeVmSize(catalogue, array?.region, bucket.machineType);
  const reported = place.machine;
  const vcpus = own.vcpus ?? reported?.vcpus ?? node?.vcpus ?? size.vcpus ?? 0;
  return {
    family: size.family ?? "unknown",
    vcpus,
    pcpus: physicalCores(size, vcpus),
    gpus: own.gpus ?? Math.max(reported?.gpus ?? 0, size.gpus ?? 0),
    memoryGib: own.memoryGib ?? reported?.memoryGib ?? node?.memoryGib ?? size.memoryGib ?? 0,
    infiniband: own.infiniband ?? ((reported?.infiniband ?? false) || (size.infiniband ?? false)),
    vcpusPerCore: size.vcpusPerCore ?? -1,
  };
}

function physicalCores(size: VmSize, vcpus: number): number {
  if (size.vcpus === undefined) return vcpus;
  const perCore = size.vcpusPerCore ?? 1;
  return perCore > 0 ? Math.floor(size.vcpus / perCore) : size.vcpus;
}
