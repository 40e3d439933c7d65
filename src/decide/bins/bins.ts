import type { NodeLoad } from "../../domain/allocation.ts";
import type { SupplyNode, World } from "../../domain/world.ts";
import type { BucketKey, Purpose } from "../../domain/bucket.ts";
import type { JobDemand, NodeAttributes } from "../../domain/demand.ts";
import type { Resources } from "../../domain/resources.ts";
import { amountOf } from "../../domain/resources.ts";
import type { NodeId, SetName } from "../../domain/ids.ts";
import type { Ask } from "./job-ask.ts";
import type { Budget } from "../constraints/budget.ts";
import { slotsIn, unitsFrom } from "./job-ask.ts";
import type { Subject } from "./empty-node-fit.ts";
import type { Ground, Kind, NewNode, Place } from "./node-kinds.ts";
import { hasRoomIntricate, placeIntricate, roomIntricate } from "./slot-by-slot.ts";
import type { LineBins, Sought } from "./first-fit-line.ts";
import { CLAIMED, CLOSED, EMPTY, Line } from "./first-fit-line.ts";
import type { NodeOrder } from "./node-order.ts";
import type { Shape } from "./shape.ts";
import type { Takes } from "./takes.ts";
import type { Bin } from "./bin.ts";

/** Who needs nodes: a demand, by "set/demand". */
export interface Claimant {
  readonly by: string;
}

/** Who needs the nodes of a bin, newest first; a target without slots. */
interface Content {
  readonly claimant: Claimant;
  readonly slots: number;
  readonly bound: boolean;
  readonly before: Content | undefined;
}

/** Where to look for a bin. */
interface Where {
  readonly lines: readonly Line[];
  /** Absent: all bins of the lines are right. */
  readonly accepts?: (bin: Bin) => boolean;
}

/** A line, with the shapes that it serves. */
interface ServingLine {
  readonly line: Line;
  readonly shapes: Shape[];
}

/** Nodes of one place that somebody needs: all, and those that are up. */
interface Needed {
  nodes: number;
  readyNodes: number;
  cores: number;
  readyCores: number;
}

/** A bit of a bin's state, beside those that lines know: its nodes are up. */
const READY = 8;
const MOST_NAMES = 5;
/** To look up which of thousands of jobs have a slot that takes nothing costs about as much as so many looks. */
const STEPS_OF_FREE_SLOT = 4;
/** To list a job of a node costs about as much as so many looks. */
const STEPS_OF_NAME = 5;
const NOTHING_NEEDED: Needed = { nodes: 0, readyNodes: 0, cores: 0, readyCores: 0 };
/** After everything that exists or is in flight. */
const TIER_OF_PLANNED = 2 ** 30;
const LEAST_JOBS_OF_LINE = 16;
const MOST_LINES = 32;
const MOST_PARTS = 80;

/**
 * The state of one try at a plan: what each node still has free and who needs it. Columns rather than objects, as there may be thousands
 * of nodes and a plan is made for every look.
 */
