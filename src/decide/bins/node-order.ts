import type { SupplyNode, World } from "../../domain/world.ts";
import type { SetName } from "../../domain/ids.ts";
import { sortedByText } from "../../domain/text.ts";
import type { Ground } from "./node-kinds.ts";
import { comparePlaces } from "./node-kinds.ts";

/** The order in which existing capacity is used, worked out once for all tries. Nodes go by their position in the world. */
export interface NodeOrder {
  readonly awake: readonly number[];
  /** What is in flight and what is starting, in the order of asking. */
  readonly coming: readonly Coming[];
  readonly asleep: readonly number[];
  /** Hosts that only a scheduler knows, by request set; they are in none of the others. */
  readonly hosts: ReadonlyMap<SetName, readonly number[]>;
  /** By existing node, and by entry in flight. */
  readonly tiers: readonly number[];
  readonly inFlightTiers: readonly number[];
}

/** An entry in flight, or a node that is starting. */
interface Coming {
  readonly order: number;
  readonly entry?: number;
  readonly bin?: number;
}

/**
 * By the nodes' own order; among equals nodes that belong to no target's group first, then by place, then by id. What is in flight comes
 * in the order in which it was asked for, so that a plan finds its own nodes again (P6 of architecture.md, Properties).
 */
export function orderNodes(ground: Ground): NodeOrder {
  const { nodes, inFlight } = ground.world;
  const ranks = rankPlaces(ground);
  const upOrComing = new Groups(ground, ranks);
  const deallocated = new Groups(ground, ranks);
  const starting = new Groups(ground, ranks);
  nodes.forEach((node, bin) => {
    if (node.onlyFor !== undefined) return;
    const groups = node.starting === true ? starting : node.deallocated === true ? deallocated : upOrComing;
    groups.add(node, bin);
  });
  const awake: number[] = [];
  const asleep: number[] = [];
  // Filled from the front first: an array that is begun far from its front becomes a dictionary.
  const tiers = nodes.map(() => 0);
  let tier = -1;
  upOrComing.inOrder((_, bins) => {
    tier += 1;
    bins.forEach((bin) => {
      awake.push(bin);
      tiers[bin] = tier;
    });
  });
  // Each by itself from here on, in the order of asking: so the next plan finds them as this one leaves them.
  const coming: Coming[] = inFlight.map(({ order = 0 }, entry) => ({ order, entry }));
  starting.inOrder((order, bins) => bins.forEach((bin) => coming.push({ order, bin })));
  // What one plan asks for: it starts what there is before it makes new nodes.
  coming.sort((a, b) => a.order - b.order || Number(a.bin === undefined) - Number(b.bin === undefined));
  const inFlightTiers: number[] = [];
  for (const one of coming) {
    tier += 1;
    if (one.bin === undefined) inFlightTiers[one.entry ?? 0] = tier;
    else tiers[one.bin] = tier;
  }
  deallocated.inOrder((_, bins) =>
    bins.forEach((bin) => {
      tier += 1;
      asleep.push(bin);
      tiers[bin] = tier;
    }),
  );
  return { awake, coming, asleep, hosts: hostsBySet(nodes), tiers, inFlightTiers };
}

/** By their names, so that each plan uses the same ones first. */
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

/** Nodes by order and place. Of thousands most are alike but for their ids: to sort them all by everything would take most of a plan's time. */
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

  /** Tells of each order, with its nodes as they are to be used. */
  inOrder(tell: (order: number, bins: readonly number[]) => void): void {
    const { nodes } = this.#ground.world;
    for (const order of Float64Array.from(this.#byOrder.keys()).sort()) {
      const places = this.#byOrder
        .get(order)
        ?.map((alike) => sortedByText(alike, (bin) => nodes[bin]?.nodeId ?? ""));
      tell(order, places?.flat() ?? []);
    }
  }
}

/** The order of preference among places, as numbers by their index: there are fewer places than nodes to compare. */
function rankPlaces({ places }: Ground): readonly number[] {
  const ranks: number[] = [];
  places.toSorted(comparePlaces).forEach(({ index }, rank) => {
    ranks[index] = rank;
  });
  return ranks;
}
