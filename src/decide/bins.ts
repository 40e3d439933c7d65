import { compareText } from "../domain/text.ts";
import type { NodeLoad, SupplyNode, World } from "../domain/allocation.ts";
import type { NodeAttributes } from "../domain/demand.ts";
import type { NodeId } from "../domain/ids.ts";
import type { BucketKey, Purpose } from "../domain/bucket.ts";
import { amountOf } from "../domain/resources.ts";
import type { Ask } from "./ask.ts";
import { unitsOf } from "./ask.ts";
import type { Subject } from "./fit.ts";
import { TOLERANCE } from "./tolerance.ts";

/** A bin's number. A bin is one existing node, or so many identical nodes that are in flight or planned. */
export type Bin = number;

/** One array x VM size x placement group as the bins know it. */
export interface Place {
  readonly index: number;
  readonly bucket: BucketKey;
  /** Position of its bucket among the world's offers; beyond the last: new nodes are not offered there. */
  readonly offer: number;
  /** Text of its bucket without the placement group. */
  readonly id: string;
}

/** Names of who needs a node; nodes needed by the same demands share one. */
interface Claim {
  readonly names: readonly string[];
  readonly longer: Map<string, Claim>;
}

/** What has been put onto each node of a bin, newest first. */
interface Content {
  readonly by: string;
  readonly slots: number;
  readonly bound: boolean;
  readonly before: Content | undefined;
}

interface Offered extends Subject {
  readonly cores: number;
}

const MOST_NAMES = 5;

/** Nodes of one place that somebody needs: all, and those that are up. */
interface Needed {
  nodes: number;
  readyNodes: number;
  cores: number;
  readyCores: number;
}

/**
 * The state of one allocation: what each node still has free and who needs it. Columns rather than objects, as there may be thousands of
 * nodes and a plan is made for every look.
 */
export class Bins {
  readonly world: World;
  /** Names of the resources that any job takes; a bin's amounts follow this order. */
  readonly resources: readonly string[];
  readonly places: Place[] = [];
  readonly place: number[] = [];
  readonly count: number[] = [];
  readonly cores: number[] = [];
  readonly origin: ("existing" | "in-flight" | "planned")[] = [];
  readonly order: number[] = [];
  readonly ready: boolean[] = [];
  readonly free: number[] = [];
  /** Who has slots there: nobody, anybody, or one job alone. */
  readonly taken: ("empty" | "shared" | "alone")[] = [];
  readonly purpose: Purpose[] = [];
  /** What is to be sent with planned bins. */
  readonly attributes = new Map<Bin, NodeAttributes>();
  /** Bins in flight, in their total order. */
  readonly inFlight: Bin[] = [];
  /** Bins that this plan creates, by place and then by age. */
  planned: Bin[] = [];

  readonly #contents: (Content | undefined)[] = [];
  readonly #claims: (Claim | undefined)[] = [];
  readonly #unclaimed: Claim = { names: [], longer: new Map() };
  readonly #needed: Needed[] = [];
  readonly #subjects: Subject[] = [];
  readonly #offers = new Map<string, number>();
  readonly #placeByKey = new Map<BucketKey, Place>();
  readonly #placeByText = new Map<string, Place>();

