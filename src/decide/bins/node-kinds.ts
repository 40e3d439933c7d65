import type { BucketOffer, World } from "../../domain/world.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import type { Resources, ResourceValue } from "../../domain/resources.ts";
import { compareText } from "../../domain/text.ts";
import type { NodeView } from "../../domain/node-view.ts";
import type { Budget } from "../constraints/budget.ts";
import type { Subject } from "./empty-node-fit.ts";
import { viewOf } from "./empty-node-fit.ts";
import { bucketId, bucketIdWithoutGroup } from "../../domain/bucket.ts";
import type { NewNode } from "./new-node.ts";
import { inGroup } from "./new-node.ts";
import { amountOf } from "../../domain/resources.ts";
import { bytesPer, isSize } from "../../domain/size.ts";

/** A bucket as a plan counts it: node array x VM size x placement group or none. */
export interface Place {
  readonly index: number;
  readonly bucket: BucketKey;
  /** Position of its bucket among the world's offers. Behind the last one if no new nodes are offered there. */
  readonly offer: number;
  /** Text of its bucket without the placement group. */
  readonly id: string;
}

/** Nodes of one place with the same resources. Constraints that do not name single nodes give the same answer for all of them. */
export interface Kind {
  readonly index: number;
  readonly place: Place;
  readonly subject: Subject;
  /** What an empty node offers, by position of the resource, sizes in bytes. Below 0: no amount that can be counted. */
  readonly capacity: Float64Array;
  /** An empty node as constraints see it. Made on first use. */
  readonly view: () => NodeView;
}

/** What all tries at a plan have in common: the places and kinds of nodes of a world. New placement groups add places and kinds. */
export class Ground {
  readonly world: World;
  /** Every search charges its steps here. */
  readonly budget: Budget;
  /** Names of the resources that any job takes. Amounts follow this order. */
  readonly resources: readonly string[];
  readonly places: Place[] = [];
  readonly kinds: Kind[] = [];
  /** By existing node, by entry in flight, and by offer. */
  readonly nodeKinds: readonly Kind[];
  readonly inFlightKinds: readonly Kind[];
  readonly offerKinds: readonly Kind[];
  /** Position of a resource that no node has, if jobs name one. Resources that are not counted share this position. */
  readonly nowhere: number | undefined;
  /** The most that a node has of each resource. */
  readonly largest: readonly number[];
  readonly #columns: ResourceColumns;
  readonly #units: readonly (number | "mixed")[];
  /** Position of each offer, by the text of its bucket. Nodes may spell their VM size in another case. */
  readonly #offers = new Map<string, number>();
  readonly #placeByText = new Map<string, Place>();
  readonly #kinds = new Map<Place, Map<Resources, Kind>>();
  /**
   * Existing nodes as constraints see them. Hundreds of jobs may test each node by its name: 20,000 jobs with patterns of host names
   * (test/support/hostile-clusters.ts) take 1.5 times as long without it.
   */
  readonly #views = new Map<Subject, NodeView>();
  /** `named`: the resources that are counted, each with the number of constraints that name it. */
  constructor(world: World, named: ReadonlyMap<string, number>, budget: Budget) {
    this.world = world;
    this.budget = budget;
    this.#columns = new ResourceColumns(named);
    const { names } = this.#columns;
    this.resources = names;
    world.buckets.forEach((offer, index) => this.#offers.set(bucketIdWithoutGroup(offer.bucket), index));
    this.nodeKinds = world.nodes.map((node) => {
      const place = this.placeOf(node.bucket);
      const isSpot = node.properties === undefined && world.buckets[place.offer]?.spot === true;
      return this.kindOf(place, isSpot ? { ...node, spot: true } : node);
    });
    this.inFlightKinds = world.inFlight.map((entry) => this.kindOf(this.placeOf(entry.bucket), entry));
    this.offerKinds = world.buckets.map((offer) => this.kindOf(this.placeOf(offer.bucket), offer));
    const survey = surveyResources(names, this.kinds);
    this.nowhere = survey.nowhere;
    this.largest = survey.largest;
    this.#units = survey.units;
  }

  /** How many base units a plain number of this resource means: see {@link surveyResources}. */
  unitOf(position: number): number | "mixed" {
    return this.#units[position] ?? 1;
  }

  placeOf(bucket: BucketKey): Place {
    const text = bucketId(bucket);
    let place = this.#placeByText.get(text);
    if (place === undefined) {
      const id = bucketIdWithoutGroup(bucket);
      const offer = this.#offers.get(id) ?? this.world.buckets.length;
      place = { index: this.places.length, bucket, offer, id };
      this.places.push(place);
      this.#placeByText.set(text, place);
    }
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
      capacity: this.#columns.rowOf(subject.resources),
      view: () => {
        view ??= viewOf(subject);
        return view;
      },
    };
    this.kinds.push(kind);
    ofPlace.set(subject.resources, kind);
    return kind;
  }

