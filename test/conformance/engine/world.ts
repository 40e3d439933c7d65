import type { Fields, Json } from "../compare.ts";
import { fieldsOf, listOf, objectsIn, textOf } from "../compare.ts";
import { GIVEN } from "./constraints.ts";
import type { Place, Pools } from "./judge.ts";
import type { BucketLimits } from "./limits.ts";
import { LimitReader } from "./limits.ts";
import type { Described } from "./resources.ts";
import { Defaults } from "./resources.ts";
import type { Offer, Status } from "./status.ts";
import { autoscaleOf, numberOf, readStatus } from "./status.ts";
import type { Switches } from "./switches.ts";
import type { Value, Values } from "./values.ts";
import { readValue } from "./values.ts";

/** A node of the cluster, or one that the plan makes. */
export interface EngineNode extends Place {
  readonly name: string;
  /** As the vectors write it. */
  readonly bucket: string;
  readonly state: "existing" | "failed" | "deallocated" | "new";
  readonly keepAlive: boolean;
  left: Record<string, Value>;
  /** A job of this pass has it, or is left on it. */
  used: boolean;
}

/** A size of an array in a placement group or in none, or a host that only the scheduler knows. */
export interface Bucket {
  readonly id: string;
  readonly array: string;
  /** Absent: a host; nothing is made there. */
  readonly room?: { readonly limits: BucketLimits; readonly cores: number };
  readonly example: Place;
  readonly nodes: EngineNode[];
  readonly make: (name: string) => EngineNode;
}

export interface World {
  readonly buckets: readonly Bucket[];
  readonly pools: Pools;
  readonly names: Set<string>;
  /** Nodes that jobs take and that are not charged to limits yet. */
  readonly reserved: Map<Bucket, number>;
}

export function readWorld(input: Fields, vmSizes: Json, switches: Switches): World {
  const status = readStatus(input, vmSizes);
  const reader = new WorldReader(status, fieldsOf(input["config"]), switches);
  const buckets = reader.buckets(input["default_placement_groups"] === true);
  const hosts = objectsIn(input["scheduler_nodes"]).filter((report) => !reader.report(report, buckets));
  return {
    buckets: [...buckets, ...hosts.map((report) => reader.host(report))],
    pools: readPools(input["shared_resources"]),
    names: new Set(status.nodes.map((node) => textOf(node["Name"]))),
    reserved: new Map(),
  };
}

class WorldReader {
  readonly #status: Status;
  readonly #config: Fields;
  readonly #switches: Switches;
  readonly #defaults: Defaults;
  readonly #limits: LimitReader;

  constructor(status: Status, config: Fields, switches: Switches) {
    this.#status = status;
    this.#config = config;
    this.#switches = switches;
    this.#defaults = new Defaults(config, switches);
    this.#limits = new LimitReader(status, switches);
  }

  /** By array, size and group, as listed; groups that are only generated come last (scalelib.md 7, 8). */
  buckets(generates: boolean): readonly Bucket[] {
    const listed = this.#status.offers.flatMap((offer) =>
      [...this.#groupsOf(offer), undefined].map((group) => this.#bucket(offer, group)),
    );
    const made = generates ? this.#generated() : [];
    return [
      ...listed,
      ...made.map(({ offer, group }) => {
        const plain = listed.find(({ id }) => id === idOf(offer, undefined))?.room;
        if (plain === undefined) throw new Error("each size has a bucket without a group");
        return this.#bucket(offer, group, this.#limits.ofGenerated(offer, plain.limits));
      }),
    ];
  }

  #arrayConfig(array: string): Fields {
    return fieldsOf(fieldsOf(this.#config["nodearrays"])[array]);
  }

  #named(array: string): readonly string[] {
    return listOf(this.#arrayConfig(array)["placement_groups"]).map(textOf);
  }

  /** Groups of the status, of nodes, of the configuration, of the array. */
  #groupsOf({ array, size, bucket, record }: Offer): ReadonlySet<string> {
    const ofNodes = this.#nodesOf(array, size).flatMap((node) => groupOf(node) ?? []);
    return new Set([
      ...objectsIn(bucket["placementGroups"]).map((group) => textOf(group["name"])),
      ...(this.#switches.has("unlisted-groups-are-invisible") ? [] : ofNodes),
      ...this.#named("default"),
      ...this.#named(array),
      ...[groupOf(record) ?? []].flat(),
    ]);
  }

  #nodesOf(array: string, size: string): readonly Fields[] {
    return this.#status.nodes.filter((node) => node["Template"] === array && node["MachineType"] === size);
  }

