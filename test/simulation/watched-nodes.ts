import type { SimulatorEvent } from "../../src/simulator/events.ts";
import type { Watched } from "./watched.ts";
import { isActive, isLive } from "./watched.ts";

type NodeCreated = Extract<SimulatorEvent, { readonly kind: "node-created" }>;

/** In-flight nodes are expected for this long at most: the largest `inFlightGrace` of the runs, and the time until the next plan. */
const LONGEST_IN_FLIGHT_MS = 1_400_000;

/** All nodes that CycleCloud made in a run, and how many of an array are up, coming or lost. Times are in milliseconds. */
export class WatchedNodes {
  readonly #now: () => number;
  readonly #nodes = new Map<string, Watched>();

  constructor(now: () => number) {
    this.#now = now;
  }

  get byId(): ReadonlyMap<string, Watched> {
    return this.#nodes;
  }

  get all(): readonly Watched[] {
    return [...this.#nodes.values()];
  }

  get(nodeId: string): Watched | undefined {
    return this.#nodes.get(nodeId);
  }

  /** CycleCloud has made the node; `committedAt`: when its create was decided. */
  add(
    { nodeId, name, array, placementGroup: group }: NodeCreated,
    { createdAt, committedAt }: Pick<Watched, "createdAt" | "committedAt">,
  ): void {
    this.#nodes.set(nodeId, {
      name,
      array,
      group,
      createdAt,
      committedAt,
      host: undefined,
      markedAt: undefined,
      markedBy: undefined,
      ready: false,
      readyAt: undefined,
      shown: 0,
      shownAt: undefined,
      shownReady: false,
      failed: false,
      stopped: false,
      stoppedByOthers: false,
      gone: false,
      goneAt: undefined,
      lostAt: undefined,
      off: false,
      offAt: 0,
      busySince: undefined,
      unhealthy: false,
      unfitStopAt: undefined,
      kept: undefined,
      leaving: [],
    });
  }

  /** Changes what is known of a node; nothing if the node is unknown. */
  change(nodeId: string, change: (node: Watched) => void): void {
    const node = this.#nodes.get(nodeId);
    if (node !== undefined) change(node);
  }

  /** The node is about to leave from now until that moment, and counts for no demand. */
  leave(nodeId: string, until: number): void {
    this.#nodes.get(nodeId)?.leaving.push({ from: this.#now(), until });
  }

  countReady(array: string): number {
    let count = 0;
    for (const node of this.#nodes.values())
      if (node.array === array && node.ready && isLive(node)) count += 1;
    return count;
  }

  countLive(array: string): number {
    let count = 0;
    for (const node of this.#nodes.values()) if (node.array === array && isLive(node)) count += 1;
    return count;
  }

  /** Nodes that count against the limits of the array. */
  countActive(array: string): number {
    let count = 0;
    for (const node of this.#nodes.values()) if (node.array === array && isActive(node)) count += 1;
    return count;
  }

  /**
   * Nodes that went by themselves since that moment. A node that no status or only one has shown is expected for as long as in-flight nodes
   * are: the list of nodes of its request is read beside the status, and may not have had the node any more.
   */
  countLost(array: string, since: number): number {
    const sinceUnseen = this.#now() - LONGEST_IN_FLIGHT_MS;
    let count = 0;
    for (const { array: of, lostAt = 0, shown } of this.#nodes.values())
      if (of === array && lostAt > (shown > 1 ? since : sinceUnseen)) count += 1;
    return count;
  }

  /** Nodes that were Ready at that moment, and have been switched off or lost since. */
  countOffSince(array: string, moment: number): number {
    let count = 0;
    for (const node of this.#nodes.values()) {
      if (node.array !== array) continue;
      if (node.off ? node.offAt >= moment : node.ready && (node.lostAt ?? 0) >= moment) count += 1;
    }
    return count;
  }

  /** Nodes whose stop as unfit was committed later than this: a stop that was committed before may rest on them. */
  countUnfitStopsAfter(array: string, committedAt: number): number {
    return this.all.filter((node) => node.array === array && (node.unfitStopAt ?? 0) > committedAt).length;
  }

  hostsUp(): ReadonlySet<string> {
    return new Set(this.all.flatMap((node) => (node.ready && isLive(node) ? [node.host ?? ""] : [])));
  }
}