export class Bins implements LineBins {
  readonly ground: Ground;
  readonly world: World;
  readonly budget: Budget;
  /** Names of the resources that any job takes; a bin's amounts follow this order. */
  readonly resources: readonly string[];
  readonly width: number;
  readonly least: readonly number[];
  readonly pair: readonly [number, number];
  readonly kind: Kind[] = [];
  readonly count: number[] = [];
  readonly cores: number[] = [];
  readonly origin: ("existing" | "in-flight" | "planned")[] = [];
  /** Room for more bins than there are, so that it need not grow with each; the next two grow with it. */
  free: Float64Array;
  /** Bits: those that lines know, and {@link READY}. */
  state: Uint8Array;
  /** Bins of one tier are alike in the order of use. */
  tier: Int32Array;
  readonly purpose: Purpose[] = [];
  /** What is to be sent with planned bins. */
  readonly attributes = new Map<Bin, NodeAttributes>();
  /** Existing nodes in their order of use; then deallocated ones in theirs. */
  readonly existing: readonly Bin[];
  readonly asleep: readonly Bin[];
  /** Hosts that only a scheduler knows, by request set: no other set has them, and no target counts them. */
  readonly hosts: ReadonlyMap<SetName, readonly Bin[]>;
  /** Bins in flight and nodes that are starting, in the order in which they were asked for. */
  readonly inFlight: Bin[] = [];
  /** Bins that this plan creates, in the order in which it did. */
  readonly planned: Bin[] = [];
  /** Deallocated nodes that this plan starts. */
  readonly woken = new Set<Bin>();
  /** What is left of each pool that jobs share. */
  readonly pools: Map<string, number>;
  readonly #contents: (Content | undefined)[] = [];
  /** Of each job with preferences, by rank: its slots on new nodes, by how good a choice those are. */
  readonly choices = new Map<number, Map<number, number>>();
  /** By bin, the jobs that have a slot there which takes nothing. */
  readonly #freeSlots = new Map<Bin, Set<JobDemand>>();
  readonly #needed = new Map<Place, Needed>();
  readonly #subjects: Subject[] = [];
  readonly #inGroup = new Map<Place, Bin[]>();
  readonly #position: number[];
  readonly #searches = new Map<Shape, Where>();
  readonly #kindLines: (Line | undefined)[] = [];
  readonly #sizeLines = new Map<string, Line>();
  /** Bins by kind: those that exist or are in flight, and those that this plan creates, in its order. */
  readonly #ofKind: Bin[][] = [];
  readonly #plannedOfKind: Bin[][] = [];
  readonly #lines = new Map<string, ServingLine>();
  /** The line of all bins, and those of the hosts that only a scheduler knows. */
  #all: Line | undefined;
  readonly #hostLines = new Map<SetName, Line>();
  /** The lines that bins of a kind stand in; worked out anew whenever there is another line. */
  #linesByKind: (readonly Line[] | undefined)[] = [];

