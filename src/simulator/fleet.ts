import { Agenda } from "./agenda.ts";
import type { SimulatorEvent } from "./events.ts";
import { drawFate, fateOfHeadNode } from "./fate.ts";
import { Holdings } from "./holdings.ts";
import type { JsonObject } from "./json.ts";
import { limitKeysOf, quotaKeysOf } from "./limits.ts";
import type { NodeIdentity, SimulatedNode } from "./node.ts";
import { createNode, describeNode } from "./node.ts";
import type { HeadNodeOptions, SimulatorOptions } from "./options.ts";
import type { Random } from "./random.ts";
import { drawUuid } from "./random.ts";
import { Roster } from "./roster.ts";
import type { Bucket, Cluster, World } from "./world.ts";
import { requireMachine } from "./world.ts";
import { withoutAbsent } from "../domain/without-absent.ts";

/** The given properties of a new node. All others are drawn. */
export type NodeOrder = {
  readonly bucket: Bucket;
  readonly name: string;
  readonly spot: boolean;
  readonly group: string | undefined;
  readonly requestId: string | undefined;
  readonly keepAlive: boolean;
  readonly attributes: JsonObject;
  readonly configuration: JsonObject;
  /** Equal for nodes of equal attributes. */
  readonly signature: string;
};

/**
 * All nodes of all clusters: which exist, what they hold, what shows of them, and their next steps. Requests change nodes by
 * node-actions.ts, planned faults by mishaps.ts, and time by node-steps.ts. Times are in milliseconds since 1970.
 */
export class Fleet {
  readonly world: World;
  readonly options: SimulatorOptions;
  readonly random: Random;
  readonly emit: (event: SimulatorEvent) => void;
  readonly roster: Roster;
  readonly holdings: Holdings;
  readonly agenda = new Agenda();
  #lagFrozen = false;
  #heldBack: SimulatedNode[] = [];

  constructor(
    world: World,
    options: SimulatorOptions,
    random: Random,
    now: number,
    emit: (event: SimulatorEvent) => void,
  ) {
    this.world = world;
    this.options = options;
    this.random = random;
    this.emit = emit;
    this.holdings = new Holdings(world);
    this.roster = new Roster(world.clusters.values(), world.quirks);
    for (const cluster of world.clusters.values()) {
      for (const head of cluster.headNodes) this.#addHeadNode(cluster, head, now);
    }
  }

  /** Adds one array node in Allocation. The caller has checked the limits and taken the name. */
  add(order: NodeOrder, now: number): SimulatedNode {
    const { bucket, keepAlive, ...rest } = order;
    const { array, machine } = bucket;
    const mismatch = this.holdings.scaleSets.findMismatch(bucket, order.group, order.signature);
    const node = createNode(
      {
        ...rest,
        id: drawUuid(this.random),
        cluster: array.cluster,
        array,
        bucket,
        machine,
        region: array.region,
        keys: limitKeysOf(bucket, order),
        fate: drawFate(this.random, this.options, array.timings, mismatch),
        createdAt: now,
      },
      { keepAlive },
    );
    this.#admit(node);
    this.emit({
      kind: "node-created",
      ...describeNode(node, now),
      machineType: machine.name,
      cores: machine.vcpuCount,
      spot: node.spot,
      ...withoutAbsent({ placementGroup: node.group, requestId: node.requestId }),
    });
    if (node.fate.lag === 0 && !this.#lagFrozen) this.show(node);
    else this.agenda.schedule(node, "show", now + node.fate.lag);
    this.agenda.schedule(node, "acquire", now + node.fate.allocate);
    return node;
  }

  /** To be called after a change of a node's course. Cancels the steps scheduled before, except those that show the node. */
  change(node: SimulatedNode): void {
    node.course += 1;
    this.roster.touch(node);
  }

  /** Removes the node from every list. A head node's name is free again as well. */
  forget(node: SimulatedNode): void {
    this.roster.remove(node);
    this.change(node);
  }

  /** The VM is deleted. */
  releaseVm(node: SimulatedNode, reason: "terminated" | "vanished", at: number): void {
    this.emit({ kind: "node-gone", ...describeNode(node, at), reason });
    this.holdings.releaseAll(node);
    this.change(node);
  }

  /** Lists the node from now on. */
  show(node: SimulatedNode): void {
    node.shown = true;
    this.holdings.show(node);
    this.roster.touch(node);
  }

  /** While the lag is frozen or lasts, a deallocated node that starts goes on showing as it is listed now. */
  veil(node: SimulatedNode): void {
    if (node.fate.lag > 0 || this.#lagFrozen) node.veil = this.roster.recordOf(node);
  }

  /** The start of a deallocated node begins to show. No effect on a node without a veil. */
  unveil(node: SimulatedNode): void {
    if (node.veil === undefined) return;
    node.veil = undefined;
    this.holdings.showActive(node);
    this.roster.touch(node);
  }

  /** Keeps a node that is due to show for later, if the lag is frozen. Returns whether it is. */
  holdBack(node: SimulatedNode): boolean {
    if (this.#lagFrozen) this.#heldBack.push(node);
    return this.#lagFrozen;
  }

  /** From now on nothing new begins to show. */
  freezeLag(): void {
    this.#lagFrozen = true;
  }

  /** Shows everything that was held back. */
  thawLag(): void {
    this.#lagFrozen = false;
    for (const node of this.#heldBack) {
      if (this.roster.find(node.id) === undefined) continue;
      if (node.shown) this.unveil(node);
      else this.show(node);
    }
    this.#heldBack = [];
  }

  #addHeadNode(cluster: Cluster, head: HeadNodeOptions, now: number): void {
    const machine = requireMachine(this.world.machines, head.machineType, `head node ${head.name}`);
    const { region } = head;
    this.roster.namesOf(cluster).takeExact(head.name);
    const identity: NodeIdentity = {
      id: drawUuid(this.random),
      name: head.name,
      cluster,
      array: undefined,
      bucket: undefined,
      machine,
      region,
      spot: false,
      group: undefined,
      requestId: undefined,
      attributes: {},
      configuration: {},
      signature: "",
      keys: { active: [], quota: quotaKeysOf({ machine, region, spot: false }) },
      fate: fateOfHeadNode,
      createdAt: now,
    };
    const address = this.holdings.lendAddress(drawUuid(this.random));
    const node: SimulatedNode = {
      ...createNode(identity, { keepAlive: head.keepAlive ?? false }),
      status: "Ready",
      address,
      upAt: now,
      wasReady: true,
    };
    this.#admit(node);
    this.show(node);
  }

  #admit(node: SimulatedNode): void {
    this.roster.add(node);
    this.holdings.admit(node);
  }
}
