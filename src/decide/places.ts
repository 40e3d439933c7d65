import type { Machine, Node, NodeArray, Snapshot } from "../domain/cluster.ts";
import type { ArrayName, MachineType, PlacementGroup } from "../domain/ids.ts";
import type { BucketKey } from "../domain/record.ts";
import type { Resources } from "../domain/resources.ts";

/** One array x VM size x placement group of a cluster, with what a node there offers and how many there are. */
export interface ClusterPlace {
  readonly bucket: BucketKey;
  readonly array: NodeArray | undefined;
  /** Absent: neither the array nor any other offers this size any more. */
  readonly machine: Machine | undefined;
  /** What any node here offers, old or new. */
  readonly resources: Resources;
  readonly cores: number;
  /** Nodes that the status shows and that count against limits, and their vCPUs. */
  nodes: number;
  nodeCores: number;
  /** Nodes asked for that no status shows yet. */
  waiting: number;
}

/** The places of a cluster, each once, whatever the spelling of its VM size. */
export class Places {
  readonly #arrays: ReadonlyMap<ArrayName, NodeArray>;
  readonly #machines = new Map<string, Machine>();
  /** Keyed by the text as it was spelled: most lookups repeat. */
  readonly #spelled = new Map<ArrayName, Map<MachineType, Map<PlacementGroup | undefined, ClusterPlace>>>();
  readonly #places = new Map<string, ClusterPlace>();

  constructor(snapshot: Snapshot) {
    this.#arrays = new Map(snapshot.arrays.map((array) => [array.name, array]));
    for (const array of snapshot.arrays) {
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

  #open(array: ArrayName, machineType: MachineType, group: PlacementGroup | undefined): ClusterPlace {
    const size = machineType.toLowerCase();
    const key = `${array}\n${size}\n${group ?? ""}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const nodeArray = this.#arrays.get(array);
    const bucket = nodeArray?.buckets.find((one) => one.machineType.toLowerCase() === size);
    const machine = bucket?.machine ?? this.#machines.get(size);
    const place: ClusterPlace = {
      bucket: {
        array,
        machineType: bucket?.machineType ?? machineType,
        ...(group === undefined ? {} : { placementGroup: group }),
      },
      array: nodeArray,
      machine,
      resources: machine === undefined ? {} : offered(machine, nodeArray?.resources),
      cores: machine?.vcpus ?? 0,
      nodes: 0,
      nodeCores: 0,
      waiting: 0,
    };
    this.#places.set(key, place);
    return place;
  }
}

/** What one node of a bucket offers: its VM, and what the array's Configuration.autoscale.resources adds or overrides. */
function offered(machine: Machine, more: Resources = {}): Resources {
  return { ncpus: machine.vcpus, mem: machine.memoryGib, ngpus: machine.gpus, ...more };
}

/**
 * What an existing node offers. It is read from its bucket, exactly as for a new node: where the two differed, each pass would find the
 * nodes of the last one wanting and ask for more (scalelib defects 29 and 30). A size that nobody offers any more leaves what the node
 * says of itself. The node's own autoscale.resources stand above all.
 */
export function resourcesOf(node: Node, place: ClusterPlace): Resources {
  if (place.machine !== undefined) {
    return node.resources === undefined ? place.resources : { ...place.resources, ...node.resources };
  }
  const own = {
    vcpus: node.vcpus ?? 0,
    quotaVcpus: 0,
    gpus: 0,
    memoryGib: node.memoryGib ?? 0,
    infiniband: false,
  };
  return { ...offered(own, place.array?.resources), ...node.resources };
}

/** vCPUs of an existing node, from its bucket where there is one. */
export function coresOf(node: Node, place: ClusterPlace): number {
  return place.machine?.vcpus ?? node.vcpus ?? 0;
}
