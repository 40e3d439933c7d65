import { AddressBook } from "./addresses.ts";
import type { SimulatorEvent } from "./events.ts";
import { capacityMessage, drawFate, fateOfHeadNode } from "./fate.ts";
import { Heap } from "./heap.ts";
import type { JsonObject } from "./json.ts";
import { limitKeysOf, quotaKeysOf, quotaRoomsOf, tightest } from "./limits.ts";
import { NameBook } from "./names.ts";
import type { NodeIdentity, SimulatedNode } from "./node.ts";
import { startNode } from "./node.ts";
import type { HeadNodeOptions, SimulatorOptions } from "./options.ts";
import type { Random } from "./random.ts";
import { drawUuid } from "./random.ts";
import { renderNode } from "./record.ts";
import { ScaleSets } from "./scale-sets.ts";
import { Usage } from "./usage.ts";
import type { Bucket, Cluster, World } from "./world.ts";
import { requireMachine } from "./world.ts";

/** The given properties of a node. All others are drawn. */
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

/** Names of the active nodes per bucket id, and all listed records: one object as long as no node changes. */
export type ClusterView = {
  readonly records: readonly JsonObject[];
  /** Those of nodes of arrays. */
  readonly ofArrays: readonly JsonObject[];
  readonly activeNodes: ReadonlyMap<string, readonly string[]>;
};

type StepKind =
  | "show"
  | "unveil"
  | "acquire"
  | "raise"
  | "finish-start"
  | "finish-termination"
  | "finish-deallocation"
  | "forget";
type Step = {
  readonly at: number;
  readonly kind: StepKind;
  readonly node: SimulatedNode;
  readonly course: number;
};

const systemBootMessage = "Timeout awaiting system boot-up";

/**
 * All nodes of all clusters and their way from Allocation to gone (cyclecloud-wire.md A.5). Time passes only in
 * `advance`. `real` usage is what limits are enforced on; `shown` usage leaves out nodes that do not show yet, and is
 * what a status reports.
 */
export class Fleet {
  readonly real = new Usage();
  readonly shown = new Usage();
  readonly #world: World;
  readonly #options: SimulatorOptions;
  readonly #random: Random;
  readonly #emit: (event: SimulatorEvent) => void;
  readonly #nodes = new Map<string, SimulatedNode>();
  readonly #byCluster = new Map<string, Map<string, SimulatedNode>>();
  readonly #names = new Map<string, NameBook>();
  readonly #addresses = new AddressBook();
  readonly #steps = new Heap<Step>((a, b) => a.at - b.at);
  readonly #views = new Map<string, ClusterView>();
  readonly #scaleSets: ScaleSets;
  #lagFrozen = false;
  #heldBack: SimulatedNode[] = [];

  constructor(
    world: World,
    options: SimulatorOptions,
    random: Random,
    now: number,
    emit: (event: SimulatorEvent) => void,
  ) {
    this.#world = world;
    this.#options = options;
    this.#random = random;
    this.#emit = emit;
    this.#scaleSets = new ScaleSets(world.quirks.scaleSetAttributesMustMatch);
    for (const cluster of world.clusters.values()) {
      this.#byCluster.set(cluster.name, new Map());
      this.#names.set(cluster.name, new NameBook());
      for (const head of cluster.headNodes) this.#addHeadNode(cluster, head, now);
    }
  }

  /** The time of the next step, if any is due to come. */
  nextStepAt(): number | undefined {
    for (;;) {
      const step = this.#steps.peek();
      if (step === undefined || !isVoid(step)) return step?.at;
      this.#steps.pop();
    }
  }

