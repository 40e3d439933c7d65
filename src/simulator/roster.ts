import type { JsonObject } from "./json.ts";
import { NameBook } from "./names.ts";
import type { SimulatedNode } from "./node.ts";
import type { Quirks } from "./options.ts";
import { renderNode } from "./record.ts";
import type { Cluster } from "./world.ts";

/** The listed nodes of a cluster: the same object until one of its nodes changes. */
export type ClusterView = {
  readonly records: readonly JsonObject[];
  /** The records of nodes of arrays, without head nodes. */
  readonly ofArrays: readonly JsonObject[];
  /** Names of the active nodes by bucket id. */
  readonly activeNodes: ReadonlyMap<string, readonly string[]>;
};

/** The nodes that exist, with their names and wire records. */
export class Roster {
  readonly #quirks: Quirks;
  readonly #nodes = new Map<string, SimulatedNode>();
  readonly #byCluster = new Map<string, Map<string, SimulatedNode>>();
  readonly #names = new Map<string, NameBook>();
  readonly #views = new Map<string, ClusterView>();

  constructor(clusters: Iterable<Cluster>, quirks: Quirks) {
    this.#quirks = quirks;
    for (const { name } of clusters) {
      this.#byCluster.set(name, new Map());
      this.#names.set(name, new NameBook());
    }
  }

  find(nodeId: string): SimulatedNode | undefined {
    return this.#nodes.get(nodeId);
  }

  /** The cluster's nodes, in the order in which they were created. */
  nodesOf(cluster: Cluster): Iterable<SimulatedNode> {
    return this.#byCluster.get(cluster.name)?.values() ?? [];
  }

  allNodes(): Iterable<SimulatedNode> {
    return this.#nodes.values();
  }

  namesOf(cluster: Cluster): NameBook {
    const names = this.#names.get(cluster.name);
    if (names === undefined) throw new Error(`cluster ${cluster.name} is not simulated`);
    return names;
  }

  /** Adds a node whose name the caller has taken. */
  add(node: SimulatedNode): void {
    this.#nodes.set(node.id, node);
    this.#byCluster.get(node.cluster.name)?.set(node.id, node);
  }

  /** Removes a node from every list and frees its name. */
  remove(node: SimulatedNode): void {
    this.#nodes.delete(node.id);
    this.#byCluster.get(node.cluster.name)?.delete(node.id);
    this.namesOf(node.cluster).free(node.name);
  }

  view(cluster: Cluster): ClusterView {
    const known = this.#views.get(cluster.name);
    if (known !== undefined) return known;
    const records: JsonObject[] = [];
    const ofArrays: JsonObject[] = [];
    const activeNodes = new Map<string, string[]>();
    for (const node of this.nodesOf(cluster)) {
      if (!node.shown) continue;
      records.push(this.recordOf(node));
      if (node.array !== undefined) ofArrays.push(this.recordOf(node));
      if (!node.holdsActive || node.veil !== undefined || node.bucket === undefined) continue;
      const names = activeNodes.get(node.bucket.id);
      if (names === undefined) activeNodes.set(node.bucket.id, [node.name]);
      else names.push(node.name);
    }
    const view = { records, ofArrays, activeNodes };
    this.#views.set(cluster.name, view);
    return view;
  }

  /** The node's wire record: the same object until the node changes. */
  recordOf(node: SimulatedNode): JsonObject {
    node.record ??= node.veil ?? renderNode(node, this.#quirks);
    return node.record;
  }

  /** Drops what was rendered of the node. To be called after each change of it. */
  touch(node: SimulatedNode): void {
    node.record = undefined;
    this.#views.delete(node.cluster.name);
  }
}
