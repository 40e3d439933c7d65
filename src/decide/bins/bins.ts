import type { NodeLoad } from "../../domain/allocation.ts";
import type { Purpose } from "../../domain/bucket.ts";
import type { NodeAttributes } from "../../domain/demand.ts";
import type { NodeId, SetName } from "../../domain/ids.ts";
import type { Bin } from "./bin-columns.ts";
import { CLAIMED, CLOSED, EMPTY } from "./bin-columns.ts";
import type { Claimant, Tasks } from "./bin-contents.ts";
import { BinContents } from "./bin-contents.ts";
import { BinTable } from "./bin-table.ts";
import type { Ask } from "./job-ask.ts";
import { slotsIn, unitsFrom } from "./job-ask.ts";
import { Line } from "./first-fit.ts";
import type { RoomQuery } from "./first-fit.ts";
import type { NewNode } from "./new-node.ts";
import type { Ground, Kind, Place } from "./node-kinds.ts";
import type { NodeOrder } from "./node-order.ts";
import type { TriedBins } from "./slot-by-slot.ts";
import { placeBoundIntricate, placeIntricate, roomIntricate, hasRoomIntricate } from "./slot-by-slot.ts";
import type { Takes } from "./takes.ts";

// Long: what can be asked of the bins, and done to them, in one place. The parts of their state have files of their own.

/**
 * The state of one try at a plan: what each bin has free, and which demands need it. Bins only fill up; a try that is not wanted is dropped
 * as a whole.
 */
export class Bins extends BinTable implements TriedBins {
  /** Deallocated nodes that this plan starts. */
  readonly toStart = new Set<Bin>();
  /** What is left in each pool that jobs share. */
  readonly pools: Map<string, number>;
  /** By rank of a job with preferences: how many of its slots are on new nodes of which score. Higher scores are better. */
  readonly choices = new Map<number, Map<number, number>>();
  readonly #contents: BinContents;
  readonly #needed = new NeededByPlace();
  /** Without hosts that only a scheduler reports. */
  readonly #line: Line;
  readonly #ofHosts = new Map<SetName, Line>();

  /** `pools`: what is left in them. `least`: the least of each resource that every job takes. */
  constructor(
    ground: Ground,
    order: NodeOrder,
    pools: ReadonlyMap<string, number>,
    least: readonly number[],
  ) {
    super(ground, order, least);
    this.pools = new Map(pools);
    this.#contents = new BinContents(ground.budget, this.count.length);
    this.#line = new Line(this, [...this.existing, ...this.inFlight, ...this.deallocated]);
    for (const [set, own] of this.hosts) this.#ofHosts.set(set, new Line(this, own));
  }

  /** Adds nodes that this plan creates. No demand needs them until they are claimed. */
  plan(
    place: Place,
    count: number,
    offer: NewNode,
    purpose: Purpose,
    attributes: NodeAttributes | undefined,
  ): Bin {
    const kind = this.ground.kindOfNew(offer, place);
    const subject = this.ground.subjectOfNew(offer, place);
    const { cores } = offer;
    const bin = this.addBin({ origin: "planned", kind, subject, cores, count, purpose });
    this.#contents.addBin();
    if (attributes !== undefined) this.attributes.set(bin, attributes);
    this.planned.push(bin);
    this.#line.append(bin);
    return bin;
  }

  /** Keeps `count` nodes in the bin and moves the others, if there are any, into a new bin right behind it. */
  split(bin: Bin, count: number): Bin | undefined {
    if ((this.count[bin] ?? 0) <= count) return undefined;
    const other = this.cutBin(bin, count);
    this.#contents.addCopy(bin);
    const siblings = this.origin[bin] === "planned" ? this.planned : this.inFlight;
    // Mostly it is near the end.
    siblings.splice(siblings.lastIndexOf(bin) + 1, 0, other);
    this.#line.insertAfter(bin, other);
    return other;
  }

  /** Replaces planned nodes by nodes of another kind. The caller has checked that what is on them fits there. */
  exchange(bin: Bin, kind: Kind, offer: NewNode): void {
    this.changeKind(bin, kind, this.ground.subjectOfNew(offer, kind.place), offer.cores);
  }

