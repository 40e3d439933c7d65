import type { Allocation } from "../../domain/allocation.ts";
import type { LastPlan } from "../../domain/world.ts";
import { dynamicArrayOf } from "../../domain/bucket.ts";
import type { Constraint } from "../../domain/constraint.ts";
import type { Demand, RankedDemand } from "../../domain/demand.ts";
import type { ArrayName, SetName } from "../../domain/ids.ts";
import type { DemandOutcome, LeftOutSet } from "../../domain/plan.ts";
import type { LedgerNode } from "../../domain/ledger.ts";
import { takeApart } from "../constraints/requirements.ts";

/** Request sets of which a plan has left demands out: what these could use is not known, so nothing of it is stopped. */
export class LeftOut {
  readonly #demands: ReadonlySet<Demand>;
  /** The node arrays that each set names; undefined: it could use any. */
  readonly #arrays = new Map<SetName, ReadonlySet<ArrayName> | undefined>();

  constructor(demands: readonly RankedDemand[]) {
    this.#demands = new Set(demands.map(({ demand }) => demand));
    for (const [set, own] of Map.groupBy(demands, (one) => one.set)) this.#arrays.set(set, namedBy(own));
  }

  get none(): boolean {
    return this.#demands.size === 0;
  }

  /** The set that may need a node; undefined: none does. */
  setFor({ array, purpose }: Pick<LedgerNode, "array" | "purpose">): SetName | undefined {
    const dynamic = dynamicArrayOf(purpose);
    for (const [set, arrays] of this.#arrays)
      if (arrays === undefined || arrays.has(array) || (dynamic !== undefined && arrays.has(dynamic)))
        return set;
    return undefined;
  }

  /** The demands that were planned. */
  others(demands: readonly RankedDemand[]): readonly RankedDemand[] {
    return this.none ? demands : demands.filter(({ demand }) => !this.#demands.has(demand));
  }
}

/** What became of all demands, where what was left out has what the last plan had placed of it. */
export function withLastPlaced(
  { outcomes, leftOut }: Pick<Allocation, "outcomes" | "leftOut">,
  last: LastPlan | undefined,
): readonly DemandOutcome[] {
  const keyOf = (set: SetName, id: string): string => `${set}/${id}`;
  const left = new Set(leftOut.map(({ set, demand }) => keyOf(set, demand.id)));
  const before = new Map((last?.demands ?? []).map((one) => [keyOf(one.set, one.id), one]));
  return outcomes.map((outcome) => {
    const key = keyOf(outcome.set, outcome.id);
    const known = left.has(key) ? before.get(key) : undefined;
    if (known === undefined || known.placed <= outcome.placed) return outcome;
    const placed = Math.min(outcome.asked, known.placed);
    return { ...outcome, placed, pending: Math.min(placed, known.pending ?? 0) };
  });
}

/** The node arrays that demands name; undefined: some of them name none. */
function namedBy(demands: readonly RankedDemand[]): ReadonlySet<ArrayName> | undefined {
  const names = new Set<ArrayName>();
  for (const { demand } of demands) {
    const arrays = demand.kind === "job" ? takeApart(demand.constraints).requirements.arrays : [demand.array];
    if (arrays === undefined) return undefined;
    for (const name of arrays) names.add(name);
  }
  return names;
}

/** For people: what was left out of each set, and what makes it dear. */
export function describeLeftOut(leftOut: readonly RankedDemand[]): readonly LeftOutSet[] {
  return [...Map.groupBy(leftOut, ({ set }) => set)].map(([set, own]) => ({
    set,
    demands: own.length,
    first: own[0]?.demand.id ?? "",
    why: whyDear(own),
  }));
}

function whyDear(own: readonly RankedDemand[]): string {
  const jobs = own.flatMap(({ demand }) => (demand.kind === "job" ? [demand] : []));
  const [targets, groups] = [count(own, "target"), count(own, "groups")];
  const alternatives = jobs.reduce((most, { constraints }) => Math.max(most, alternativesIn(constraints)), 0);
  const parts = [
    jobs.length === 0
      ? ""
      : alternatives > 1
        ? `${numberText(jobs.length, "job")} with up to ${alternatives.toLocaleString("en")} alternatives each`
        : numberText(jobs.length, "job"),
    targets === 0 ? "" : numberText(targets, "target"),
    groups === 0 ? "" : numberText(groups, "demand for groups", "demands for groups"),
  ];
  return parts.filter((part) => part !== "").join(" and ");
}

const count = (own: readonly RankedDemand[], kind: Demand["kind"]): number =>
  own.filter(({ demand }) => demand.kind === kind).length;

function numberText(amount: number, one: string, many = `${one}s`): string {
  return `${amount.toLocaleString("en")} ${amount === 1 ? one : many}`;
}

/** The alternatives and listed values of the constraint that has most of them. */
function alternativesIn(constraints: readonly Constraint[]): number {
  return constraints.reduce((most, one) => Math.max(most, alternativesOf(one)), 0);
}

function alternativesOf(constraint: Constraint): number {
  switch (constraint.kind) {
    case "property-choice":
    case "resource-choice":
      return constraint.choices.length;
    case "or":
    case "xor":
      return Math.max(constraint.of.length, alternativesIn(constraint.of));
    case "and":
      return alternativesIn(constraint.of);
    case "not":
      return alternativesOf(constraint.of);
    default:
      return 1;
  }
}
