import type { NodeLoad } from "../../domain/allocation.ts";
import type { SupplyNode, World } from "../../domain/world.ts";
import type { BucketKey, Purpose } from "../../domain/bucket.ts";
import type { NodeAttributes } from "../../domain/demand.ts";
import type { SetName } from "../../domain/ids.ts";
import type { Resources } from "../../domain/resources.ts";
import { amountOf } from "../../domain/resources.ts";
import type { Budget } from "../constraints/budget.ts";
import type { Bin, BinColumns } from "./bin-columns.ts";
import { CLAIMED, CLOSED, EMPTY, READY } from "./bin-columns.ts";
import type { Subject } from "./empty-node-fit.ts";
import type { Ground, Kind, Place } from "./node-kinds.ts";
import type { NodeOrder } from "./node-order.ts";
import type { Shape } from "./shape.ts";

// Long: one table; each method reads or writes its columns.

/** Planned bins come after all bins that exist or are in flight. */
const TIER_OF_PLANNED = 2 ** 30;

/** A bin to be added: `count` identical nodes. */
interface NewBin {
  readonly origin: NodeLoad["origin"];
  readonly kind: Kind;
  readonly subject: Subject;
  /** vCPUs of each node. */
  readonly cores: number;
  readonly count: number;
  readonly purpose: Purpose;
  readonly ready?: boolean;
  /** Undefined: after all others. */
  readonly tier?: number;
}

/**
 * The bins of one try at a plan: first the existing nodes, then those in flight, then the bins that the plan creates or splits off. The table
 * has columns, not objects, because there may be thousands of nodes, and each plan makes several tries.
 */
export class BinTable implements BinColumns {
  readonly ground: Ground;
  readonly world: World;
  readonly budget: Budget;
  /** Names of the resources that any job takes. The amounts of a bin follow this order. */
  readonly resources: readonly string[];
  readonly width: number;
  readonly least: readonly number[];
  readonly kind: Kind[] = [];
  /** Number of nodes. */
  readonly count: number[] = [];
  /** vCPUs of each node. */
  readonly cores: number[] = [];
  readonly origin: NodeLoad["origin"][] = [];
  readonly purpose: Purpose[] = [];
  /** `free`, `state` and `tier` have room for more bins than there are, and grow together. */
  free: Float64Array;
  state: Uint8Array;
  tier: Int32Array;
  /** The attributes that planned bins are created with. */
  readonly attributes = new Map<Bin, NodeAttributes>();
  /** Existing nodes that are up or coming, and deallocated nodes, each in their order of use. */
  readonly existing: readonly Bin[];
  readonly deallocated: readonly Bin[];
  /** Hosts that only a scheduler reports, by request set. Only that set uses them, and no target counts them. */
  readonly hosts: ReadonlyMap<SetName, readonly Bin[]>;
  /** Nodes in flight and nodes that are starting, in the order in which they were requested. */
  readonly inFlight: Bin[] = [];
  /** Bins that this plan creates, in that order. */
  readonly planned: Bin[] = [];
  /** By bin: its position among those with the same origin. It decides between bins of one tier. */
  readonly position: number[];
  readonly #subjects: Subject[] = [];
  readonly #groups = new BinsInGroups();

  constructor(ground: Ground, order: NodeOrder, least: readonly number[]) {
    this.ground = ground;
    this.budget = ground.budget;
    this.world = ground.world;
    this.resources = ground.resources;
    this.width = ground.resources.length;
    this.least = least;
    const room = Math.max(32, 2 * (this.world.nodes.length + this.world.inFlight.length));
    this.free = new Float64Array(room * this.width);
    this.state = new Uint8Array(room);
    this.tier = new Int32Array(room);
    this.existing = order.up;
    this.deallocated = order.deallocated;
    this.hosts = order.hosts;
    // Filled from the front first: V8 turns an array that is filled from the back into a slow dictionary.
    this.position = this.world.nodes.map((_, bin) => bin);
    [...order.up, ...order.deallocated].forEach((bin, position) => {
      this.position[bin] = position;
    });
    this.#addNodes(order);
    this.#addInFlight(order);
  }

