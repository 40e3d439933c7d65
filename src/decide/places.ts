import type { Catalogue } from "../domain/catalogue.ts";
import type { Machine, Node, NodeArray } from "../domain/cluster.ts";
import type { DefaultResource } from "../domain/default-resource.ts";
import type { ArrayName, MachineType, PlacementGroup } from "../domain/ids.ts";
import type { BucketKey } from "../domain/bucket.ts";
import type { Resources } from "../domain/resources.ts";
import { viewBucket, viewNode } from "./cluster-views.ts";
import type { Defaults } from "./default-resources.ts";
import { applyDefaults, compileDefaults } from "./default-resources.ts";
import type { NodeView } from "../domain/node-view.ts";

/** One array x VM size x placement group of a cluster, with what a node there offers and how many there are. */
export interface ClusterPlace {
  readonly bucket: BucketKey;
  readonly array: NodeArray | undefined;
  /** Absent: neither the array nor any other offers this size any more. */
  readonly machine: Machine | undefined;
  /** What a new node here is and offers, default resources included. */
  readonly view: NodeView;
  readonly cores: number;
  /** Nodes that the status shows and that count against limits, and their vCPUs. */
  nodes: number;
  nodeCores: number;
  /** Nodes asked for that no status shows yet. */
  waiting: number;
}

/** What decides the resources of nodes apart from the cluster itself. */
export interface ResourceRules {
  /** The configuration's default resources. */
  readonly configured: readonly DefaultResource[];
  readonly own: readonly DefaultResource[];
  readonly catalogue: Catalogue;
}

/** The places of a cluster, each once, whatever the spelling of its VM size. */
export class Places {
  readonly #arrays: ReadonlyMap<ArrayName, NodeArray>;
  readonly #catalogue: Catalogue;
  readonly #defaults: Defaults;
  readonly #machines = new Map<string, Machine>();
  /** Keyed by the text as it was spelled: most lookups repeat. */
  readonly #spelled = new Map<ArrayName, Map<MachineType, Map<PlacementGroup | undefined, ClusterPlace>>>();
  readonly #places = new Map<string, ClusterPlace>();
  /** Resources of nodes that cannot differ, by place and memory. */
  readonly #shared = new Map<ClusterPlace, Map<string, Resources>>();

  /** With dynamic node arrays as arrays of their own. */
  constructor(arrays: readonly NodeArray[], rules: ResourceRules) {
    this.#catalogue = rules.catalogue;
    this.#defaults = compileDefaults(rules.configured, rules.own);
    this.#arrays = new Map(arrays.map((array) => [array.name, array]));
    for (const array of arrays) {
      for (const bucket of array.buckets) {
        const size = bucket.machineType.toLowerCase();
        if (!this.#machines.has(size)) this.#machines.set(size, bucket.machine);
      }
    }
  }

  /** All places asked for so far. */
  all(): Iterable<ClusterPlace> {
    return this.#places.values();
  }

  /** The place of a node or bucket; made when it is asked for first. */
  at(array: ArrayName, machineType: MachineType, group: PlacementGroup | undefined): ClusterPlace {
    const sizes =
      this.#spelled.get(array) ?? new Map<MachineType, Map<PlacementGroup | undefined, ClusterPlace>>();
    this.#spelled.set(array, sizes);
    const groups = sizes.get(machineType) ?? new Map<PlacementGroup | undefined, ClusterPlace>();
    sizes.set(machineType, groups);
    const known = groups.get(group);
    if (known !== undefined) return known;
    const place = this.#open(array, machineType, group);
    groups.set(group, place);
    return place;
  }

  /** What an existing node is and offers, default resources included. Its id is left to {@link withNodeId}. */
  view(node: Node, place: ClusterPlace): NodeView {
    const view = viewNode(node, place, this.#catalogue);
    return { ...view, available: this.#resourcesOf(node, () => view, place) };
  }

  /** What an existing node offers: all that most allocations need of it. */
  resources(node: Node, place: ClusterPlace): Resources {
    return this.#resourcesOf(node, () => viewNode(node, place, this.#catalogue), place);
  }

  /** Nodes of a place with nothing of their own have the same resources, and the same object; they are worked out once. */
  #resourcesOf(node: Node, view: () => NodeView, place: ClusterPlace): Resources {
    const alike = this.#defaults.perBucket && node.resources === undefined;
    if (!alike) return applyDefaults(this.#defaults, view()).resources;
    const shared = this.#shared.get(place) ?? new Map<string, Resources>();
    this.#shared.set(place, shared);
    const key = `${node.memoryGib} ${node.spot}`;
    const resources = shared.get(key) ?? applyDefaults(this.#defaults, { ...view(), nodeId: null }).resources;
    shared.set(key, resources);
    return resources;
  }

  #open(array: ArrayName, machineType: MachineType, group: PlacementGroup | undefined): ClusterPlace {
    const size = machineType.toLowerCase();
    const key = `${array}\n${size}\n${group ?? ""}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const nodeArray = this.#arrays.get(array);
    const bucket = nodeArray?.buckets.find((one) => one.machineType.toLowerCase() === size);
    const machine = bucket?.machine ?? this.#machines.get(size);
    const here = {
      bucket: {
        array,
        machineType: bucket?.machineType ?? machineType,
        ...(group === undefined ? {} : { placementGroup: group }),
      },
      array: nodeArray,
      machine,
      ...(bucket === undefined ? {} : { bucketId: bucket.bucketId }),
      ...(bucket?.lastCapacityFailureSeconds === undefined
        ? {}
        : { capacityFailureSeconds: bucket.lastCapacityFailureSeconds }),
    };
    const view = viewBucket(here, this.#catalogue);
    const place: ClusterPlace = {
      ...here,
      view: { ...view, available: applyDefaults(this.#defaults, view).resources },
      cores: machine?.vcpus ?? 0,
      nodes: 0,
      nodeCores: 0,
      waiting: 0,
    };
    this.#places.set(key, place);
    return place;
  }
}

/** vCPUs of an existing node, from its bucket where there is one. */
export function coresOf(node: Node, place: ClusterPlace): number {
  return place.machine?.vcpus ?? node.vcpus ?? 0;
}

/** Resources that nodes of a place share, with the one that they cannot share: ccnodeid. */
export function withNodeId(resources: Resources, nodeId: string | null): Resources {
  return resources["ccnodeid"] === null && nodeId !== null ? { ...resources, ccnodeid: nodeId } : resources;
}
