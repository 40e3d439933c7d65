import type { SupplyNode, World } from "../../domain/world.ts";
import type { SetName } from "../../domain/ids.ts";
import { sortedByText } from "../../domain/text.ts";
import type { Ground } from "./node-kinds.ts";
import { comparePlaces } from "./node-kinds.ts";

/** The order in which existing capacity is used, worked out once for all tries. Nodes are given by their position in the world. */
export interface NodeOrder {
  /** Nodes that are neither deallocated nor starting. */
  readonly up: readonly number[];
  /** Nodes in flight and nodes that are starting, in the order in which they were requested. */
  readonly coming: readonly Coming[];
  /** Deallocated nodes. */
  readonly deallocated: readonly number[];
  /** Hosts that only a scheduler reports, by request set. They are in none of the other lists. */
  readonly hosts: ReadonlyMap<SetName, readonly number[]>;
  /** Position in the order of use, by existing node and by entry in flight. Nodes of one tier are equally good. */
  readonly tiers: readonly number[];
  readonly inFlightTiers: readonly number[];
}

/** An entry in flight (`entry`), or a node that is starting (`bin`). */
interface Coming {
  readonly order: number;
  readonly entry?: number;
  readonly bin?: number;
}

/**
 * Orders nodes by their own `order`. Among equals, nodes that belong to no target's group come first, then it is by place, then by id. Nodes
 * that are still coming follow in the order in which they were requested, so that the next plan uses them as this one does (P6 of
 * architecture.md, Properties).
 */
export function orderNodes(ground: Ground): NodeOrder {
  const { nodes, inFlight } = ground.world;
  const ranks = rankPlaces(ground);
  const upOrComing = new Groups(ground, ranks);
  const turnedOff = new Groups(ground, ranks);
  const starting = new Groups(ground, ranks);
  nodes.forEach((node, bin) => {
    if (node.onlyFor !== undefined) return;
    const groups = node.starting === true ? starting : node.deallocated === true ? turnedOff : upOrComing;
    groups.add(node, bin);
  });
  const up: number[] = [];
  const deallocated: number[] = [];
  // Filled from the front first: V8 turns an array that is filled from the back into a slow dictionary.
  const tiers = nodes.map(() => 0);
  let tier = -1;
  upOrComing.inOrder((_, bins) => {
    tier += 1;
    bins.forEach((bin) => {
      up.push(bin);
      tiers[bin] = tier;
    });
  });
  // From here on each node or entry has a tier of its own: the order of requests must stay the same in the next plan.
  const coming: Coming[] = inFlight.map(({ order = 0 }, entry) => ({ order, entry }));
  starting.inOrder((order, bins) => bins.forEach((bin) => coming.push({ order, bin })));
  // With the same time of request, a plan has started nodes before it created new ones.
  coming.sort((a, b) => a.order - b.order || Number(a.bin === undefined) - Number(b.bin === undefined));
  const inFlightTiers: number[] = [];
  for (const one of coming) {
    tier += 1;
    if (one.bin === undefined) inFlightTiers[one.entry ?? 0] = tier;
    else tiers[one.bin] = tier;
  }
  turnedOff.inOrder((_, bins) =>
    bins.forEach((bin) => {
      tier += 1;
      deallocated.push(bin);
      tiers[bin] = tier;
    }),
  );
  return { up, coming, deallocated, hosts: hostsBySet(nodes), tiers, inFlightTiers };
}

/** Sorted by id, so that each plan uses the same hosts first. */
function hostsBySet(nodes: World["nodes"]): ReadonlyMap<SetName, readonly number[]> {
  const hosts = new Map<SetName, number[]>();
  const bins = nodes.flatMap(({ onlyFor }, bin) => (onlyFor === undefined ? [] : [bin]));
  for (const bin of sortedByText(bins, (one) => nodes[one]?.nodeId ?? "")) {
    for (const set of nodes[bin]?.onlyFor ?? []) {
      const ofSet = hosts.get(set);
      if (ofSet === undefined) hosts.set(set, [bin]);
      else ofSet.push(bin);
    }
  }
  return hosts;
}

/**
 * Sorts nodes by order, then place, then id. Most of thousands of nodes differ only in their ids, so they are grouped by the other two first: a
 * sort with one comparison for all three would take most of a plan's time.
 */
class Groups {
  readonly #ground: Ground;
  readonly #ranks: readonly number[];
  readonly #byOrder = new Map<number, number[][]>();

  constructor(ground: Ground, ranks: readonly number[]) {
    this.#ground = ground;
    this.#ranks = ranks;
  }

  add({ order, purpose }: SupplyNode, bin: number): void {
    const place = this.#ranks[this.#ground.nodeKinds[bin]?.place.index ?? 0] ?? 0;
    const rank = purpose.kind === "group" ? this.#ranks.length + place : place;
    let places = this.#byOrder.get(order);
    if (places === undefined) {
      places = [];
      this.#byOrder.set(order, places);
    }
    const alike = places[rank];
    if (alike === undefined) places[rank] = [bin];
    else alike.push(bin);
  }

  /** Calls `visit` for each order, with its nodes in the order of use. */
  inOrder(visit: (order: number, bins: readonly number[]) => void): void {
    const { nodes } = this.#ground.world;
    for (const order of Float64Array.from(this.#byOrder.keys()).sort()) {
      const places = this.#byOrder
        .get(order)
        ?.map((alike) => sortedByText(alike, (bin) => nodes[bin]?.nodeId ?? ""));
      visit(order, places?.flat() ?? []);
    }
  }
}

/** The rank of each place in the order of preference, by its index. There are far fewer places than nodes. */
function rankPlaces({ places }: Ground): readonly number[] {
  const ranks: number[] = [];
  places.toSorted(comparePlaces).forEach(({ index }, rank) => {
    ranks[index] = rank;
  });
  return ranks;
}