  /** Takes every step due up to `now`, in order of time. */
  advance(now: number): void {
    for (;;) {
      const step = this.#steps.peek();
      if (step === undefined || step.at > now) return;
      this.#steps.pop();
      if (!isVoid(step)) this.#take(step);
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
    node.record ??= node.veil ?? renderNode(node, this.#world.quirks);
    return node.record;
  }

  /** Adds one array node in Allocation; the caller has checked limits and taken the name. */
  add(order: NodeOrder, now: number): SimulatedNode {
    const { bucket, keepAlive, ...rest } = order;
    const { array, machine } = bucket;
    const mismatch = this.#scaleSets.findMismatch(bucket, order.group, order.signature);
    const identity: NodeIdentity = {
      ...rest,
      id: drawUuid(this.#random),
      cluster: array.cluster,
      array,
      bucket,
      machine,
      region: array.region,
      keys: limitKeysOf(bucket, order.spot, order.group),
      fate: drawFate(this.#random, this.#options, array.timings, mismatch),
      createdAt: now,
    };
    const node = startNode(identity, keepAlive);
    this.#admit(node);
    this.#emit({
      kind: "node-created",
      ...this.#about(node, now),
      machineType: node.machine.name,
      cores: node.machine.vcpuCount,
      spot: node.spot,
      ...(node.group === undefined ? {} : { placementGroup: node.group }),
      ...(node.requestId === undefined ? {} : { requestId: node.requestId }),
    });
    if (node.fate.lag === 0 && !this.#lagFrozen) this.#show(node);
    else this.#schedule(node, "show", now + node.fate.lag);
    this.#schedule(node, "acquire", now + node.fate.allocate);
    return node;
  }

  /** Begins to delete the node's VM. No effect on a node that is already going or gone. */
  terminate(node: SimulatedNode, requestId: string | undefined, now: number): void {
    const goingAlready = node.targetState === "Terminated" && node.status !== "Failed";
    if (goingAlready) return;
    this.#unveil(node);
    this.#emit({
      kind: "terminate-accepted",
      ...this.#about(node, now),
      ...(requestId === undefined ? {} : { requestId }),
    });
    node.targetState = "Terminated";
    node.status = "Terminating";
    node.message = undefined;
    node.failedAt = undefined;
    this.#releaseActive(node);
    this.#change(node);
    this.#schedule(node, "finish-termination", now + node.fate.terminate);
  }

  /** Sets out to switch the node's VM off and keep its disks. Of no effect on a node that is not wanted. */
  deallocate(node: SimulatedNode, now: number): void {
    if (node.targetState !== "Started") return;
    this.#unveil(node);
    node.targetState = "Deallocated";
    node.status = "Stopping";
    node.message = undefined;
    node.failedAt = undefined;
    this.#releaseActive(node);
    this.#change(node);
    this.#schedule(node, "finish-deallocation", now + node.fate.terminate);
  }

  /**
   * Sets out to start a deallocated node; answers why it cannot. Of no effect on one that is wanted already. The limits of array and
   * cluster do not hold here (cyclecloud-wire.md A.3, semantics 3); without capacity it waits for ever (A.5).
   */
  start(node: SimulatedNode, requestId: string | undefined, now: number): string | undefined {
    if (node.targetState === "Started") return undefined;
    if (node.refusesStart !== undefined) return node.refusesStart;
    if (node.status !== "Deallocated") return `The node is ${node.status} and cannot be started`;
    const room = this.#quotaRoomFor(node);
    if (room !== undefined) return room;
    this.#emit({
      kind: "start-accepted",
      ...this.#about(node, now),
      ...(requestId === undefined ? {} : { requestId }),
    });
    if (node.fate.lag > 0 || this.#lagFrozen) node.veil = this.recordOf(node);
    node.targetState = "Started";
    node.status = "Acquiring";
    node.wasReady = false;
    node.holdsActive = true;
    this.real.add(node.keys.active, 1, node.machine.vcpuCount);
    if (node.veil === undefined) this.shown.add(node.keys.active, 1, node.machine.vcpuCount);
    if (!node.holdsQuota) this.#takeQuota(node);
    const acquires = node.fate.start !== "never-acquires" && this.#takeCapacity(node, now);
    node.message = acquires ? undefined : (node.fate.stuckMessage ?? capacityMessage);
    this.#change(node);
    if (node.veil !== undefined) this.#schedule(node, "unveil", now + node.fate.lag);
    if (acquires) this.#schedule(node, "raise", now + node.fate.acquire);
    return undefined;
  }