  constructor(world: World, resources: readonly string[]) {
    this.world = world;
    this.resources = resources;
    world.buckets.forEach((offer, index) => this.#offers.set(bucketId(offer.bucket, false), index));
    for (const node of world.nodes) {
      const place = this.placeOf(node.bucket);
      this.#add("existing", place, 1, node, node.purpose, node.ready, node.order);
    }
    const entries = world.inFlight.map((entry) => ({ ...entry, place: this.placeOf(entry.bucket) }));
    for (const entry of entries.toSorted(
      (a, b) =>
        comparePlaces(a.place, b.place) || compareText(purposeText(a.purpose), purposeText(b.purpose)),
    )) {
      this.inFlight.push(this.#add("in-flight", entry.place, entry.count, entry, entry.purpose, false, 0));
    }
  }

  /** The existing node that a bin is; undefined for those in flight or planned. */
  node(bin: Bin): SupplyNode | undefined {
    return this.world.nodes[bin];
  }

  placeOf(bucket: BucketKey): Place {
    const known = this.#placeByKey.get(bucket);
    if (known !== undefined) return known;
    const text = bucketId(bucket, true);
    let place = this.#placeByText.get(text);
    if (place === undefined) {
      const id = bucketId(bucket, false);
      const offer = this.#offers.get(id) ?? this.world.buckets.length;
      place = { index: this.places.length, bucket, offer, id };
      this.places.push(place);
      this.#needed.push({ nodes: 0, readyNodes: 0, cores: 0, readyCores: 0 });
      this.#placeByText.set(text, place);
    }
    this.#placeByKey.set(bucket, place);
    return place;
  }

  /** Preference among bins of equal order: nodes that belong to no target's group first, then by place. */
  compareKinds(a: Bin, b: Bin): number {
    const inGroup = (bin: Bin): number => (this.purpose[bin]?.kind === "group" ? 1 : 0);
    return inGroup(a) - inGroup(b) || comparePlaces(this.placeOfBin(a), this.placeOfBin(b));
  }

  placeOfBin(bin: Bin): Place {
    const place = this.places[this.place[bin] ?? -1];
    if (place === undefined) throw new RangeError(`no bin ${bin}`);
    return place;
  }

  /** Adds nodes that this plan creates. They are in nobody's hands until claimed. */
  plan(
    place: Place,
    count: number,
    offered: Offered,
    purpose: Purpose,
    attributes: NodeAttributes | undefined,
  ): Bin {
    const bin = this.#add("planned", place, count, offered, purpose, false, 0);
    if (attributes !== undefined) this.attributes.set(bin, attributes);
    let at = this.planned.length;
    while (at > 0 && this.compareKinds(this.planned[at - 1] ?? 0, bin) > 0) at -= 1;
    this.planned.splice(at, 0, bin);
    return bin;
  }

  /** Keeps `count` nodes in the bin and puts the others, in the same state, into a bin right after it, if there are any. */
  split(bin: Bin, count: number): Bin | undefined {
    const rest = (this.count[bin] ?? 0) - count;
    if (rest <= 0) return undefined;
    const other = this.count.length;
    for (const column of [this.place, this.cores, this.order]) column.push(column[bin] ?? 0);
    this.count[bin] = count;
    this.count.push(rest);
    this.origin.push(this.origin[bin] ?? "planned");
    this.ready.push(this.ready[bin] ?? false);
    this.taken.push(this.taken[bin] ?? "empty");
    this.purpose.push(this.purpose[bin] ?? { kind: "array" });
    const attributes = this.attributes.get(bin);
    if (attributes !== undefined) this.attributes.set(other, attributes);
    this.#claims.push(this.#claims[bin]);
    this.#contents.push(this.#contents[bin]);
    this.#subjects.push(this.subjectOf(bin));
    const width = this.resources.length;
    for (let r = 0; r < width; r += 1) this.free.push(this.free[bin * width + r] ?? 0);
    const list = this.origin[bin] === "in-flight" ? this.inFlight : this.planned;
    const at = list.indexOf(bin);
    if (at >= 0) list.splice(at + 1, 0, other);
    return other;
  }

  /** How many units of the ask fit on one node of the bin. */
  unitsOn(bin: Bin, ask: Ask): number {
    const taken = this.taken[bin];
    if (taken === "alone") return 0;
    const needs = ask.fit.on(this.subjectOf(bin));
    if (needs.alone && taken === "shared") return 0;
    let slots = Number.POSITIVE_INFINITY;
    const start = bin * this.resources.length;
    for (let i = 0; i < needs.resource.length; i += 1) {
      const times = (this.free[start + (needs.resource[i] ?? 0)] ?? 0) / (needs.amount[i] ?? 1);
      slots = Math.min(slots, Math.floor(times + TOLERANCE));
    }
    return unitsOf(ask, needs, slots);
  }

  /** Puts so many slots on each node of the bin, and claims it. What is free never falls below zero: bound tasks need not fit. */
  occupy(bin: Bin, ask: Ask, slots: number, bound = false): void {
    const needs = ask.fit.on(this.subjectOf(bin));
    const start = bin * this.resources.length;
    for (let i = 0; i < needs.resource.length; i += 1) {
      const at = start + (needs.resource[i] ?? 0);
      this.free[at] = Math.max(0, (this.free[at] ?? 0) - (needs.amount[i] ?? 0) * slots);
    }
    this.taken[bin] = needs.alone || this.taken[bin] === "alone" ? "alone" : "shared";
    this.#contents[bin] = { by: ask.by, slots, bound, before: this.#contents[bin] };
    this.claim(bin, ask.by);
  }

  /** What the constraints of jobs are judged on. */
  subjectOf(bin: Bin): Subject {
    const subject = this.#subjects[bin];
    if (subject === undefined) throw new RangeError(`no bin ${bin}`);
    return subject;
  }

  isClaimed(bin: Bin): boolean {
    return this.#claims[bin] !== undefined;
  }

  /** Notes that somebody needs all nodes of the bin. */
  claim(bin: Bin, by: string): void {
    const before = this.#claims[bin];
    if (before === undefined) this.#count(bin);
    const claim = before ?? this.#unclaimed;
    if (claim.names.length >= MOST_NAMES || claim.names.includes(by)) return;
    let longer = claim.longer.get(by);
    if (longer === undefined) {
      longer = { names: [...claim.names, by], longer: new Map() };
      claim.longer.set(by, longer);
    }
    this.#claims[bin] = longer;
  }

  /** What is needed in a place so far, by anybody. */
  neededAt(place: Place): Readonly<Needed> {
    return this.#needed[place.index] ?? { nodes: 0, readyNodes: 0, cores: 0, readyCores: 0 };
  }

  /** The existing nodes that are needed, by whom. */
  needed(): ReadonlyMap<NodeId, readonly string[]> {
    const needed = new Map<NodeId, readonly string[]>();
    this.world.nodes.forEach((node, bin) => {
      const claim = this.#claims[bin];
      if (claim !== undefined) needed.set(node.nodeId, claim.names);
    });
    return needed;
  }

  /** What has been put where, in the order of the bins. */
  loads(): readonly NodeLoad[] {
    const loads: NodeLoad[] = [];
    this.#contents.forEach((content, bin) => {
      if (content === undefined) return;
      const nodeId = this.node(bin)?.nodeId;
      loads.push({
        origin: this.origin[bin] ?? "planned",
        bucket: this.placeOfBin(bin).bucket,
        ...(nodeId === undefined ? {} : { nodeId }),
        count: this.count[bin] ?? 0,
        jobs: listOf(content),
      });
    });
    return loads;
  }