  /** How many units of the job fit on one node of the bin. */
  unitsOn(bin: Bin, ask: Ask): number {
    this.budget.spend(1);
    if (this.isClosed(bin) || !this.serves(bin, ask.set)) return 0;
    const { shape, takes } = ask.jobClass;
    if (!this.meets(shape, bin)) return 0;
    if (takes === undefined) return roomIntricate(this, bin, ask);
    if (ask.requirements.alone !== undefined && !this.isEmpty(bin)) return 0;
    if (takes.nothing && this.hasFreeSlot(bin, ask)) return 0;
    return unitsFrom(ask, slotsIn(ask, this.free, bin * this.width));
  }

  /**
   * The first bin with room for a unit. The order of use: hosts that only a scheduler reports to the job's set come first, because they cost
   * nothing. Then all other bins by tier; in a tier those that a demand needs already come first. For an intricate job (see slot-by-slot.ts)
   * it does not matter which bins are needed.
   */
  first(ask: Ask): Bin | undefined {
    const query = this.#queryFor(ask);
    const isIntricate = ask.jobClass.takes === undefined;
    const firstIn = (line: Line | undefined): Bin | undefined =>
      isIntricate ? line?.inOrder(query).next().value : line?.first(query);
    return firstIn(this.#ofHosts.get(ask.set)) ?? firstIn(this.#line);
  }

  /** All bins with room for a unit, in the same order. Place nothing before this has ended. */
  *each(ask: Ask): Generator<Bin> {
    const query = this.#queryFor(ask);
    for (const line of [this.#ofHosts.get(ask.set), this.#line])
      if (line !== undefined)
        yield* ask.jobClass.takes === undefined ? line.inOrder(query) : line.each(query);
  }

  /** For an intricate job the least that a slot takes is compared first. Bins that pass this are tried out slot by slot. */
  #queryFor(ask: Ask): RoomQuery {
    const { shape, takes } = ask.jobClass;
    const times = ask.slotsPerUnit;
    if (takes !== undefined) {
      const isAny = shape.requirements.marks.length === 0;
      return { takes, times, accepts: isAny ? undefined : (bin) => this.meets(shape, bin) };
    }
    const accepts = (bin: Bin): boolean =>
      this.serves(bin, ask.set) && this.meets(shape, bin) && hasRoomIntricate(this, bin, ask);
    return { takes: ask.jobClass.screen.least, times, accepts };
  }

  /** Puts this many slots on each node of the bin, and claims the bin. */
  occupy(bin: Bin, ask: Ask, slots: number): void {
    this.#put(bin, ask, slots, "new");
    if (ask.jobClass.shape.preference !== undefined && this.origin[bin] === "planned")
      this.#noteChoice(bin, ask, slots);
  }

  /** The same for slots that run there already. They need not fit: free amounts never fall below 0. */
  occupyBound(bin: Bin, ask: Ask, slots: number): void {
    this.#put(bin, ask, slots, "bound");
    // The free amounts that a scheduler reports already account for what runs there.
    const left = this.node(bin)?.left;
    if (left !== undefined) this.setFree(bin, left);
  }

  /** Notes that a demand needs all nodes of the bin. */
  claim(bin: Bin, claimant: Claimant): void {
    this.#hold(bin, claimant, 0, "new");
  }

  /** Whether the job has a slot on the bin that takes nothing. It gets no second one. */
  hasFreeSlot(bin: Bin, { demand }: Ask): boolean {
    return this.#contents.hasFreeSlot(bin, demand);
  }

  /** Whether slots of a job ("set/demand") are on each node of the bin. */
  holds(bin: Bin, by: string): boolean {
    return this.#contents.hasSlotsOf(bin, by);
  }

  /** Whether the job shares nodes with no other job, and has the only slots on this bin: then more of its slots may go there. */
  isOnlyOf(bin: Bin, { by, requirements }: Ask): boolean {
    return requirements.alone === "task" && this.#contents.hasOnlySlotsOf(bin, by);
  }

  /** Names of the jobs on each node of the bin. */
  jobsOn(bin: Bin): readonly string[] {
    return this.#contents.jobsOn(bin);
  }

  /** The nodes that demands need in a place so far. */
  neededAt(place: Place): Readonly<NeededNodes> {
    return this.#needed.at(place);
  }

  /** Places where a node is needed. */
  neededPlaces(): Iterable<Place> {
    return this.#needed.places();
  }

  /** The existing nodes that are needed, each with the first few demands ("set/demand") that need it. */
  needed(): ReadonlyMap<NodeId, readonly string[]> {
    const needed = new Map<NodeId, readonly string[]>();
    this.world.nodes.forEach((node, bin) => {
      const names = node.onlyFor === undefined ? this.#contents.claimantsOf(bin) : undefined;
      if (names !== undefined) needed.set(node.nodeId, names);
    });
    return needed;
  }

  /** All slots that were put on bins, in the order of the bins. */
  loads(): readonly NodeLoad[] {
    const loads: NodeLoad[] = [];
    for (let bin = 0; bin < this.count.length; bin += 1) {
      const jobs = this.#contents.slotsOn(bin);
      if (jobs.length === 0) continue;
      const nodeId = this.node(bin)?.nodeId;
      const origin = this.origin[bin] ?? "planned";
      const { bucket } = this.placeOfBin(bin);
      const count = this.count[bin] ?? 0;
      loads.push(
        nodeId === undefined ? { origin, bucket, count, jobs } : { origin, bucket, nodeId, count, jobs },
      );
    }
    return loads;
  }

  #put(bin: Bin, ask: Ask, slots: number, tasks: Tasks): void {
    const closes = this.#take(bin, ask, slots, tasks) || ask.requirements.alone !== undefined;
    const state = this.state[bin] ?? 0;
    this.state[bin] = closes ? (state & ~EMPTY) | CLOSED : state & ~EMPTY;
    this.#hold(bin, ask, slots, tasks);
  }

  /** Takes the slots from what is free. Returns whether an alternative that a slot uses wants the node to itself. */
  #take(bin: Bin, ask: Ask, slots: number, tasks: Tasks): boolean {
    const { takes } = ask.jobClass;
    if (takes === undefined) {
      const place = tasks === "bound" ? placeBoundIntricate : placeIntricate;
      const { alone, nothing } = place(this, bin, ask, slots);
      if (nothing) this.#contents.addFreeSlot(bin, ask.demand);
      return alone;
    }
    if (takes.nothing) this.#contents.addFreeSlot(bin, ask.demand);
    else this.#takeAmounts(bin, takes, slots);
    return false;
  }

