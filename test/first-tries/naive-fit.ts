import type { BucketOffer, World } from "../../src/domain/world.ts";
import type { Constraint } from "../../src/domain/constraint.ts";
import type { JobDemand, RankedDemand, TargetDemand } from "../../src/domain/demand.ts";
import type { PlacementGroup } from "../../src/domain/ids.ts";
import { placementGroup } from "../../src/domain/ids.ts";
import { waysOf } from "../property/naive-constraints.ts";
import { isListed } from "../property/naive-floors.ts";
import { nameOf, placeText } from "../property/naive-nodes.ts";
import type { RoomNode } from "./naive-room.ts";
import { putSlot, Room } from "./naive-room.ts";
import type { Mode } from "../support/modes.ts";

/**
 * What each demand gets from a first fit that knows no tricks: one demand after the other, one slot at a time, on the nodes that are
 * there, then on new ones of the first bucket that takes one (or the cheapest); in `bucket-order` bucket by bucket. It may place less
 * than is possible, never more than is allowed. Groups get nothing here, nor does anything in a world with caps.
 */
export function naiveFirstFit(
  world: World,
  demands: readonly RankedDemand[],
  mode: Mode,
): ReadonlyMap<string, number> {
  const placed = new Map<string, number>();
  if (world.caps !== undefined) return placed;
  const room = new Room(world, demands);
  const ranked = demands.toSorted(
    (a, b) =>
      b.demand.priority - a.demand.priority ||
      a.demand.position - b.demand.position ||
      (a.set < b.set ? -1 : 1),
  );
  for (const one of ranked) runOn(room, one);
  for (const one of ranked) placed.set(nameOf(one), settle(room, one, mode));
  return placed;
}

/** One demand that is being settled. */
interface Settling {
  readonly room: Room;
  readonly by: string;
  readonly demand: JobDemand;
  readonly mode: Mode;
}

function settle(room: Room, ranked: RankedDemand, mode: Mode): number {
  const { demand } = ranked;
  if (demand.kind === "groups") return 0;
  if (demand.kind === "target") return settleTarget(room, demand, mode);
  const job: Settling = { room, by: nameOf(ranked), demand, mode };
  const asked = demand.iterations * (demand.nodeCount ?? 1);
  const share = demand.nodeCount === undefined ? undefined : demand.iterations;
  const bound = demand.placed.reduce((sum, one) => sum + (share ?? one.iterations), 0);
  if (bound >= asked) return asked;
  if (share === undefined && !demand.colocated) return bound + settleSlots(job, asked - bound);
  return bound > 0 ? bound : settleWhole(job, asked);
}

/** What runs already takes its part, also where it does not fit. */
function runOn(room: Room, { set, demand }: RankedDemand): void {
  if (demand.kind !== "job") return;
  for (const { hostname, iterations } of demand.placed) {
    const node = room.nodes.find((one) => one.hostname?.toLowerCase() === hostname.toLowerCase());
    const [way] = node === undefined ? [] : waysOf(demand.constraints, node, room.pools);
    if (node === undefined || way === undefined) continue;
    const slots = demand.nodeCount === undefined ? iterations : demand.iterations;
    // Its part of pools is counted as used where the pool is told.
    for (let slot = 0; slot < slots; slot += 1)
      putSlot(room, node, `${set}/${demand.id}`, { ...way, pools: new Map() });
  }
}

/** All that is there counts for it. */
function settleTarget(room: Room, { array, machineTypes, amount }: TargetDemand, mode: Mode): number {
  const worth = (cores: number): number => (amount.unit === "nodes" ? 1 : cores);
  const isMeant = ({ bucket }: Pick<BucketOffer, "bucket">): boolean =>
    bucket.array === array && isListed(machineTypes, bucket.machineType);
  let held = room.nodes.filter(isMeant).reduce((sum, { cores }) => sum + worth(cores), 0);
  for (const offer of inOrder(room.world.buckets, mode).filter(isMeant)) {
    while (held < amount.count && room.mayMake(offer, offer.pinnedGroup)) {
      room.add(offer, room.example(offer, offer.pinnedGroup));
      held += worth(offer.cores);
    }
  }
  return Math.min(held, amount.count);
}

/** The cheapest by core first, where price decides; those without a price last. */
function inOrder(offers: readonly BucketOffer[], { preference, among }: Mode): readonly BucketOffer[] {
  if (preference === "bucket-order" || among === "priority") return offers;
  const price = (offer: BucketOffer): number => (offer.price ?? 1e9) / offer.cores;
  return offers.toSorted((a, b) => price(a) - price(b));
}

/** In `bucket-order` a job is judged by what a new node would be, also where it could use one that is there. */
function offersFor({ room, demand, mode }: Settling): readonly BucketOffer[] {
  const isOpen = (offer: BucketOffer): boolean =>
    mode.preference === "existing-first" ||
    waysOf(demand.constraints, room.example(offer, offer.pinnedGroup), room.pools).length > 0;
  return inOrder(room.world.buckets, mode)
    .filter(
      (offer) => offer.parent === undefined && mayUse(demand, offer.spot === true, mode) && isOpen(offer),
    )
    .map((offer) => ({ offer, score: scoreOf(room, demand, offer) }))
    .toSorted((a, b) => b.score - a.score)
    .map(({ offer }) => offer);
}