  #count(bin: Bin): void {
    const needed = this.#needed[this.place[bin] ?? -1];
    if (needed === undefined) return;
    const nodes = this.count[bin] ?? 0;
    const cores = nodes * (this.cores[bin] ?? 0);
    needed.nodes += nodes;
    needed.cores += cores;
    if (this.ready[bin] !== true) return;
    needed.readyNodes += nodes;
    needed.readyCores += cores;
  }

  #add(
    origin: "existing" | "in-flight" | "planned",
    place: Place,
    count: number,
    offered: Offered,
    purpose: Purpose,
    ready: boolean,
    order: number,
  ): Bin {
    const bin = this.count.length;
    this.origin.push(origin);
    this.place.push(place.index);
    this.count.push(count);
    this.cores.push(offered.cores);
    this.order.push(order);
    this.ready.push(ready);
    this.taken.push("empty");
    this.purpose.push(purpose);
    this.#claims.push(undefined);
    this.#contents.push(undefined);
    this.#subjects.push(offered);
    for (const name of this.resources) this.free.push(amountOf(offered.resources[name]));
    return bin;
  }
}

function listOf(content: Content): NodeLoad["jobs"] {
  const jobs: NodeLoad["jobs"][number][] = [];
  for (let one: Content | undefined = content; one !== undefined; one = one.before)
    jobs.push({ by: one.by, slots: one.slots, bound: one.bound });
  return jobs.toReversed();
}

/** Preference among places: the order of the buckets, then the placement group (none first), then the text. */
export function comparePlaces(a: Place, b: Place): number {
  if (a === b) return 0;
  return (
    a.offer - b.offer ||
    compareNames(a.bucket.placementGroup ?? "", b.bucket.placementGroup ?? "") ||
    compareText(bucketId(a.bucket, true), bucketId(b.bucket, true))
  );
}

/** Shorter names first, so that "pg-2" comes before "pg-10". */
export function compareNames(a: string, b: string): number {
  return a.length - b.length || compareText(a, b);
}

/** The text that identifies a bucket, whatever the spelling of its VM size. */
export function bucketId(bucket: BucketKey, withGroup: boolean): string {
  const id = `${bucket.array}/${bucket.machineType.toLowerCase()}`;
  return withGroup && bucket.placementGroup !== undefined ? `${id}/${bucket.placementGroup}` : id;
}

function purposeText(purpose: Purpose): string {
  return purpose.kind === "array" ? "" : `${purpose.key}/${purpose.group}`;
}