  /** The existing node of a bin. Undefined for bins in flight and planned ones. */
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

  /** Lower tiers are used first. */
  tierOf(bin: Bin): number {
    return this.tier[bin] ?? TIER_OF_PLANNED;
  }

  /** At least one demand needs the bin. */
  isClaimed(bin: Bin): boolean {
    return ((this.state[bin] ?? 0) & CLAIMED) !== 0;
  }

  /** The bin takes no more slots: one job has it to itself, or its node cannot be started. */
  isClosed(bin: Bin): boolean {
    return ((this.state[bin] ?? 0) & CLOSED) !== 0;
  }

  /** There are no slots on the bin. */
  isEmpty(bin: Bin): boolean {
    return ((this.state[bin] ?? 0) & EMPTY) !== 0;
  }

  /** The nodes of the bin are up. */
  isReady(bin: Bin): boolean {
    return ((this.state[bin] ?? 0) & READY) !== 0;
  }

  /** The bin is a host that only a scheduler reports, and no node of the cluster. */
  isHost(bin: Bin): boolean {
    return this.world.nodes[bin]?.onlyFor !== undefined;
  }

  /** Whether jobs of the set may use the bin. */
  serves(bin: Bin, set: SetName): boolean {
    // Every test of a bin asks this, and most clusters have no such hosts.
    if (this.hosts.size === 0) return true;
    const onlyFor = this.world.nodes[bin]?.onlyFor;
    return onlyFor === undefined || onlyFor.includes(set);
  }

  /** The node that constraints are tested on. */
  subjectOf(bin: Bin): Subject {
    const subject = this.#subjects[bin];
    if (subject === undefined) throw new RangeError(`no bin ${bin}`);
    return subject;
  }

  /** Whether the nodes of the bin meet the marks of the shape. Free amounts do not matter. */
  meets(shape: Shape, bin: Bin): boolean {
    return shape.judgesEachNode ? shape.takesNode(this.subjectOf(bin)) : shape.takesKind(this.kindOf(bin));
  }

  /** The order of use: by tier, in a tier the claimed bins first, then by position. */
  compareUse(a: Bin, b: Bin): number {
    return (
      this.tierOf(a) - this.tierOf(b) ||
      Number(this.isClaimed(b)) - Number(this.isClaimed(a)) ||
      (this.position[a] ?? 0) - (this.position[b] ?? 0) ||
      a - b
    );
  }

  /** The bin takes nothing more in this plan. */
  shut(bin: Bin): void {
    this.state[bin] = (this.state[bin] ?? 0) | CLOSED;
  }

  /** All bins of a placement group, oldest first. */
  inGroup(place: Place): readonly Bin[] {
    return this.#groups.in(place);
  }

  /** Places in placement groups that have a bin. */
  groupPlaces(): Iterable<Place> {
    return this.#groups.places();
  }

  protected addBin({ origin, kind, subject, cores, count, purpose, ready, tier }: NewBin): Bin {
    const bin = this.count.length;
    this.origin.push(origin);
    this.kind.push(kind);
    this.count.push(count);
    this.cores.push(cores);
    this.position[bin] ??= bin;
    this.purpose.push(purpose);
    this.#subjects.push(subject);
    this.#makeRoom(bin);
    this.state[bin] = ready === true ? EMPTY | READY : EMPTY;
    this.tier[bin] = tier ?? TIER_OF_PLANNED;
    this.free.set(kind.capacity, bin * this.width);
    this.#groups.add(kind.place, bin);
    return bin;
  }

