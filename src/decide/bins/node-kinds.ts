import type { BucketOffer, World } from "../../domain/world.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import type { Resources, ResourceValue } from "../../domain/resources.ts";
import { amountOf } from "../../domain/resources.ts";
import { bytesPer, isSize } from "../../domain/size.ts";
import { compareText } from "../../domain/text.ts";
import type { NodeView } from "../../domain/node-view.ts";
import type { Budget } from "../constraints/budget.ts";
import type { Subject } from "./empty-node-fit.ts";
import { viewOf } from "./empty-node-fit.ts";
import { bucketId, bucketIdWithoutGroup } from "../../domain/bucket.ts";

/** One array x VM size x placement group. */
export interface Place {
  readonly index: number;
  readonly bucket: BucketKey;
  /** Position of its bucket among the world's offers; beyond the last: new nodes are not offered there. */
  readonly offer: number;
  /** Text of its bucket without the placement group. */
  readonly id: string;
}

/** Nodes of one place with the same resources: what constraints say of one they say of all. */
export interface Kind {
  readonly index: number;
  readonly place: Place;
  readonly subject: Subject;
  /** What an empty node offers, by position of the resource, sizes in bytes; -1: nothing that could be counted. */
  readonly capacity: Float64Array;
  /** An empty node as constraints see it; made when one asks. */
  readonly view: () => NodeView;
}

/**
 * What stays the same while a plan is made, however often it is tried: the places and kinds of nodes of a world. Generated placement groups
 * add to it.
 */
export class Ground {
  readonly world: World;
  /** Every search counts its steps here. */
  readonly budget: Budget;
  /** Names of the resources that any job takes; amounts follow this order. */
  readonly resources: readonly string[];
  readonly places: Place[] = [];
  readonly kinds: Kind[] = [];
  /** By existing node, by entry in flight, and by offer. */
  readonly nodeKinds: readonly Kind[];
  readonly inFlightKinds: readonly Kind[];
  readonly offerKinds: readonly Kind[];
  /** By existing node, whatever the spelling of its VM size. */
  readonly #offers = new Map<string, number>();
  readonly #placeByKey = new Map<BucketKey, Place>();
  readonly #placeByText = new Map<string, Place>();
  readonly #kinds = new Map<Place, Map<Resources, Kind>>();
  readonly #kindByOffer = new Map<NewNode, Kind>();
  readonly #newSubjects = new Map<Place, Subject>();
  /** Existing nodes as constraints see them: hundreds of jobs may judge each node by its name. */
  readonly #views = new Map<Subject, NodeView>();
  readonly #named: Readonly<Record<Naming, KindsByName>> = {
    nodearray: { known: 0, byName: new Map() },
    vm_size: { known: 0, byName: new Map() },
  };
  readonly #capacities = new Map<Resources, Float64Array>();
  /** The position of a resource that no node has, if jobs name one: those of which no amounts are kept stand there too. */
  readonly nowhere: number | undefined;
  /** The most that a node has of each resource. */
  readonly largest: readonly number[];
  /** The two resources that most jobs take; twice the same where there is one. */
  readonly pair: readonly [number, number];
  readonly #units: readonly (number | "mixed")[];

  /** Resources with how many constraints name them. */
  constructor(world: World, named: ReadonlyMap<string, number>, budget: Budget) {
    this.world = world;
    this.budget = budget;
    const resources = [...named.keys()].sort(compareText);
    this.resources = resources;
    const most = resources.map((_, r) => r);
    most.sort((a, b) => (named.get(resources[b] ?? "") ?? 0) - (named.get(resources[a] ?? "") ?? 0));
    this.pair = [most[0] ?? 0, most[1] ?? most[0] ?? 0];
    world.buckets.forEach((offer, index) => this.#offers.set(bucketIdWithoutGroup(offer.bucket), index));
    this.nodeKinds = world.nodes.map((node) => {
      const place = this.placeOf(node.bucket);
      const isSpot = node.properties === undefined && world.buckets[place.offer]?.spot === true;
      return this.kindOf(place, isSpot ? { ...node, spot: true } : node);
    });
    this.inFlightKinds = world.inFlight.map((entry) => this.kindOf(this.placeOf(entry.bucket), entry));
    this.offerKinds = world.buckets.map((offer) => this.kindOf(this.placeOf(offer.bucket), offer));
    this.nowhere = resources
      .map((_, r) => r)
      .find((r) => this.kinds.every(({ capacity }) => (capacity[r] ?? 0) < 0));
    this.#units = resources.map((name) => commonUnit(this.kinds, name));
    this.largest = resources.map((_, r) =>
      this.kinds.reduce((largest, { capacity }) => Math.max(largest, capacity[r] ?? 0), 1e-300),
    );
  }

  /** How many of the base unit a plain number of this resource means: bytes where it is a size; `mixed` if that differs between kinds. */
  unitOf(position: number): number | "mixed" {
    return this.#units[position] ?? 1;
  }

  placeOf(bucket: BucketKey): Place {
    const known = this.#placeByKey.get(bucket);
    if (known !== undefined) return known;
    const text = bucketId(bucket);
    let place = this.#placeByText.get(text);
    if (place === undefined) {
      const id = bucketIdWithoutGroup(bucket);
      const offer = this.#offers.get(id) ?? this.world.buckets.length;
      place = { index: this.places.length, bucket, offer, id };
      this.places.push(place);
      this.#placeByText.set(text, place);
    }
    this.#placeByKey.set(bucket, place);
    return place;
  }

  kindOf(place: Place, subject: Subject): Kind {
    const ofPlace = this.#kinds.get(place) ?? new Map<Resources, Kind>();
    this.#kinds.set(place, ofPlace);
    const known = ofPlace.get(subject.resources);
    if (known !== undefined) return known;
    let view: NodeView | undefined;
    const kind: Kind = {
      index: this.kinds.length,
      place,
      subject,
      capacity: this.#capacityOf(subject.resources),
      view: () => {
        view ??= viewOf(subject);
        return view;
      },
    };
    this.kinds.push(kind);
    ofPlace.set(subject.resources, kind);
    return kind;
  }

  /** The kinds whose property has one of these values, in their order: a job that names its arrays or VM sizes need not ask the others. */
  kindsNamed(property: Naming, names: readonly string[]): readonly Kind[] {
    const named = this.#named[property];
    for (; named.known < this.kinds.length; named.known += 1) {
      const kind = this.kinds[named.known];
      const name = kind?.view().properties[property];
      if (kind === undefined || typeof name !== "string") continue;
      const alike = named.byName.get(name);
      if (alike === undefined) named.byName.set(name, [kind]);
      else alike.push(kind);
    }
    const found = [...new Set(names)].flatMap((name) => named.byName.get(name) ?? []);
    return found.sort((a, b) => a.index - b.index);
  }

  /** The kind of a new node of an offer of this world, in its own placement group or in none. */
  kindOfOffer(offer: BucketOffer): Kind {
    return this.kindOfNew(offer, this.placeOf(offer.bucket));
  }

  /** The kind of a new node of the offer, in a placement group or in none. */
  kindOfNew(offer: NewNode, place: Place): Kind {
    if (place.bucket !== offer.bucket) return this.kindOf(place, inGroup(offer, place.bucket));
    let kind = this.#kindByOffer.get(offer);
    if (kind === undefined) {
      kind = this.kindOf(place, offer);
      this.#kindByOffer.set(offer, kind);
    }
    return kind;
  }

  /**
   * What constraints are judged on for a new node of the offer there. Its kind may be that of nodes that exist, where they are told of with
   * the same object; but they have names, and a new node has none.
   */
  subjectOfNew(offer: NewNode, place: Place): Subject {
    if (offer.counterpartOf !== undefined) return inGroup(offer, place.bucket);
    let subject = this.#newSubjects.get(place);
    if (subject === undefined) {
      subject = inGroup(offer, place.bucket);
      this.#newSubjects.set(place, subject);
    }
    return subject;
  }

  /** A subject as constraints see it, empty. That of an existing node is made once. */
  viewOf(subject: Subject): NodeView {
    if (subject.nodeId === undefined) return viewOf(subject);
    let view = this.#views.get(subject);
    if (view === undefined) {
      view = viewOf(subject);
      this.#views.set(subject, view);
    }
    return view;
  }

  #capacityOf(resources: Resources): Float64Array {
    const known = this.#capacities.get(resources);
    if (known !== undefined) return known;
    const capacity = Float64Array.from(this.resources, (name) => countable(resources[name]));
    this.#capacities.set(resources, capacity);
    return capacity;
  }
}