  #generated(): readonly { readonly offer: Offer; readonly group: string }[] {
    const { offers } = this.#status;
    if (Object.keys(fieldsOf(this.#config["nodearrays"])).some((array) => this.#named(array).length > 0))
      return [];
    const known = new Map<string, string[]>();
    for (const offer of offers)
      known.set(offer.array, [...(known.get(offer.array) ?? []), ...this.#groupsOf(offer)]);
    return offers.flatMap((offer) => {
      const config = this.#arrayConfig(offer.array);
      const names = known.get(offer.array) ?? [];
      const count = this.#switches.has("groups-count-for-each-size") ? names.length : new Set(names).size;
      const most = Number(config["max_placement_groups"] ?? 10_000) - count;
      const isHpc = autoscaleOf(offer.record)["is_hpc"] !== false;
      const wanted = isHpc ? Math.min(Number(config["generated_placement_group_buffer"] ?? 2), most) : 0;
      const groups: string[] = [];
      for (let i = 0; groups.length < wanted; i += 1)
        if (!names.includes(`${offer.size}_pg${i}`)) groups.push(`${offer.size}_pg${i}`);
      names.push(...groups);
      return groups.map((group) => ({ offer, group }));
    });
  }

  #bucket(offer: Offer, group: string | undefined, limits = this.#limits.of(offer, group)): Bucket {
    const id = idOf(offer, group);
    const described = (name: string, gpus: number): Described => ({
      properties: {
        ...this.#common(offer, group),
        ...NOT_THERE,
        ...this.#ofExample(offer),
        name,
        gpu_count: gpus,
      },
      nodeId: null,
      configuration: fieldsOf(offer.record["Configuration"]),
      resources: readResources(autoscaleOf(offer.record)["resources"]),
    });
    const first = described(`${offer.array}-0`, this.#gpusOf(offer));
    const resources = this.#defaults.of(first);
    const example = {
      ...placeOf(first.properties, resources),
      failure: Number(offer.bucket["lastCapacityFailure"] ?? -1),
    };
    const isItself = this.#switches.has("nodes-are-not-their-bucket");
    const nodes = this.#nodesOf(offer.array, offer.size)
      .filter((node) => groupOf(node) === group && isThere(node))
      .map((node) => this.#existing(node, offer, id));
    return {
      id,
      array: offer.array,
      room: { limits, cores: offer.cores },
      example,
      nodes: nodes.toSorted((a, b) => compareNames(a.name, b.name)),
      make: (name) => {
        const made = described(name, isItself ? offer.vm.gpus : this.#gpusOf(offer));
        const host = `a host of chance for ${name}`;
        const isNamed = this.#switches.has("one-node-refuses-its-bucket");
        const properties = isNamed
          ? { ...made.properties, hostname: host, hostname_or_uuid: host }
          : made.properties;
        const own = this.#defaults.of({ ...made, properties, resources });
        return { ...placeOf(properties, own), ...nodeOf(name, id, "new") };
      },
    };
  }

  #existing(node: Fields, offer: Offer, bucket: string): EngineNode {
    const { properties, nodeId } = this.#ofNode(node, offer);
    const own = readResources(autoscaleOf(node)["resources"]);
    const inherited = readResources(autoscaleOf(offer.record)["resources"]);
    const isBare = this.#switches.has("arrays-are-not-inherited");
    const configuration = fieldsOf(node["Configuration"]);
    const resources = this.#defaults.of({
      properties,
      nodeId,
      configuration,
      resources: isBare ? own : { ...inherited, ...own },
    });
    const status = textOf(node["Status"]);
    const state = status === "Failed" ? "failed" : status === "Deallocated" ? "deallocated" : "existing";
    return {
      ...placeOf(properties, resources),
      ...nodeOf(textOf(node["Name"]), bucket, state),
      keepAlive: node["KeepAlive"] === true,
    };
  }

  /** What all nodes of a bucket have. */
  #common({ array, size, region, cores, vm, bucket }: Offer, group: string | undefined): Values {
    return {
      nodearray: array,
      bucket_id: textOf(bucket["bucketId"] ?? ""),
      vm_size: size,
      vm_family: vm.family ?? "unknown",
      location: region,
      vcpu_count: cores,
      pcpu_count: vm.pcpus ?? cores,
      cores_per_socket: vm.perCore ?? null,
      colocated: group !== undefined,
      placement_group: group ?? null,
      version: "7.9",
    };
  }

  #ofExample(offer: Offer): Values {
    const memory = numberOf(offer.record["Memory"]) ?? memoryOf(offer);
    return { spot: offer.spot, memory: { amount: memory, unit: "g" }, infiniband: this.#infinibandOf(offer) };
  }

  #infinibandOf({ bucket, vm }: Offer): boolean {
    if (this.#switches.has("buckets-lack-infiniband")) return false;
    return fieldsOf(bucket["virtualMachine"])["infiniband"] === true || vm.infiniband;
  }

  #gpusOf({ bucket, vm }: Offer): number {
    const reported = numberOf(fieldsOf(bucket["virtualMachine"])["gpuCount"]) ?? 0;
    if (this.#switches.has("reported-gpus-win")) return reported > 0 ? reported : vm.gpus;
    return Math.max(reported, vm.gpus);
  }

  #ofNode(node: Fields, offer: Offer): { readonly properties: Values; readonly nodeId: string } {
    const [group, nodeId] = [groupOf(node), textOf(node["NodeId"])];
    const isItself = this.#switches.has("nodes-are-not-their-bucket");
    const fqdn = typeof node["Hostname"] === "string" && node["Hostname"] !== "" ? node["Hostname"] : null;
    const hostname = fqdn?.split(".")[0] ?? null;
    const own = numberOf(node["Memory"]);
    const memory = isItself ? (own ?? memoryOf(offer)) : Math.max(own ?? 0, memoryOf(offer));
    const spot = typeof node["Interruptible"] === "boolean" ? node["Interruptible"] : offer.spot;
    const properties: Values = {
      ...this.#common(offer, group),
      ...(isItself ? { vcpu_count: numberOf(node["CoreCount"]) ?? offer.cores } : {}),
      ...NOT_THERE,
      name: textOf(node["Name"]),
      hostname,
      fqdn,
      hostname_or_uuid: hostname ?? nodeId,
      private_ip: typeof node["PrivateIp"] === "string" ? node["PrivateIp"] : null,
      instance_id: typeof node["InstanceId"] === "string" ? node["InstanceId"] : null,
      spot,
      gpu_count: isItself ? offer.vm.gpus : this.#gpusOf(offer),
      memory: { amount: memory, unit: "g" },
      infiniband: this.#switches.has("buckets-lack-infiniband")
        ? group !== undefined
        : this.#infinibandOf(offer),
      state: textOf(node["Status"]),
      exists: node["TargetState"] === "Started",
      keep_alive: node["KeepAlive"] === true,
    };
    return { properties, nodeId };
  }

  /** Lays a report of the scheduler over the node that it is of. False: there is none. */
  report(report: Fields, buckets: readonly Bucket[]): boolean {
    const nodes = buckets.flatMap((bucket) => bucket.nodes).filter(({ state }) => state !== "failed");
    const node = nodes.find(({ properties }) => properties["hostname"] === report["hostname"]);
    const isIgnored = fieldsOf(report["metadata"])["override_resources"] === false;
    if (node === undefined) return isIgnored;
    if (!isIgnored) overlay(node, report);
    return true;
  }

  /** A host that only the scheduler knows is a bucket of its own: its totals make it a candidate. */
  host(report: Fields): Bucket {
    const hostname = textOf(report["hostname"]);
    const names = { name: hostname, hostname, fqdn: hostname, hostname_or_uuid: hostname };
    const properties: Values = { ...HOST, ...names };
    const resources = this.#defaults.of({ properties, nodeId: null, configuration: {}, resources: {} });
    const node: EngineNode = {
      ...placeOf(properties, resources),
      ...nodeOf(hostname, "unknown/unknown", "existing"),
      totals: { ...resources, ...readResources(report["resources"]) },
    };
    const example = placeOf(properties, node.totals);
    overlay(node, report);
    return {
      id: "__unmanaged__/unknown",
      array: "unknown",
      example,
      nodes: [node],
      make: () => {
        throw new Error("no nodes are made there");
      },
    };
  }
}

/** A node that does not exist. */
const NOT_THERE: Values = {
  ...Object.fromEntries([...GIVEN, "delete_time", "delete_time_unix"].map((name) => [name, null])),
  state: "Off",
  exists: false,
  keep_alive: false,
};

/** A host of which the scheduler says nothing. */
const HOST: Values = {
  ...NOT_THERE,
  ...Object.fromEntries(["nodearray", "vm_size", "vm_family", "location"].map((name) => [name, "unknown"])),
  ...Object.fromEntries(["bucket_id", "placement_group", "cores_per_socket"].map((name) => [name, null])),
  vcpu_count: 1,
  pcpu_count: 1,
  gpu_count: 0,
  memory: { amount: 0, unit: "g" },
  infiniband: false,
  spot: false,
  colocated: false,
  version: "7.9",
  state: "running",
  exists: true,
};

const idOf = ({ array, size }: Offer, group: string | undefined): string =>
  group === undefined ? `${array}/${size}` : `${array}/${size}/${group}`;

const memoryOf = ({ bucket }: Offer): number => numberOf(fieldsOf(bucket["virtualMachine"])["memory"]) ?? 0;

function groupOf(record: Fields): string | undefined {
  const group = record["PlacementGroupId"];
  return typeof group === "string" && group !== "" ? group : undefined;
}

/** Wanted, or deallocated on purpose. */
const isThere = ({ Status: status, TargetState: target }: Fields): boolean =>
  target === "Started" || (target === "Deallocated" && status === "Deallocated");

const readResources = (value: Json | undefined): Values =>
  Object.fromEntries(Object.entries(fieldsOf(value)).map(([name, one]) => [name, readValue(one)]));

const placeOf = (properties: Values, resources: Values): Place => ({
  properties,
  totals: resources,
  left: { ...resources },
  jobs: new Set(),
  owner: undefined,
});

const nodeOf = (name: string, bucket: string, state: EngineNode["state"]) => ({
  name,
  bucket,
  state,
  keepAlive: false,
  used: false,
});

function overlay(node: EngineNode, report: Fields): void {
  const resources = readResources(report["resources"]);
  Object.assign(node.totals, resources);
  Object.assign(node.left, resources, readResources(report["available"]));
  for (const job of listOf(report["jobs"])) node.jobs.add(textOf(job));
}

/** By the name up to the last "-", then by the number behind it. */
function compareNames(a: string, b: string): number {
  const [x, y] = [/^(.*?)-?(\d*)$/.exec(a), /^(.*?)-?(\d*)$/.exec(b)];
  const [p = "", q = ""] = [x?.[1], y?.[1]];
  return p < q ? -1 : p > q ? 1 : Number(x?.[2]) - Number(y?.[2]);
}

function readPools(value: Json | undefined): Pools {
  const pools = objectsIn(value);
  const current = (pool: Fields): Value => readValue(pool["current_value"] ?? null);
  const [counted, valued] = [false, true].map((isValue) =>
    pools.filter(({ kind }) => (kind === "value") === isValue),
  );
  return {
    left: new Map((counted ?? []).map((pool) => [textOf(pool["id"]), Number(current(pool))])),
    values: new Map((valued ?? []).map((pool) => [textOf(pool["id"]), current(pool)])),
  };
}
