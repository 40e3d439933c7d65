import type { Place } from "./node-kinds.ts";

/** The nodes of one place that demands need: all of them, and those that are up. */
export interface NeededNodes {
  nodes: number;
  readyNodes: number;
  cores: number;
  readyCores: number;
}

const NOTHING_NEEDED: Readonly<NeededNodes> = { nodes: 0, readyNodes: 0, cores: 0, readyCores: 0 };

/** Counts the nodes that demands need, by place. */
export class NeededByPlace {
  readonly #byPlace = new Map<Place, NeededNodes>();

  /** What is needed in a place so far. */
  at(place: Place): Readonly<NeededNodes> {
    return this.#byPlace.get(place) ?? NOTHING_NEEDED;
  }

  /** Places where a node is needed. */
  places(): Iterable<Place> {
    return this.#byPlace.keys();
  }

  /** Counts nodes of a bin, each with this many vCPUs. */
  add(place: Place, nodes: number, coresOfEach: number, state: "up" | "coming"): void {
    const needed = this.#byPlace.get(place) ?? { ...NOTHING_NEEDED };
    this.#byPlace.set(place, needed);
    const cores = nodes * coresOfEach;
    needed.nodes += nodes;
    needed.cores += cores;
    if (state === "coming") return;
    needed.readyNodes += nodes;
    needed.readyCores += cores;
  }
}