/** Properties by which jobs commonly name where they may run. */
type Naming = "nodearray" | "vm_size";

interface KindsByName {
  /** So many of the kinds have been sorted in. */
  known: number;
  readonly byName: Map<string, Kind[]>;
}

/** What is known of new nodes of an offer. */
export type NewNode = Pick<
  BucketOffer,
  | "bucket"
  | "resources"
  | "properties"
  | "cores"
  | "capacityFailureSeconds"
  | "inGroup"
  | "spot"
  | "counterpartOf"
>;

/** What a new node is once it is in a placement group. */
export function inGroup(offer: NewNode, bucket: BucketKey): Subject {
  const group = bucket.placementGroup;
  if (group === undefined || group === offer.bucket.placementGroup) return offer;
  const { properties, resources } = offer.inGroup?.(group) ?? offer;
  const { capacityFailureSeconds, spot } = offer;
  return {
    bucket,
    resources,
    ...(spot === undefined ? {} : { spot }),
    ...(capacityFailureSeconds === undefined ? {} : { capacityFailureSeconds }),
    ...(properties === undefined
      ? {}
      : { properties: () => ({ ...properties(), placement_group: group, colocated: true }) }),
  };
}

function countable(value: ResourceValue | undefined): number {
  if (typeof value === "boolean") return Number(value);
  return typeof value === "number" || isSize(value) ? amountOf(value) : -1;
}

function commonUnit(kinds: readonly Kind[], name: string): number | "mixed" {
  let common: number | undefined;
  const seen = new Set<Resources>();
  for (const { subject } of kinds) {
    if (seen.has(subject.resources)) continue;
    seen.add(subject.resources);
    const value = subject.resources[name];
    if (countable(value) < 0) continue;
    const unit = isSize(value) ? bytesPer(value.unit) : 1;
    if (common !== undefined && common !== unit) return "mixed";
    common = unit;
  }
  return common ?? 1;
}

/** Preference among places: the order of the buckets, then the placement group (none first), then the text. */
export function comparePlaces(a: Place, b: Place): number {
  if (a === b) return 0;
  return (
    a.offer - b.offer ||
    compareNames(a.bucket.placementGroup ?? "", b.bucket.placementGroup ?? "") ||
    compareText(bucketId(a.bucket), bucketId(b.bucket))
  );
}

/** Shorter names first, so that "pg-2" comes before "pg-10". */
export function compareNames(a: string, b: string): number {
  return a.length - b.length || compareText(a, b);
}
