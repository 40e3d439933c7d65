import type { SimulatorEvent } from "../../src/simulator/events.ts";
import type { TypeName } from "./shape.ts";
import { CORES, TYPES } from "./shape.ts";

/** A node as it is in CycleCloud, and as our last plan saw it. */
export interface BookedNode {
  readonly id: string;
  readonly name: string;
  readonly array: string;
  readonly type: TypeName;
  readonly cores: number;
  /** Its placement group. Every group of ours has the nodes of one group demand. */
  readonly group: string | undefined;
  phase: "coming" | "ready" | "failed" | "stopping" | "gone";
  instance: string | undefined;
  /** A status has shown it. A create may be accepted between a status and the plan that is made on it. */
  isListed: boolean;
  /** The node as the last plan saw it. Undefined if no plan has seen it. */
  seen: Seen | undefined;
  /** When a plan first did not see it, after it had vanished, and the plans since then. */
  lackedSince: number | undefined;
  lackedBy: number;
}

export interface Seen {
  readonly firstAt: number;
  readonly phase: BookedNode["phase"];
  readonly wasReady: boolean;
  readonly instance: string | undefined;
}

/** A node that a plan saw, and that the app knows to have gone. */
export interface GoneNode {
  readonly id: string;
  readonly seen: Seen;
  /** Of the first plan without it. */
  readonly goneAt: number;
}

/** A node that has vanished counts as present for this long after the first plan that did not see it, and until this many did not. */
const MISSED_MS = 60_000;
const MISSED_BY = 3;

/** The nodes of the simulated CycleCloud, read from its events. */
export class NodeBook {
  readonly #nodes = new Map<string, BookedNode>();
  /** Buckets, as "array/size", in which a create fell short, a node failed or a request was refused. Only these may be paused. */
  readonly #troubled = new Set<string>();
  readonly #placesOfRequest = new Map<string, readonly string[]>();
  /** By name, the node that went last. */
  readonly #gone = new Map<string, GoneNode>();
  /** Nodes that no plan has lacked yet. */
  #leaving: BookedNode[] = [];
  /** Since when plans have been made on observations without any node. Undefined if the last one had nodes. */
  #emptySince: number | undefined;
  #emptyLooks = 0;
  #lookedAt: number | undefined;

  /** All nodes that have a VM or may get one, in the order in which they were created. */
  get all(): readonly BookedNode[] {
    return [...this.#nodes.values()].filter(({ phase }) => phase !== "gone");
  }

  /** The nodes that the app may believe in: also those that have vanished, for a while. */
  get believed(): readonly BookedNode[] {
    return [...this.#nodes.values()];
  }

  /** The last node with a name that has gone. */
  lastWith(name: string): GoneNode | undefined {
    return this.#gone.get(name);
  }

  readyIn(array: string): readonly BookedNode[] {
    return this.all.filter((node) => node.array === array && node.phase === "ready");
  }

  isTroubled(place: string): boolean {
    return this.#troubled.has(place);
  }

  trouble(place: string): void {
    this.#troubled.add(place);
  }

  /** A create is sent. `places`: the array and size of each of its sets. */
  sent(requestId: string, places: readonly string[]): void {
    this.#placesOfRequest.set(requestId, places);
  }

  see(event: SimulatorEvent): void {
    switch (event.kind) {
      case "node-created":
        this.#create(event);
        return;
      case "create-accepted":
        event.sets.forEach(({ asked, added }, index) => {
          if (added < asked) this.trouble(this.#placesOfRequest.get(event.requestId ?? "")?.[index] ?? "");
        });
        return;
      case "node-up":
        this.#change(event.nodeId, (node) => (node.instance = event.instanceId));
        return;
      case "node-ready":
        this.#change(event.nodeId, (node) => {
          node.phase = "ready";
          node.instance = event.instanceId;
        });
        return;
      case "node-failed":
        this.#change(event.nodeId, (node) => (node.phase = "failed"));
        return;
      case "terminate-accepted":
        this.#change(event.nodeId, (node) => (node.phase = "stopping"));
        return;
      case "node-gone":
        this.#go(event.nodeId, event.reason === "vanished");
        return;
      case "start-accepted":
      case "node-deallocated":
      case "node-down":
      case "status-read":
      case "request-refused":
        return;
    }
  }

  /** A status has shown all nodes. */
  list(): void {
    for (const node of this.#nodes.values()) node.isListed = true;
  }

  /** A plan has just been made on an observation that showed no node although there are some. */
  lookEmpty(now: number): void {
    this.#emptySince ??= now;
    this.#emptyLooks += 1;
  }

  /** A plan has just been made on a full observation. */
  look(now: number): void {
    // A node that has vanished since an empty observation has been lacked since then.
    const lackedSince = this.#emptySince ?? now;
    const lackedBy = this.#emptyLooks;
    this.#emptySince = undefined;
    this.#emptyLooks = 0;
    for (const node of this.#leaving) this.#forget(node, now);
    this.#leaving = [];
    for (const node of this.#nodes.values()) {
      const { seen, phase, instance, isListed } = node;
      if (!isListed) continue;
      if (phase === "gone") {
        if (node.lackedSince === undefined) node.lackedBy = lackedBy;
        node.lackedSince ??= lackedSince;
        // One observation may be decided on twice.
        if (now !== this.#lookedAt) node.lackedBy += 1;
        const isMissed = seen !== undefined && seen.phase !== "stopping";
        const isOver = node.lackedBy >= MISSED_BY && now - node.lackedSince >= MISSED_MS;
        if (!isMissed || isOver) this.#forget(node, now);
        continue;
      }
      const wasReady = seen?.wasReady === true || phase === "ready";
      node.seen = { firstAt: seen?.firstAt ?? now, phase, wasReady, instance };
    }
    this.#lookedAt = now;
  }

  #forget({ id, name, seen }: BookedNode, now: number): void {
    this.#nodes.delete(id);
    if (seen !== undefined) this.#gone.set(name, { id, seen, goneAt: now });
  }

  #create(event: Extract<SimulatorEvent, { kind: "node-created" }>): void {
    const type = TYPES.find((name) => name === event.machineType);
    if (type === undefined)
      throw new Error(`a node of ${event.machineType}, which the cluster does not have`);
    this.#nodes.set(event.nodeId, {
      id: event.nodeId,
      name: event.name,
      array: event.array,
      type,
      cores: CORES[type],
      group: event.placementGroup,
      phase: "coming",
      instance: undefined,
      isListed: false,
      seen: undefined,
      lackedSince: undefined,
      lackedBy: 0,
    });
  }

  #go(id: string, isLost: boolean): void {
    const node = this.#nodes.get(id);
    if (node === undefined) return;
    // A node may have vanished before it was Ready, which pauses its bucket.
    if (isLost) this.trouble(placeOf(node.array, node.type));
    // A node that we stop is not missed, however it goes.
    if (isLost && node.phase !== "stopping") node.phase = "gone";
    else {
      this.#nodes.delete(id);
      this.#leaving.push(node);
    }
  }

  #change(id: string, change: (node: BookedNode) => void): void {
    const node = this.#nodes.get(id);
    if (node !== undefined) change(node);
  }
}

export const placeOf = (array: string, type: string): string => `${array}/${type}`;