  #takeAmounts(bin: Bin, { resource, amount }: Takes, slots: number): void {
    const start = bin * this.width;
    for (let i = 0; i < resource.length; i += 1) {
      const at = start + (resource[i] ?? 0);
      const left = this.free[at] ?? 0;
      if (left > 0) this.free[at] = Math.max(0, left - (amount[i] ?? 0) * slots);
    }
  }

  #noteChoice(bin: Bin, { rank, jobClass }: Ask, slots: number): void {
    const score = jobClass.score(this.kindOf(bin));
    const chosen = this.choices.get(rank) ?? new Map<number, number>();
    this.choices.set(rank, chosen);
    chosen.set(score, (chosen.get(score) ?? 0) + slots * (this.count[bin] ?? 0));
  }

  #hold(bin: Bin, claimant: Claimant, slots: number, tasks: Tasks): void {
    this.#contents.put(bin, claimant, slots, tasks);
    const state = this.state[bin] ?? 0;
    if ((state & CLAIMED) !== 0) return;
    this.state[bin] = state | CLAIMED;
    const readiness = this.isReady(bin) ? "up" : "coming";
    this.#needed.add(this.placeOfBin(bin), this.count[bin] ?? 0, this.cores[bin] ?? 0, readiness);
    this.#line.claim(bin);
  }
}

/** The nodes of one place that demands need: all of them, and those that are up. */
interface NeededNodes {
  nodes: number;
  readyNodes: number;
  cores: number;
  readyCores: number;
}

const NOTHING_NEEDED: Readonly<NeededNodes> = { nodes: 0, readyNodes: 0, cores: 0, readyCores: 0 };

/** Counts the nodes that demands need, by place. */
class NeededByPlace {
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
