import type { SimulatorEvent } from "../../src/simulator/events.ts";
import type { TypeName } from "./shape.ts";
import { CORES, TYPES } from "./shape.ts";

/** A node as CycleCloud really has it, and as our last plan saw it. */
export interface BookedNode {
  readonly id: string;
  readonly array: string;
  readonly type: TypeName;
  readonly cores: number;
  /** Its placement group; every group of ours holds the nodes of one group demand. */
  readonly group: string | undefined;
  phase: "coming" | "ready" | "failed" | "stopping" | "gone";
  instance: string | undefined;
  /** What the last plan that was shown it saw of it; absent: it was not there yet. */
  seen: Seen | undefined;
  /** The first plan that was not shown it, after it had vanished. */
  lackedSince: number | undefined;
}

export interface Seen {
  readonly firstAt: number;
  readonly phase: BookedNode["phase"];
  readonly wasReady: boolean;
  readonly instance: string | undefined;
}

/** A node that has vanished counts as there for so long, from the first plan that was not shown it. */
const MISSED_MS = 60_000;

/** The nodes of the simulated CycleCloud, from its events. */
export class NodeBook {
  readonly #nodes = new Map<string, BookedNode>();
  /** Arrays and sizes, as "array/size", in which anything ever fell short, failed or was refused: only they may be paused. */
  readonly #troubled = new Set<string>();
  readonly #placesOfRequest = new Map<string, readonly string[]>();

  /** All that have a VM or may get one, in the order in which they were created. */
  get all(): readonly BookedNode[] {
    return [...this.#nodes.values()].filter(({ phase }) => phase !== "gone");
  }

  /** The same as far as we can know: with those that have vanished, as long as they count as there. */
  get believed(): readonly BookedNode[] {
    return [...this.#nodes.values()];
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

  /** A create is sent: for which array and size, set by set. */
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
        if (event.reason === "vanished")
          this.#change(event.nodeId, (node) => {
            node.phase = "gone";
            // Where one vanished before it was Ready.
            this.trouble(placeOf(node.array, node.type));
          });
        else this.#nodes.delete(event.nodeId);
        return;
      case "start-accepted":
      case "node-deallocated":
      case "node-down":
      case "status-read":
      case "request-refused":
        return;
    }
  }

  /** A plan has just been made on a look at everything. */
  look(now: number): void {
    for (const node of this.#nodes.values()) {
      const { seen, phase, instance } = node;
      if (phase === "gone") {
        node.lackedSince ??= now;
        const isMissed = seen !== undefined && seen.phase !== "stopping";
        if (!isMissed || now - node.lackedSince >= MISSED_MS) this.#nodes.delete(node.id);
        continue;
      }
      const wasReady = seen?.wasReady === true || phase === "ready";
      node.seen = { firstAt: seen?.firstAt ?? now, phase, wasReady, instance };
    }
  }

  #create(event: Extract<SimulatorEvent, { kind: "node-created" }>): void {
    const type = TYPES.find((name) => name === event.machineType);
    if (type === undefined)
      throw new Error(`a node of ${event.machineType}, which the cluster does not have`);
    this.#nodes.set(event.nodeId, {
      id: event.nodeId,
      array: event.array,
      type,
      cores: CORES[type],
      group: event.placementGroup,
      phase: "coming",
      instance: undefined,
      seen: undefined,
      lackedSince: undefined,
    });
  }

  #change(id: string, change: (node: BookedNode) => void): void {
    const node = this.#nodes.get(id);
    if (node !== undefined) change(node);
  }
}

export const placeOf = (array: string, type: string): string => `${array}/${type}`;