  /** Why a node that has given its quota back cannot have it again. */
  #quotaRoomFor(node: SimulatedNode): string | undefined {
    if (node.holdsQuota) return undefined;
    const { machine, region, spot } = node;
    const room = tightest(quotaRoomsOf(machine, region, spot, this.#world.quotas, this.real));
    return room.left < 1 ? room.limit : undefined;
  }

  #takeQuota(node: SimulatedNode): void {
    node.holdsQuota = true;
    for (const usage of [this.real, this.shown]) usage.add(node.keys.quota, 1, node.machine.quotaCores);
  }

  /** Takes one of the VMs that Azure has left. False if there is none. */
  #takeCapacity(node: SimulatedNode, now: number): boolean {
    const { bucket } = node;
    if (bucket?.capacityLeft !== undefined && bucket.capacityLeft <= 0) {
      bucket.lastCapacityFailureAt = now;
      return false;
    }
    if (bucket?.capacityLeft !== undefined) bucket.capacityLeft -= 1;
    node.holdsCapacity = true;
    return true;
  }

  /** A health event on a running node, or a failed start of one that was not Ready (cyclecloud-wire.md A.5). */
  fail(node: SimulatedNode, message: string, now: number): void {
    if (node.targetState !== "Started") return;
    this.#unveil(node);
    node.status = "Failed";
    node.message = message;
    node.failedAt = now;
    this.#change(node);
    this.#emit({
      kind: "node-failed",
      ...this.#about(node, now),
      phase: node.wasReady ? "running" : "starting",
      message,
    });
  }

  /** The node is shut down from inside: a VM that is stopped, not deallocated, keeps its quota, its capacity and its address. */
  shutDown(node: SimulatedNode, now: number): void {
    if (node.targetState !== "Started" || node.status !== "Ready") return;
    this.#goDown(node, "Off", now);
  }

  /** The node restarts, from inside or by a request. Of no effect on one that never was Ready, or that is not wanted. */
  restart(node: SimulatedNode, comesBack: boolean, now: number): void {
    if (node.targetState !== "Started" || !node.wasReady) return;
    this.#goDown(node, "Restarting", now);
    if (comesBack) this.#schedule(node, "finish-start", now + node.fate.prepare);
  }

  #goDown(node: SimulatedNode, status: "Off" | "Restarting", now: number): void {
    this.#unveil(node);
    node.status = status;
    node.message = undefined;
    node.failedAt = undefined;
    this.#change(node);
    this.#emit({ kind: "node-down", ...this.#about(node, now), status });
  }

  /** The VM disappears without CycleCloud's doing, and the node with it. */
  vanish(node: SimulatedNode, now: number): void {
    if (!node.holdsQuota) return;
    this.#unveil(node);
    this.#release(node, "vanished", now);
    this.#forget(node);
  }

  /**
   * Restarts or reimages the node's VM; answers why it cannot. For nodes of scale sets that are up or failed, which array nodes are
   * (cyclecloud-wire.md A.2, 8.8). The node is Ready again after its time to prepare.
   */
  cycle(node: SimulatedNode, how: "Restarting" | "Reimaging", now: number): string | undefined {
    if (node.array === undefined) return "The node is not part of a scale set";
    if (node.address === undefined || node.targetState !== "Started")
      return `The node is ${node.status} and has no VM to work on`;
    this.#unveil(node);
    node.status = how;
    node.message = undefined;
    node.failedAt = undefined;
    this.#change(node);
    this.#schedule(node, "finish-start", now + node.fate.prepare);
    return undefined;
  }

  /** Begins the failed phase of a node once more. Of no effect on a node that has not failed. */
  retry(node: SimulatedNode, now: number): void {
    if (node.status !== "Failed") return;
    if (node.targetState === "Terminated") {
      this.terminate(node, undefined, now);
      return;
    }
    node.status = node.address === undefined ? "Acquiring" : "Preparing";
    node.message = undefined;
    node.failedAt = undefined;
    this.#change(node);
    if (node.address !== undefined) this.#schedule(node, "finish-start", now + node.fate.prepare);
    else if (node.fate.start !== "never-acquires") this.#schedule(node, "raise", now + node.fate.acquire);
  }

  setKeepAlive(node: SimulatedNode, keepAlive: boolean): void {
    node.keepAlive = keepAlive;
    this.#touch(node);
  }

  /** While frozen, no new node begins to show. */
  freezeLag(frozen: boolean): void {
    this.#lagFrozen = frozen;
    if (frozen) return;
    for (const node of this.#heldBack) {
      if (!this.#nodes.has(node.id)) continue;
      if (node.shown) this.#unveil(node);
      else this.#show(node);
    }
    this.#heldBack = [];
  }

  #addHeadNode(cluster: Cluster, head: HeadNodeOptions, now: number): void {
    const machine = requireMachine(this.#world.machines, head.machineType, `head node ${head.name}`);
    this.namesOf(cluster).takeExact(head.name);
    const identity: NodeIdentity = {
      id: drawUuid(this.#random),
      name: head.name,
      cluster,
      array: undefined,
      bucket: undefined,
      machine,
      region: head.region,
      spot: false,
      group: undefined,
      requestId: undefined,
      attributes: {},
      configuration: {},
      signature: "",
      keys: { active: [], quota: quotaKeysOf(machine, head.region, false) },
      fate: fateOfHeadNode,
      createdAt: now,
    };
    const address = this.#addresses.lend(drawUuid(this.#random));
    const node: SimulatedNode = {
      ...startNode(identity, head.keepAlive ?? false),
      status: "Ready",
      address,
      upAt: now,
      wasReady: true,
    };
    this.#admit(node);
    this.#show(node);
  }

  #admit(node: SimulatedNode): void {
    this.#nodes.set(node.id, node);
    this.#byCluster.get(node.cluster.name)?.set(node.id, node);
    this.real.add(node.keys.active, 1, node.machine.vcpuCount);
    this.real.add(node.keys.quota, 1, node.machine.quotaCores);
    this.#scaleSets.count(node, 1);
    if (node.bucket?.capacityLeft !== undefined) node.bucket.capacityLeft -= 1;
  }

  #take(step: Step): void {
    const { node, at } = step;
    switch (step.kind) {
      case "show":
        if (this.#lagFrozen) this.#heldBack.push(node);
        else this.#show(node);
        return;
      case "unveil":
        if (this.#lagFrozen) this.#heldBack.push(node);
        else this.#unveil(node);
        return;
      case "acquire":
        return this.#acquire(node, at);
      case "raise":
        return this.#raise(node, at);
      case "finish-start":
        return this.#finishStart(node, at);
      case "finish-termination":
        return this.#finishTermination(node, at);
      case "finish-deallocation":
        return this.#finishDeallocation(node, at);
      case "forget":
        return this.#forget(node);
    }
  }

  #acquire(node: SimulatedNode, at: number): void {
    node.status = "Acquiring";
    node.message = node.fate.stuckMessage;
    this.#change(node);
    if (node.fate.start !== "never-acquires") this.#schedule(node, "raise", at + node.fate.acquire);
  }

  #raise(node: SimulatedNode, at: number): void {
    // A node that was deallocated has kept its network interface, and with it its address.
    const address = node.address ?? this.#addresses.lend(drawUuid(this.#random));
    node.status = "Preparing";
    node.address = address;
    node.upAt = at;
    this.#change(node);
    const { hostname, privateIp, instanceId } = address;
    this.#schedule(node, "finish-start", at + node.fate.prepare);
    this.#emit({ kind: "node-up", ...this.#about(node, at), hostname, privateIp, instanceId });
  }

  #finishStart(node: SimulatedNode, at: number): void {
    if (node.fate.start === "fails-installation") return this.fail(node, systemBootMessage, at);
    node.status = "Ready";
    node.wasReady = true;
    this.#change(node);
    this.#emit({
      kind: "node-ready",
      ...this.#about(node, at),
      hostname: node.address?.hostname ?? "",
      instanceId: node.address?.instanceId ?? "",
      configuration: node.configuration,
    });
  }

  #finishTermination(node: SimulatedNode, at: number): void {
    if (this.#random() < (this.#options.terminationFailureShare ?? 0)) {
      const message = "Failed to delete the virtual machine";
      node.status = "Failed";
      node.message = message;
      node.failedAt = at;
      this.#change(node);
      this.#emit({ kind: "node-failed", ...this.#about(node, at), phase: "terminating", message });
      return;
    }
    this.#release(node, "terminated", at);
    const { retainedTerminatedSeconds } = this.#world.quirks;
    if (node.array === undefined) node.status = "Off";
    else if (retainedTerminatedSeconds === 0) this.#forget(node);
    else {
      node.status = "Terminated";
      this.#schedule(node, "forget", at + retainedTerminatedSeconds * 1000);
    }
    this.#touch(node);
  }

  #finishDeallocation(node: SimulatedNode, at: number): void {
    this.#emit({ kind: "node-deallocated", ...this.#about(node, at) });
    node.status = "Deallocated";
    node.upAt = undefined;
    this.#giveCapacityBack(node);
    if (!this.#world.quirks.deallocatedHoldsQuota) this.#releaseQuota(node);
    this.#change(node);
  }

  /** The VM is deleted: its address, quota and capacity are free again. */
  #release(node: SimulatedNode, reason: "terminated" | "vanished", at: number): void {
    this.#emit({ kind: "node-gone", ...this.#about(node, at), reason });
    this.#releaseActive(node);
    this.#releaseQuota(node);
    if (node.address !== undefined) this.#addresses.takeBack(node.address);
    node.address = undefined;
    this.#scaleSets.count(node, -1);
    this.#giveCapacityBack(node);
    this.#change(node);
  }

  #releaseQuota(node: SimulatedNode): void {
    if (!node.holdsQuota) return;
    node.holdsQuota = false;
    this.real.add(node.keys.quota, -1, node.machine.quotaCores);
    if (node.shown) this.shown.add(node.keys.quota, -1, node.machine.quotaCores);
  }

  #giveCapacityBack(node: SimulatedNode): void {
    if (!node.holdsCapacity) return;
    node.holdsCapacity = false;
    if (node.bucket?.capacityLeft !== undefined) node.bucket.capacityLeft += 1;
  }

  #releaseActive(node: SimulatedNode): void {
    if (!node.holdsActive) return;
    node.holdsActive = false;
    this.real.add(node.keys.active, -1, node.machine.vcpuCount);
    if (node.shown) this.shown.add(node.keys.active, -1, node.machine.vcpuCount);
  }

  /** Nodes of arrays leave every list; their names are free again. */
  #forget(node: SimulatedNode): void {
    this.#nodes.delete(node.id);
    this.#byCluster.get(node.cluster.name)?.delete(node.id);
    this.namesOf(node.cluster).free(node.name);
    this.#change(node);
  }

  #show(node: SimulatedNode): void {
    node.shown = true;
    if (node.holdsActive) this.shown.add(node.keys.active, 1, node.machine.vcpuCount);
    if (node.holdsQuota) this.shown.add(node.keys.quota, 1, node.machine.quotaCores);
    this.#touch(node);
  }

  /** The start of a deallocated node begins to show. */
  #unveil(node: SimulatedNode): void {
    if (node.veil === undefined) return;
    node.veil = undefined;
    if (node.holdsActive) this.shown.add(node.keys.active, 1, node.machine.vcpuCount);
    this.#touch(node);
  }

  #about(
    node: SimulatedNode,
    at: number,
  ): { at: number; cluster: string; array: string; nodeId: string; name: string } {
    const array = node.array?.name ?? node.name;
    return { at, cluster: node.cluster.name, array, nodeId: node.id, name: node.name };
  }

  #schedule(node: SimulatedNode, kind: StepKind, at: number): void {
    this.#steps.push({ at, kind, node, course: node.course });
  }

  /** The node's course changes: steps scheduled before are cancelled, except those that show it. */
  #change(node: SimulatedNode): void {
    node.course += 1;
    this.#touch(node);
  }

  #touch(node: SimulatedNode): void {
    node.record = undefined;
    this.#views.delete(node.cluster.name);
  }
}

function isVoid(step: Step): boolean {
  if (step.kind === "show") return !step.node.holdsQuota || step.node.shown;
  if (step.kind === "unveil") return step.node.veil === undefined;
  return step.course !== step.node.course;
}
