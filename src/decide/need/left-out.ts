import type { Allocation } from "../../domain/allocation.ts";
import type { Aside } from "../../domain/aside.ts";
import { NONE_ASIDE } from "../../domain/aside.ts";
import { mebibytesText } from "../../domain/memory-budget.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { SetEntry } from "../../domain/request-sets.ts";
import { memoryOfEntry, partsOf } from "../../domain/request-sets.ts";
import type { Bodies } from "../../domain/bodies.ts";
import { outcomeLeftOut } from "../search/outcome.ts";
import type { LastPlan } from "../../domain/world.ts";
import { dynamicArrayOf } from "../../domain/bucket.ts";
import type { Constraint } from "../../domain/constraint.ts";
import type { Demand, RankedDemand } from "../../domain/demand.ts";
import type { ArrayName, SetName } from "../../domain/ids.ts";
import type { DemandOutcome, LeftOutSet, Plan } from "../../domain/plan.ts";
import type { LedgerNode } from "../../domain/ledger.ts";
import type { Unread } from "../senders/demands-in-force.ts";
import { takeApart } from "../constraints/requirements.ts";

const NONE_UNREAD: Unread = new Map();

/** Request sets with demands that a plan left out. It is unknown which nodes these could use, so none of these nodes is stopped. */
export class LeftOut {
  /** What was left out of each set that was read. */
  readonly bySet = new Map<SetName, readonly Demand[]>();
  readonly #demands: ReadonlySet<Demand>;
  /** The node arrays that each set names. Undefined: it could use any. */
  readonly #arrays = new Map<SetName, ReadonlySet<ArrayName> | undefined>();

  /** `aside`: sets that were not read, so they could use any node. `unread`: jobs that were not read. */
  constructor(demands: readonly RankedDemand[], aside: Aside = NONE_ASIDE, unread: Unread = NONE_UNREAD) {
    this.#demands = new Set(demands.map(({ demand }) => demand));
    const planned = Map.groupBy(demands, ({ set }) => set);
    for (const set of new Set([...planned.keys(), ...unread.keys()])) {
      const own = (planned.get(set) ?? []).map(({ demand }) => demand);
      const all = [...own, ...(unread.get(set) ?? [])];
      this.bySet.set(set, all);
      this.#arrays.set(set, namedBy(all));
    }
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
  const left = new Map<SetName, Map<string, LastPlan["demands"][number] | undefined>>();
  for (const [set, own] of Map.groupBy(leftOut, (one) => one.set))
    left.set(set, new Map(own.map(({ demand }) => [demand.id, undefined])));
  for (const one of last?.demands ?? []) {
    const ofSet = left.get(one.set);
    if (ofSet?.has(one.id) === true) ofSet.set(one.id, one);
  }
  return outcomes.map((outcome) => {
    const known = left.get(outcome.set)?.get(outcome.id);
    if (known === undefined || known.placed <= outcome.placed) return outcome;
    const placed = Math.min(outcome.asked, known.placed);
    return { ...outcome, placed, pending: Math.min(placed, known.pending ?? 0) };
  });
}

/** The node arrays that demands name. Undefined if one of them names none. */
function namedBy(demands: readonly Demand[]): ReadonlySet<ArrayName> | undefined {
  const names = new Set<ArrayName>();
  const named = [
    ...formsOf(demands).map((constraints) => takeApart(constraints).requirements.arrays),
    ...demands.flatMap((demand) => (demand.kind === "job" ? [] : [[demand.array]])),
  ];
  for (const arrays of named) {
    if (arrays === undefined) return undefined;
    for (const name of arrays) names.add(name);
  }
  return names;
}

/** The different constraints of the jobs. Jobs of one form share them. */
function formsOf(demands: readonly Demand[]): readonly (readonly Constraint[])[] {
  const forms = new Set<readonly Constraint[]>();
  for (const demand of demands) if (demand.kind === "job") forms.add(demand.constraints);
  return [...forms];
}

/**
 * The outcomes that the last plan had of jobs that it had placed, and that this one did not read (`outcomes` are those that it did). Most jobs of
 * a long queue are not placed: see {@link withUnread}.
 */
export function outcomesOfUnread(
  unread: Unread,
  outcomes: readonly DemandOutcome[],
  last: Plan | undefined,
  { sets }: Pick<ClusterRecord, "sets">,
): readonly DemandOutcome[] {
  const read = new Map<SetName, Set<DemandOutcome["id"]>>();
  for (const set of unread.keys()) {
    const entry = sets.get(set);
    if (last !== undefined && entry !== undefined && isPlanned(entry, last)) read.set(set, new Set());
  }
  if (read.size === 0) return [];
  for (const { set, id } of outcomes) read.get(set)?.add(id);
  return (last?.demands ?? []).filter(
    ({ set, id, placed }) => placed > 0 && read.get(set)?.has(id) === false,
  );
}

/** Whether a plan was made with what the set asks for. */
function isPlanned({ contentAt, acceptedAt }: SetEntry, { at }: Plan): boolean {
  return (contentAt ?? acceptedAt) <= at;
}

/** For readers: the plan with an outcome for each job that it did not read. */
export function withUnread(plan: Plan, { sets }: Pick<ClusterRecord, "sets">, bodies: Bodies): Plan {
  const more = (plan.leftOut ?? []).flatMap(({ set, unread = 0 }) => {
    const entry = sets.get(set);
    if (unread === 0 || entry === undefined || !isPlanned(entry, plan)) return [];
    const known = new Set(plan.demands.flatMap((one) => (one.set === set ? [one.id] : [])));
    const { demands = [] } = bodies.demands.get(entry.digest) ?? {};
    const others = demands.filter(({ id }) => !known.has(id));
    return others.map((demand) => outcomeLeftOut({ set, demand }, undefined, undefined));
  });
  return more.length === 0 ? plan : { ...plan, demands: [...plan.demands, ...more] };
}

/**
 * For users: the demands of each set that were left out, and why they are expensive. `defaults`: the number of default resources, if these
 * cost too much and not the demand. `unread`: how many of them have no outcome.
 */
export function describeLeftOut(
  { bySet }: LeftOut,
  unread: ReadonlyMap<SetName, number>,
  defaults: number | undefined,
): readonly LeftOutSet[] {
  const unreadOf = (set: SetName): Pick<LeftOutSet, "unread"> => {
    const count = unread.get(set) ?? 0;
    return count === 0 ? {} : { unread: count };
  };
  return [...bySet].map(([set, own]) => ({
    set,
    demands: own.length,
    first: own[0]?.id ?? "",
    ...unreadOf(set),
    ...(defaults === undefined
      ? { why: whyExpensive(own) }
      : {
          why: `${numberText(defaults, "entry", "entries")} of default_resources`,
          by: "configuration" as const,
        }),
  }));
}

function whyExpensive(own: readonly Demand[]): string {
  const [jobs, targets, groups] = [count(own, "job"), count(own, "target"), count(own, "groups")];
  const alternatives = Math.max(0, ...formsOf(own).map(alternativesIn));
  const parts = [
    jobs === 0
      ? ""
      : alternatives > 1
        ? `${numberText(jobs, "job")} with up to ${alternatives.toLocaleString("en")} alternatives each`
        : numberText(jobs, "job"),
    targets === 0 ? "" : numberText(targets, "target"),
    groups === 0 ? "" : numberText(groups, "demand for groups", "demands for groups"),
  ];
  return parts.filter((part) => part !== "").join(" and ");
}

const count = (own: readonly Demand[], wanted: Demand["kind"]): number =>
  own.filter(({ kind }) => kind === wanted).length;

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