  constructor(
    ground: Ground,
    order: NodeOrder,
    pools: ReadonlyMap<string, number>,
    least: readonly number[],
  ) {
    this.ground = ground;
    this.budget = ground.budget;
    this.world = ground.world;
    this.resources = ground.resources;
    this.width = ground.resources.length;
    this.least = least;
    this.pair = ground.pair;
    const room = Math.max(32, 2 * (this.world.nodes.length + this.world.inFlight.length));
    this.free = new Float64Array(room * this.width);
    this.state = new Uint8Array(room);
    this.tier = new Int32Array(room);
    this.pools = new Map(pools);
    this.existing = order.awake;
    this.asleep = order.asleep;
    this.hosts = order.hosts;
    // Filled from the front first: an array that is begun far from its front becomes a dictionary.
    this.#position = this.world.nodes.map((_, bin) => bin);
    [...order.awake, ...order.asleep].forEach((bin, position) => {
      this.#position[bin] = position;
    });
    this.world.nodes.forEach((node, bin) => {
      this.#add(
        "existing",
        kindAt(ground.nodeKinds, bin),
        node,
        node.cores,
        1,
        node.purpose,
        node.ready,
        order.tiers[bin] ?? 0,
      );
      if (node.left !== undefined) this.#setLeft(bin, node.left);
      if (node.occupied === true) this.state[bin] = (this.state[bin] ?? 0) & ~EMPTY;
    });
    const flying = this.world.inFlight.map((supply, entry) =>
      this.#add(
        "in-flight",
        kindAt(ground.inFlightKinds, entry),
        supply,
        supply.cores,
        supply.count,
        supply.purpose,
        false,
        order.inFlightTiers[entry] ?? 0,
      ),
    );
    for (const { bin, entry } of order.coming) this.inFlight.push(bin ?? flying[entry ?? 0] ?? 0);
    this.inFlight.forEach((bin, position) => {
      this.#position[bin] = position;
    });
  }

  /** The existing node that a bin is; undefined for those in flight or planned. */
  node(bin: Bin): SupplyNode | undefined {
    return this.world.nodes[bin];
  }

  kindOf(bin: Bin): Kind {
    return kindAt(this.kind, bin);
  }

  placeOf(bucket: BucketKey): Place {
    return this.ground.placeOf(bucket);
  }

  placeOfBin(bin: Bin): Place {
    return this.kindOf(bin).place;
  }

  /** Lower is used first. */
  tierOf(bin: Bin): number {
    return this.tier[bin] ?? TIER_OF_PLANNED;
  }

  isClaimed(bin: Bin): boolean {
    return ((this.state[bin] ?? 0) & CLAIMED) !== 0;
  }

  /** Nobody may be put there any more: one job has it alone, or it cannot be started. */
  isClosed(bin: Bin): boolean {
    return ((this.state[bin] ?? 0) & CLOSED) !== 0;
  }

  /** Nobody has slots there. */
  isEmpty(bin: Bin): boolean {
    return ((this.state[bin] ?? 0) & EMPTY) !== 0;
  }

  /** Its nodes are up. */
  isReady(bin: Bin): boolean {
    return ((this.state[bin] ?? 0) & READY) !== 0;
  }

  /** The bin takes nothing more in this plan. */
  shut(bin: Bin): void {
    this.state[bin] = (this.state[bin] ?? 0) | CLOSED;
  }

  /** Adds nodes that this plan creates. They are in nobody's hands until claimed. */
  plan(
    place: Place,
    count: number,
    offer: NewNode,
    purpose: Purpose,
    attributes: NodeAttributes | undefined,
  ): Bin {
    const before = this.ground.kinds.length;
    const kind = this.ground.kindOfNew(offer, place);
    const subject = this.ground.subjectOfNew(offer, place);
    const bin = this.#add("planned", kind, subject, offer.cores, count, purpose, false, TIER_OF_PLANNED);
    if (attributes !== undefined) this.attributes.set(bin, attributes);
    this.planned.push(bin);
    if (kind.index >= before) this.#noteNewKind(kind);
    return bin;
  }

  /** Keeps `count` nodes in the bin and puts the others, in the same state, into a bin right after it, if there are any. */
  split(bin: Bin, count: number): Bin | undefined {
    const rest = (this.count[bin] ?? 0) - count;
    if (rest <= 0) return undefined;
    const other = this.count.length;
    this.count[bin] = count;
    this.count.push(rest);
    this.kind.push(this.kindOf(bin));
    this.cores.push(this.cores[bin] ?? 0);
    this.#position[other] = this.#position[bin] ?? 0;
    this.origin.push(this.origin[bin] ?? "planned");
    this.purpose.push(this.purpose[bin] ?? { kind: "array" });
    const attributes = this.attributes.get(bin);
    if (attributes !== undefined) this.attributes.set(other, attributes);
    const freeSlots = this.#freeSlots.get(bin);
    if (freeSlots !== undefined) this.#freeSlots.set(other, new Set(freeSlots));
    this.#contents.push(this.#contents[bin]);
    this.#subjects.push(this.subjectOf(bin));
    this.#makeRoom(other);
    this.state[other] = this.state[bin] ?? 0;
    this.tier[other] = this.tierOf(bin);
    this.free.copyWithin(other * this.width, bin * this.width, (bin + 1) * this.width);
    this.#group(other);
    this.#putBehind(bin, other);
    return other;
  }

  /** Gives a bin its place in the order of use, right behind another. */
  #putBehind(bin: Bin, other: Bin): void {
    const { index } = this.kindOf(bin);
    const isPlanned = this.origin[bin] === "planned";
    const ownLine = this.#kindLines[index];
    const at = insertAfter(isPlanned ? this.planned : this.inFlight, bin, other);
    const atOfKind = insertAfter(isPlanned ? this.#plannedOfKind[index] : this.#ofKind[index], bin, other);
    for (const line of this.#linesOf(this.kindOf(bin))) {
      const position = line === ownLine ? atOfKind : at;
      line.insertAfter(bin, other, isPlanned ? position : undefined);
    }
  }

  /** How many units of the ask fit on one node of the bin. */
  unitsOn(bin: Bin, ask: Ask): number {
    this.budget.spend(1);
    if (this.isClosed(bin) || !this.#serves(bin, ask.set)) return 0;
    const { shape } = ask.jobClass;
    if (!this.#takes(shape, bin)) return 0;
    if (ask.jobClass.takes === undefined) return roomIntricate(this, bin, ask);
    if (ask.requirements.alone !== undefined && !this.isEmpty(bin)) return 0;
    if (ask.jobClass.takes.nothing && this.hasFreeSlot(bin, ask)) return 0;
    return unitsFrom(ask, slotsIn(ask, this.free, bin * this.width));
  }

  /** Whether the job has a slot there that takes nothing of the node: it gets no second one. */
  hasFreeSlot(bin: Bin, { demand }: Ask): boolean {
    this.budget.spend(STEPS_OF_FREE_SLOT);
    return this.#freeSlots.get(bin)?.has(demand) === true;
  }

  #noteFreeSlot(bin: Bin, { demand }: Ask): void {
    this.budget.spend(STEPS_OF_FREE_SLOT);
    const jobs = this.#freeSlots.get(bin);
    if (jobs === undefined) this.#freeSlots.set(bin, new Set([demand]));
    else jobs.add(demand);
  }

  /** Puts so many slots on each node of the bin, and claims it. What is free never falls below zero: bound tasks need not fit. */
  occupy(bin: Bin, ask: Ask, slots: number, bound = false): void {
    const { takes } = ask.jobClass;
    let alone = ask.requirements.alone !== undefined;
    if (takes === undefined) {
      const taken = placeIntricate(this, bin, ask, slots, bound);
      alone ||= taken.alone;
      if (taken.nothing) this.#noteFreeSlot(bin, ask);
    } else if (takes.nothing) this.#noteFreeSlot(bin, ask);
    else {
      const start = bin * this.width;
      for (let i = 0; i < takes.resource.length; i += 1) {
        const at = start + (takes.resource[i] ?? 0);
        const left = this.free[at] ?? 0;
        if (left > 0) this.free[at] = Math.max(0, left - (takes.amount[i] ?? 0) * slots);
      }
    }
    // What is left there is reported without what runs there.
    const left = bound ? this.node(bin)?.left : undefined;
    if (left !== undefined) this.#setLeft(bin, left);
    const state = this.state[bin] ?? 0;
    this.state[bin] = alone ? (state & ~EMPTY) | CLOSED : state & ~EMPTY;
    this.#hold(bin, ask, slots, bound);
    if (ask.jobClass.shape.preference !== undefined && this.origin[bin] === "planned")
      this.#noteChoice(bin, ask, slots);
  }

  #noteChoice(bin: Bin, { rank, jobClass }: Ask, slots: number): void {
    const score = jobClass.score(this.kindOf(bin));
    const chosen = this.choices.get(rank) ?? new Map<number, number>();
    this.choices.set(rank, chosen);
    chosen.set(score, (chosen.get(score) ?? 0) + slots * (this.count[bin] ?? 0));
  }

  #setLeft(bin: Bin, left: Resources): void {
    this.resources.forEach((name, r) => {
      if (left[name] !== undefined) this.free[bin * this.width + r] = amountOf(left[name]);
    });
  }

  /** Whether jobs of the set may be there. */
  #serves(bin: Bin, set: SetName): boolean {
    // Asked for every look at a bin, and most clusters have no such hosts.
    if (this.hosts.size === 0) return true;
    const onlyFor = this.world.nodes[bin]?.onlyFor;
    return onlyFor === undefined || onlyFor.includes(set);
  }

  /** Whether it is a host that only a scheduler knows, and no node of ours. */
  isHost(bin: Bin): boolean {
    return this.world.nodes[bin]?.onlyFor !== undefined;
  }

  /** What the constraints of jobs are judged on. */
  subjectOf(bin: Bin): Subject {
    const subject = this.#subjects[bin];
    if (subject === undefined) throw new RangeError(`no bin ${bin}`);
    return subject;
  }

  /** Whether slots of a job ("set/demand") are on each node of the bin. */
  holds(bin: Bin, by: string): boolean {
    for (let one = this.#contents[bin]; one !== undefined; one = one.before) {
      this.budget.spend(1);
      if (one.slots > 0 && one.claimant.by === by) return true;
    }
    return false;
  }

  /** Whether the job has slots there, and nobody else has; it asks that this be so, and may have more of them. */
  isOnlyOf(bin: Bin, { by, requirements }: Ask): boolean {
    if (requirements.alone !== "task") return false;
    const jobs = jobsOf(this.#contents[bin]);
    this.budget.spend(STEPS_OF_NAME * jobs.length);
    return jobs.length > 0 && jobs.every((one) => one.by === by);
  }

  /** Names of the jobs on each node of the bin. */
  jobsOn(bin: Bin): readonly string[] {
    const jobs = jobsOf(this.#contents[bin]);
    this.budget.spend(STEPS_OF_NAME * jobs.length);
    return jobs.map(({ by }) => by);
  }

  /**
   * The first bin with room for a unit, in the order of use: hosts that only the scheduler knows, as they cost nothing, then nodes; among
   * those of one tier one that somebody needs already.
   */
  first(ask: Ask): Bin | undefined {
    const { takes } = ask.jobClass;
    if (takes === undefined) {
      const sought = this.#soughtIntricate(ask);
      const [line] = this.#whereOf(ask.jobClass.shape).lines;
      return this.#hostLine(ask.set)?.firstInOrder(sought) ?? line?.firstInOrder(sought);
    }
    const host = this.#hostLine(ask.set)?.first(this.#soughtOnHosts(ask, takes));
    if (host !== undefined) return host;
    const { lines, accepts } = this.#whereOf(ask.jobClass.shape);
    const sought = { takes, times: ask.slotsPerUnit, accepts };
    let best: Bin | undefined;
    for (const line of lines) {
      const bin = line.first(sought);
      if (bin !== undefined && (best === undefined || this.#compareUse(bin, best) < 0)) best = bin;
    }
    return best;
  }

  /** Bins with room for a unit, in the order of use; among those of one tier the ones that somebody needs already come first. */
  *each(ask: Ask): Generator<Bin> {
    const { takes } = ask.jobClass;
    const hosts = this.#hostLine(ask.set);
    const { lines, accepts } = this.#whereOf(ask.jobClass.shape);
    const [only, ...others] = lines;
    if (takes === undefined) {
      const sought = this.#soughtIntricate(ask);
      for (const line of [hosts, only]) if (line !== undefined) yield* line.inOrder(sought);
      return;
    }
    if (hosts !== undefined) yield* hosts.each(this.#soughtOnHosts(ask, takes));
    if (only === undefined) return;
    const sought: Sought = { takes, times: ask.slotsPerUnit, accepts };
    if (others.length === 0) yield* only.each(sought);
    else {
      const found = lines.flatMap((line) => [...line.each(sought)]);
      yield* found.sort((a, b) => this.#compareUse(a, b));
    }
  }

  /** Notes that somebody needs all nodes of the bin. */
  claim(bin: Bin, claimant: Claimant): void {
    this.#hold(bin, claimant, 0, false);
  }

  /** What is needed in a place so far, by anybody. */
  neededAt(place: Place): Readonly<Needed> {
    return this.#needed.get(place) ?? NOTHING_NEEDED;
  }

  /** Places where somebody needs something. */
  neededPlaces(): Iterable<Place> {
    return this.#needed.keys();
  }

  /** All bins of a placement group, oldest first. */
  inGroup(place: Place): readonly Bin[] {
    return this.#inGroup.get(place) ?? [];
  }

  /** Places in placement groups where there is a bin. */
  groupPlaces(): Iterable<Place> {
    return this.#inGroup.keys();
  }

  /** The existing nodes that are needed, by whom. */
  needed(): ReadonlyMap<NodeId, readonly string[]> {
    const needed = new Map<NodeId, readonly string[]>();
    this.world.nodes.forEach((node, bin) => {
      const content = this.#contents[bin];
      if (content !== undefined && node.onlyFor === undefined) needed.set(node.nodeId, firstNames(content));
    });
    return needed;
  }

  /** What has been put where, in the order of the bins. */
  loads(): readonly NodeLoad[] {
    const loads: NodeLoad[] = [];
    this.#contents.forEach((content, bin) => {
      const jobs = jobsOf(content);
      if (jobs.length === 0) return;
      const nodeId = this.node(bin)?.nodeId;
      const origin = this.origin[bin] ?? "planned";
      const { bucket } = this.placeOfBin(bin);
      const count = this.count[bin] ?? 0;
      loads.push(
        nodeId === undefined ? { origin, bucket, count, jobs } : { origin, bucket, nodeId, count, jobs },
      );
    });
    return loads;
  }

  /** Makes planned nodes of a bin smaller ones; what is on them fits there. */
  exchange(bin: Bin, kind: Kind, offer: NewNode): void {
    const before = this.kindOf(bin).capacity;
    this.kind[bin] = kind;
    this.#subjects[bin] = this.ground.subjectOfNew(offer, kind.place);
    this.cores[bin] = offer.cores;
    kind.capacity.forEach((amount, r) => {
      const used = (before[r] ?? 0) - (this.free[bin * this.width + r] ?? 0);
      this.free[bin * this.width + r] = amount < 0 ? amount : Math.max(0, amount - used);
    });
  }

  #hold(bin: Bin, claimant: Claimant, slots: number, bound: boolean): void {
    this.#contents[bin] = { claimant, slots, bound, before: this.#contents[bin] };
    const state = this.state[bin] ?? 0;
    if ((state & CLAIMED) !== 0) return;
    this.state[bin] = state | CLAIMED;
    this.#count(bin);
    for (const line of this.#linesOf(this.kindOf(bin))) line.claim(bin);
  }

  #takes(shape: Shape, bin: Bin): boolean {
    return shape.judgesEachNode ? shape.takesNode(this.subjectOf(bin)) : shape.takesKind(this.kindOf(bin));
  }

  #compareUse(a: Bin, b: Bin): number {
    return (
      this.tierOf(a) - this.tierOf(b) ||
      Number(this.isClaimed(b)) - Number(this.isClaimed(a)) ||
      (this.#position[a] ?? 0) - (this.#position[b] ?? 0) ||
      a - b
    );
  }

  #whereOf(shape: Shape): Where {
    let where = this.#searches.get(shape);
    if (where === undefined) {
      where = this.#whereFor(shape);
      this.#searches.set(shape, where);
    }
    return where;
  }

  /**
   * Shapes of many jobs get lines of their own bins, and share one where they take the same kinds; others look through the lines of the few
   * VM sizes and kinds that they take, or through all bins. Each line more costs something whenever a bin changes.
   */
  #whereFor(shape: Shape): Where {
    if (shape.requirements.marks.length === 0 || shape.requirements.intricate)
      return { lines: [this.#lineOfAll()] };
    const accepts = (bin: Bin): boolean => this.#takes(shape, bin);
    if (shape.judgesEachNode) return { lines: [this.#lineOfAll()], accepts };
    if (shape.jobs >= LEAST_JOBS_OF_LINE && this.#lines.size < MOST_LINES)
      return { lines: [this.#ownLine(shape)] };
    const parts = this.#partsOf(shape);
    if (parts.length > MOST_PARTS) return { lines: [this.#lineOfAll()], accepts };
    return {
      lines: parts.map((part) =>
        typeof part === "string" ? this.#lineOfSize(part) : this.#lineOfKind(part),
      ),
    };
  }

  /** What the shape takes: VM sizes of which it takes all nodes, and of the others single kinds. */
  #partsOf(shape: Shape): readonly (string | Kind)[] {
    this.budget.spend(this.ground.kinds.length);
    const parts: (string | Kind)[] = [];
    for (const [size, kinds] of Map.groupBy(shape.kindsIn(this.ground), sizeOf)) {
      const isWhole = size !== undefined && kinds.length === this.ground.kindsNamed("vm_size", [size]).length;
      if (isWhole) parts.push(size);
      else parts.push(...kinds);
    }
    return parts;
  }

  #lineOfSize(size: string): Line {
    let line = this.#sizeLines.get(size);
    if (line === undefined) {
      this.budget.spend(this.existing.length + this.inFlight.length + this.asleep.length);
      const isOfSize = (bin: Bin): boolean => sizeOf(this.kindOf(bin)) === size;
      line = new Line(this, this.#open().filter(isOfSize), this.planned, isOfSize);
      this.#sizeLines.set(size, line);
      this.#linesByKind = [];
    }
    return line;
  }

  #lineOfKind(kind: Kind): Line {
    let line = this.#kindLines[kind.index];
    if (line === undefined) {
      const own = (this.#ofKind[kind.index] ?? []).filter((bin) => !this.isClosed(bin));
      own.sort(
        (a, b) =>
          this.tierOf(a) - this.tierOf(b) || (this.#position[a] ?? 0) - (this.#position[b] ?? 0) || a - b,
      );
      let planned = this.#plannedOfKind[kind.index];
      if (planned === undefined) {
        planned = [];
        this.#plannedOfKind[kind.index] = planned;
      }
      line = new Line(this, own, planned);
      this.#kindLines[kind.index] = line;
      this.#linesByKind = [];
    }
    return line;
  }

  /** Once in each try, for all sets: it is on nobody's account. A small set that comes first would be left out for it. */
  #lineOfAll(): Line {
    if (this.#all === undefined) {
      this.#all = new Line(this, this.#open(), this.planned);
      this.#linesByKind = [];
    }
    return this.#all;
  }

  #ownLine(shape: Shape): Line {
    this.budget.spend(this.ground.kinds.length);
    const key = this.ground.kinds.map((kind) => (shape.takesKind(kind) ? "1" : "0")).join("");
    let entry = this.#lines.get(key);
    if (entry === undefined) {
      this.budget.spend(this.existing.length + this.inFlight.length + this.asleep.length);
      entry = {
        line: new Line(
          this,
          this.#open().filter((bin) => this.#takes(shape, bin)),
          this.planned,
          (bin) => this.#takes(shape, bin),
        ),
        shapes: [],
      };
      this.#lines.set(key, entry);
      this.#linesByKind = [];
    }
    if (!entry.shapes.includes(shape)) entry.shapes.push(shape);
    return entry.line;
  }

  #hostLine(set: SetName): Line | undefined {
    const hosts = this.hosts.size === 0 ? undefined : this.hosts.get(set);
    if (hosts === undefined) return undefined;
    let line = this.#hostLines.get(set);
    if (line === undefined) {
      line = new Line(this, hosts, []);
      this.#hostLines.set(set, line);
      this.#linesByKind = [];
    }
    return line;
  }

  #soughtOnHosts({ jobClass, slotsPerUnit }: Ask, takes: Takes): Sought {
    return { takes, times: slotsPerUnit, accepts: (bin) => this.#takes(jobClass.shape, bin) };
  }

  /** Where a slot takes depends on what is left: by the least that it takes, and then by trying it out. */
  #soughtIntricate(ask: Ask): Sought {
    const { shape, screen } = ask.jobClass;
    const accepts = (bin: Bin): boolean =>
      this.#serves(bin, ask.set) && this.#takes(shape, bin) && hasRoomIntricate(this, bin, ask);
    return { takes: screen.least, times: ask.slotsPerUnit, accepts };
  }

  /** All bins that may take something, without those that this plan creates and hosts that are not ours, in the order of use. */
  #open(): readonly Bin[] {
    const all = [...this.existing, ...this.inFlight, ...this.asleep];
    return all.filter((bin) => !this.isClosed(bin));
  }

  /** The lines that a bin of this kind stands in. */
  #linesOf(kind: Kind): readonly Line[] {
    const known = this.#linesByKind[kind.index];
    if (known !== undefined) return known;
    const { onlyFor } = kind.subject;
    if (onlyFor !== undefined) {
      const ofHosts = onlyFor.flatMap((set) => this.#hostLines.get(set) ?? []);
      this.#linesByKind[kind.index] = ofHosts;
      return ofHosts;
    }
    const lines = this.#all === undefined ? [] : [this.#all];
    const own = this.#kindLines[kind.index];
    if (own !== undefined) lines.push(own);
    const ofSize = this.#sizeLines.size === 0 ? undefined : this.#sizeLines.get(sizeOf(kind) ?? "");
    if (ofSize !== undefined) lines.push(ofSize);
    for (const { line, shapes } of this.#lines.values())
      if (shapes[0]?.takesKind(kind) === true) lines.push(line);
    this.#linesByKind[kind.index] = lines;
    return lines;
  }

  /** A new kind of node: shapes that shared a line so far may judge it differently. Where to look is worked out anew when it is asked. */
  #noteNewKind(kind: Kind): void {
    this.#searches.clear();
    this.#linesByKind = [];
    for (const [key, { shapes }] of this.#lines) {
      const [first, ...others] = shapes;
      const answer = first?.takesKind(kind);
      if (others.some((shape) => shape.takesKind(kind) !== answer)) this.#lines.delete(key);
    }
  }

  #count(bin: Bin): void {
    const place = this.placeOfBin(bin);
    const needed = this.#needed.get(place) ?? { ...NOTHING_NEEDED };
    this.#needed.set(place, needed);
    const nodes = this.count[bin] ?? 0;
    const cores = nodes * (this.cores[bin] ?? 0);
    needed.nodes += nodes;
    needed.cores += cores;
    if (!this.isReady(bin)) return;
    needed.readyNodes += nodes;
    needed.readyCores += cores;
  }

  #add(
    origin: "existing" | "in-flight" | "planned",
    kind: Kind,
    subject: Subject,
    cores: number,
    count: number,
    purpose: Purpose,
    ready: boolean,
    tier: number,
  ): Bin {
    const bin = this.count.length;
    this.origin.push(origin);
    this.kind.push(kind);
    this.count.push(count);
    this.cores.push(cores);
    this.#position[bin] ??= bin;
    this.purpose.push(purpose);
    this.#contents.push(undefined);
    this.#subjects.push(subject);
    this.#makeRoom(bin);
    this.state[bin] = ready ? EMPTY | READY : EMPTY;
    this.tier[bin] = tier;
    this.free.set(kind.capacity, bin * this.width);
    const ofKind = origin === "planned" ? this.#plannedOfKind : this.#ofKind;
    const alike = ofKind[kind.index];
    if (alike === undefined) ofKind[kind.index] = [bin];
    else alike.push(bin);
    this.#group(bin);
    return bin;
  }

  #makeRoom(bin: Bin): void {
    if (bin < this.state.length) return;
    const room = 2 * (bin + 1);
    const { free, state, tier } = this;
    this.free = new Float64Array(room * this.width);
    this.free.set(free);
    this.state = new Uint8Array(room);
    this.state.set(state);
    this.tier = new Int32Array(room);
    this.tier.set(tier);
  }

  #group(bin: Bin): void {
    const place = this.placeOfBin(bin);
    if (place.bucket.placementGroup === undefined) return;
    const others = this.#inGroup.get(place);
    if (others === undefined) this.#inGroup.set(place, [bin]);
    else others.push(bin);
  }
}