  /** Moves all nodes but `count` into a new bin in the same state. That bin has no place in the order of use yet. */
  protected cutBin(bin: Bin, count: number): Bin {
    const other = this.count.length;
    this.count.push((this.count[bin] ?? 0) - count);
    this.count[bin] = count;
    this.kind.push(this.kindOf(bin));
    this.cores.push(this.cores[bin] ?? 0);
    this.position[other] = this.position[bin] ?? 0;
    this.origin.push(this.origin[bin] ?? "planned");
    this.purpose.push(this.purpose[bin] ?? { kind: "array" });
    const attributes = this.attributes.get(bin);
    if (attributes !== undefined) this.attributes.set(other, attributes);
    this.#subjects.push(this.subjectOf(bin));
    this.#makeRoom(other);
    this.state[other] = this.state[bin] ?? 0;
    this.tier[other] = this.tierOf(bin);
    this.free.copyWithin(other * this.width, bin * this.width, (bin + 1) * this.width);
    this.#groups.add(this.placeOfBin(other), other);
    return other;
  }

  /** Gives the nodes of a bin another kind. What is used stays used. */
  protected changeKind(bin: Bin, kind: Kind, subject: Subject, cores: number): void {
    const before = this.kindOf(bin).capacity;
    this.kind[bin] = kind;
    this.#subjects[bin] = subject;
    this.cores[bin] = cores;
    kind.capacity.forEach((amount, r) => {
      const used = (before[r] ?? 0) - (this.free[bin * this.width + r] ?? 0);
      this.free[bin * this.width + r] = amount < 0 ? amount : Math.max(0, amount - used);
    });
  }

  /** Sets the free amounts of the resources in `free`. */
  protected setFree(bin: Bin, free: Resources): void {
    this.resources.forEach((name, r) => {
      if (free[name] !== undefined) this.free[bin * this.width + r] = amountOf(free[name]);
    });
  }

  #addNodes({ tiers }: NodeOrder): void {
    this.world.nodes.forEach((node, bin) => {
      const { cores, purpose, ready } = node;
      const kind = kindAt(this.ground.nodeKinds, bin);
      const tier = tiers[bin] ?? 0;
      this.addBin({ origin: "existing", kind, subject: node, cores, count: 1, purpose, ready, tier });
      if (node.left !== undefined) this.setFree(bin, node.left);
      if (node.occupied === true) this.state[bin] = (this.state[bin] ?? 0) & ~EMPTY;
    });
  }

  #addInFlight({ inFlightTiers, coming }: NodeOrder): void {
    const bins = this.world.inFlight.map((supply, entry) => {
      const { cores, count, purpose } = supply;
      const kind = kindAt(this.ground.inFlightKinds, entry);
      const tier = inFlightTiers[entry] ?? 0;
      return this.addBin({ origin: "in-flight", kind, subject: supply, cores, count, purpose, tier });
    });
    for (const { bin, entry } of coming) this.inFlight.push(bin ?? bins[entry ?? 0] ?? 0);
    this.inFlight.forEach((bin, position) => {
      this.position[bin] = position;
    });
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
}

function kindAt(kinds: readonly Kind[], at: number): Kind {
  const kind = kinds[at];
  if (kind === undefined) throw new RangeError(`no kind ${at}`);
  return kind;
}

/** The bins of each placement group. */
class BinsInGroups {
  readonly #byPlace = new Map<Place, Bin[]>();

  /** Adds a bin. A place without a placement group is left out. */
  add(place: Place, bin: Bin): void {
    if (place.bucket.placementGroup === undefined) return;
    const others = this.#byPlace.get(place);
    if (others === undefined) this.#byPlace.set(place, [bin]);
    else others.push(bin);
  }

  /** The bins of a place, oldest first. */
  in(place: Place): readonly Bin[] {
    return this.#byPlace.get(place) ?? NO_BINS;
  }

  /** Places in placement groups that have a bin. */
  places(): Iterable<Place> {
    return this.#byPlace.keys();
  }
}

const NO_BINS: readonly Bin[] = [];