  /** The kind of a new node of an offer of this world, in its own placement group or in none. */
  kindOfOffer(offer: BucketOffer): Kind {
    return this.kindOfNew(offer, this.placeOf(offer.bucket));
  }

  /** The kind of a new node of the offer, in a placement group or in none. */
  kindOfNew(offer: NewNode, place: Place): Kind {
    return this.kindOf(place, inGroup(offer, place.bucket));
  }

  /**
   * A new node of the offer as constraints see it. Its kind may be that of existing nodes, if these are described by the same objects. But
   * existing nodes have names, and a new node has none.
   */
  subjectOfNew(offer: NewNode, place: Place): Subject {
    return inGroup(offer, place.bucket);
  }

  /** An empty node as constraints see it. The view of an existing node is made once. */
  viewOf(subject: Subject): NodeView {
    if (subject.nodeId === undefined) return viewOf(subject);
    let view = this.#views.get(subject);
    if (view === undefined) {
      view = viewOf(subject);
      this.#views.set(subject, view);
    }
    return view;
  }
}

/** The order of preference among places: by bucket, then by placement group (none first), then by text. */
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

/** Stands for an amount that the node does not have, or that cannot be counted. */
const NO_AMOUNT = -1;

/** The resources that the jobs of a plan take. Each has a position, and amounts are kept as rows of numbers in that order. */
class ResourceColumns {
  readonly names: readonly string[];
  /** By `resources` object: nodes of a bucket share one. */
  readonly #capacities = new Map<Resources, Float64Array>();

  /** `named`: the resources, each with the number of constraints that name it. */
  constructor(named: ReadonlyMap<string, number>) {
    const entries = [...named].sort(([a], [b]) => compareText(a, b));
    this.names = entries.map(([name]) => name);
  }

  /** The amounts by position, sizes in bytes. Below 0: there is no amount. */
  rowOf(resources: Resources): Float64Array {
    const known = this.#capacities.get(resources);
    if (known !== undefined) return known;
    const row = new Float64Array(this.names.length);
    this.names.forEach((name, r) => {
      row[r] = countable(resources[name]);
    });
    this.#capacities.set(resources, row);
    return row;
  }
}

/** What the nodes of a world have of each resource, by position. */
interface Survey {
  /** Position of a resource that no node has. Undefined if there is none. */
  readonly nowhere: number | undefined;
  /** The most that a node has. Above 0, because other amounts are divided by it. */
  readonly largest: readonly number[];
  /**
   * How many base units a plain number of the resource means: the bytes of the unit where it is a size, else 1. `mixed` if nodes differ in
   * that.
   */
  readonly units: readonly (number | "mixed")[];
}

interface SurveyedKind {
  readonly subject: { readonly resources: Resources };
  readonly capacity: Float64Array;
}

function surveyResources(names: readonly string[], kinds: readonly SurveyedKind[]): Survey {
  const isNowhere = (r: number): boolean => kinds.every(({ capacity }) => (capacity[r] ?? 0) < 0);
  const resources = new Set(kinds.map(({ subject }) => subject.resources));
  return {
    nowhere: names.map((_, r) => r).find(isNowhere),
    largest: names.map((_, r) =>
      kinds.reduce((largest, { capacity }) => Math.max(largest, capacity[r] ?? 0), 1e-300),
    ),
    units: names.map((name) => commonUnit(resources, name)),
  };
}

function commonUnit(nodes: Iterable<Resources>, name: string): number | "mixed" {
  let common: number | undefined;
  for (const resources of nodes) {
    const value = resources[name];
    if (countable(value) < 0) continue;
    const unit = isSize(value) ? bytesPer(value.unit) : 1;
    if (common !== undefined && common !== unit) return "mixed";
    common = unit;
  }
  return common ?? 1;
}

function countable(value: ResourceValue | undefined): number {
  if (typeof value === "boolean") return Number(value);
  return typeof value === "number" || isSize(value) ? amountOf(value) : NO_AMOUNT;
}