/** Where price decides, a job that says nothing of spot gets none unless it names arrays: else the price would send all of them there. */
function mayUse({ spot, constraints }: JobDemand, isSpot: boolean, { among }: Mode): boolean {
  if (spot === undefined && isSpot && among === "cheapest")
    return constraints.some((one) => one.kind === "property-choice" && one.property === "nodearray");
  return isSpot ? spot !== "never" : spot !== "only";
}

/** Lists and alternatives are in order of preference. */
function scoreOf(room: Room, { constraints }: JobDemand, offer: BucketOffer): number {
  const node = room.example(offer, offer.pinnedGroup);
  const holds = (one: Constraint): boolean => waysOf([one], node, room.pools).length > 0;
  const first = (choices: readonly Constraint[]): number => {
    const at = choices.findIndex(holds);
    return at < 0 ? 0 : choices.length - at;
  };
  return constraints.reduce((sum, one) => {
    if (one.kind === "or") return sum + 1000 * first(one.of);
    if (one.kind !== "property-choice" && one.kind !== "resource-choice") return sum;
    return sum + first(one.choices.map((choice) => ({ ...one, choices: [choice] })));
  }, 0);
}

function settleSlots(job: Settling, wanted: number): number {
  const { room, demand, mode } = job;
  let left = wanted;
  const fill = (nodes: readonly RoomNode[]): void => {
    for (const node of nodes)
      if (left > 0 && mayUse(demand, node.isSpot, mode)) left -= fillNode(job, node, left);
  };
  const open = (offer: BucketOffer): void => {
    for (const group of groupsFor(demand, offer)) {
      while (left > 0) {
        const slots = fillNew(job, offer, group, left);
        if (slots === 0) break;
        left -= slots;
      }
    }
  };
  if (mode.preference === "existing-first") fill([...room.nodes]);
  for (const offer of offersFor(job)) {
    if (mode.preference === "bucket-order") fill(room.nodes.filter((node) => isOf(offer, node)));
    open(offer);
  }
  return wanted - left;
}

/** In which placement groups its new nodes may be: in a new one, if it must be in one. */
function groupsFor(demand: JobDemand, offer: BucketOffer): readonly (PlacementGroup | undefined)[] {
  if (offer.pinnedGroup !== undefined) return [offer.pinnedGroup];
  const isGrouped = demand.constraints.some((one) => one.kind === "in-a-placement-group" && one.wanted);
  if (!isGrouped && !demand.colocated) return [undefined];
  return offer.maxPlacementGroupSize === undefined
    ? []
    : [placementGroup(`naive-${offer.bucket.machineType}`)];
}

function fillNew(job: Settling, offer: BucketOffer, group: PlacementGroup | undefined, most: number): number {
  if (!job.room.mayMake(offer, group)) return 0;
  const node = job.room.example(offer, group);
  const slots = fillNode(job, node, most);
  if (slots > 0) job.room.add(offer, node);
  return slots;
}

/** Slots one by one, each by the first alternative that holds; one only, where a slot takes nothing of the node or wants to be alone. */
function fillNode({ room, by, demand }: Settling, node: RoomNode, most: number): number {
  let slots = 0;
  while (slots < most) {
    const [way] = waysOf(demand.constraints, node, room.pools);
    if (way === undefined) break;
    const others = [...node.jobs.keys()].some((one) => one !== by);
    if (node.owner !== undefined && node.owner !== by) break;
    if (way.alone !== undefined && others) break;
    const isOnlyOne = way.node.size === 0 || way.alone === "job";
    if (isOnlyOne && demand.nodeCount === undefined && node.jobs.has(by)) break;
    putSlot(room, node, by, way);
    slots += 1;
  }
  return slots;
}

const isOf = (offer: BucketOffer, node: RoomNode): boolean =>
  placeText(node.bucket) === placeText(offer.bucket);

/** All of it in one bucket, each task on a node of its own; or nothing. */
function settleWhole(job: Settling, asked: number): number {
  const { demand, mode } = job;
  const share = demand.nodeCount === undefined ? asked : demand.iterations;
  const mostNodes = demand.nodeCount ?? Number.POSITIVE_INFINITY;
  for (const offer of offersFor(job)) {
    for (const group of groupsFor(demand, offer)) {
      const room = job.room.fork();
      const trial = { ...job, room };
      let used = 0;
      let left = asked;
      const take = (fill: () => number): boolean => {
        const slots = used < mostNodes && left > 0 ? fill() : 0;
        const isWhole = slots > 0 && (demand.nodeCount === undefined || slots === share);
        if (isWhole) left -= slots;
        if (isWhole) used += 1;
        return isWhole;
      };
      const there = demand.colocated ? 0 : room.nodes.length;
      for (let i = 0; i < there; i += 1) {
        const node = room.nodes[i];
        if (node === undefined || !isOf(offer, node) || !mayUse(demand, node.isSpot, mode)) continue;
        const before = room.fork();
        if (!take(() => fillNode(trial, node, share))) room.become(before);
      }
      while (take(() => fillNew(trial, offer, group, share)));
      if (left > 0) continue;
      job.room.become(room);
      return asked;
    }
  }
  return 0;
}
