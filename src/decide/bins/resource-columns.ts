import type { Resources, ResourceValue } from "../../domain/resources.ts";
import { amountOf } from "../../domain/resources.ts";
import { bytesPer, isSize } from "../../domain/size.ts";
import { compareText } from "../../domain/text.ts";

/** Stands for an amount that the node does not have, or that cannot be counted. */
const NO_AMOUNT = -1;

/** The resources that the jobs of a plan take. Each has a position, and amounts are kept as rows of numbers in that order. */
export class ResourceColumns {
  readonly names: readonly string[];
  /** Positions of the two resources that most jobs take. They are equal if there is only one. */
  readonly pair: readonly [number, number];
  /** By `resources` object: nodes of a bucket share one. */
  readonly #capacities = new Map<Resources, Float64Array>();

  /** `named`: the resources, each with the number of constraints that name it. */
  constructor(named: ReadonlyMap<string, number>) {
    const entries = [...named].sort(([a], [b]) => compareText(a, b));
    this.names = entries.map(([name]) => name);
    const byUse = entries.map((_, r) => r).sort((a, b) => (entries[b]?.[1] ?? 0) - (entries[a]?.[1] ?? 0));
    this.pair = [byUse[0] ?? 0, byUse[1] ?? byUse[0] ?? 0];
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

export function surveyResources(names: readonly string[], kinds: readonly SurveyedKind[]): Survey {
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