/** Answers where `other` stands now; `list` ends with `one` most of the time. */
function insertAfter(list: Bin[] | undefined, one: Bin, other: Bin): number | undefined {
  const at = list?.lastIndexOf(one) ?? -1;
  if (at < 0) return undefined;
  list?.splice(at + 1, 0, other);
  return at + 1;
}

function jobsOf(content: Content | undefined): NodeLoad["jobs"] {
  if (content === undefined) return NO_JOBS;
  const jobs: NodeLoad["jobs"][number][] = [];
  for (let one: Content | undefined = content; one !== undefined; one = one.before)
    if (one.slots > 0) jobs.push({ by: one.claimant.by, slots: one.slots, bound: one.bound });
  return jobs.length < 2 ? jobs : jobs.toReversed();
}

const NO_JOBS: NodeLoad["jobs"] = [];

/** The first few that needed it. */
function firstNames(content: Content): readonly string[] {
  if (content.before === undefined) return [content.claimant.by];
  const all: Claimant[] = [];
  for (let one: Content | undefined = content; one !== undefined; one = one.before) all.push(one.claimant);
  const names: string[] = [];
  for (let i = all.length - 1; i >= 0 && names.length < MOST_NAMES; i -= 1) {
    const name = all[i]?.by ?? "";
    if (!names.includes(name)) names.push(name);
  }
  return names;
}

function sizeOf(kind: Kind): string | undefined {
  const size = kind.view().properties["vm_size"];
  return typeof size === "string" ? size : undefined;
}

function kindAt(kinds: readonly Kind[], at: number): Kind {
  const kind = kinds[at];
  if (kind === undefined) throw new RangeError(`no kind ${at}`);
  return kind;
}
