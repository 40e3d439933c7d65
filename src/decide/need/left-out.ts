import type { Allocation } from "../../domain/allocation.ts";
import type { Aside } from "../../domain/aside.ts";
import { NONE_ASIDE } from "../../domain/aside.ts";
import { mebibytesText } from "../../domain/memory-budget.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { memoryOfEntry, partsOf } from "../../domain/request-sets.ts";
import type { LastPlan } from "../../domain/world.ts";
import { dynamicArrayOf } from "../../domain/bucket.ts";
import type { Constraint } from "../../domain/constraint.ts";
import type { Demand, RankedDemand } from "../../domain/demand.ts";
import type { ArrayName, SetName } from "../../domain/ids.ts";
import type { DemandOutcome, LeftOutSet } from "../../domain/plan.ts";
import type { LedgerNode } from "../../domain/ledger.ts";
import { takeApart } from "../constraints/requirements.ts";

/** Request sets with demands that a plan left out. It is unknown which nodes these could use, so none of these nodes is stopped. */
export class LeftOut {
  readonly #demands: ReadonlySet<Demand>;
  /** The node arrays that each set names. Undefined: it could use any. */
  readonly #arrays = new Map<SetName, ReadonlySet<ArrayName> | undefined>();

  /** `aside`: sets that were not read, so they could use any node. */
  constructor(demands: readonly RankedDemand[], aside: Aside = NONE_ASIDE) {
    this.#demands = new Set(demands.map(({ demand }) => demand));
    for (const [set, own] of Map.groupBy(demands, (one) => one.set)) this.#arrays.set(set, namedBy(own));
    for (const set of aside.keys()) this.#arrays.set(set, undefined);
  }

  get none(): boolean {
    return this.#arrays.size === 0;
  }

  /** A set that may need the node. Undefined: none. */
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

/** For users: the sets that a plan did not read. */
export function describeAside(aside: Aside, record: ClusterRecord): readonly LeftOutSet[] {
  return [...aside].map(([set, why]) => {
    const size = partsOf(record, set).reduce(
      (sum, entry) => ({
        jobs: sum.jobs + (entry?.size?.jobs ?? 0),
        memory: sum.memory + (entry?.live === true ? memoryOfEntry(entry) : 0),
      }),
      { jobs: 0, memory: 0 },
    );
    const what = `${numberText(size.jobs, "job")} (${mebibytesText(size.memory)} of memory)`;
    return { set, demands: size.jobs, first: "", why: what, aside: why };
  });
}

/** The outcomes of all demands. A demand that was left out keeps what the last plan placed of it. */
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

/** The node arrays that demands name. Undefined if one of them names none. */
function namedBy(demands: readonly RankedDemand[]): ReadonlySet<ArrayName> | undefined {
  const names = new Set<ArrayName>();
  for (const { demand } of demands) {
    const arrays = demand.kind === "job" ? takeApart(demand.constraints).requirements.arrays : [demand.array];
    if (arrays === undefined) return undefined;
    for (const name of arrays) names.add(name);
  }
  return names;
}

/**
 * For users: the demands of each set that were left out, and why they are expensive. `defaults`: the number of default resources, if these
 * cost too much and not the demand.
 */
export function describeLeftOut(
  leftOut: readonly RankedDemand[],
  defaults: number | undefined,
): readonly LeftOutSet[] {
  return [...Map.groupBy(leftOut, ({ set }) => set)].map(([set, own]) => ({
    set,
    demands: own.length,
    first: own[0]?.demand.id ?? "",
    ...(defaults === undefined
      ? { why: whyExpensive(own) }
      : {
          why: `${numberText(defaults, "entry", "entries")} of default_resources`,
          by: "configuration" as const,
        }),
  }));
}

function whyExpensive(own: readonly RankedDemand[]): string {
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

/** The largest number of alternatives or listed values of one constraint. */
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
