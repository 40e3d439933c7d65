import type { Allocation } from "../../domain/allocation.ts";
import { mebibytesText } from "../../domain/memory-budget.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { SetEntry, Aside } from "../../domain/request-sets.ts";
import { memoryOfEntry, partsOf, NONE_ASIDE } from "../../domain/request-sets.ts";
import type { Bodies } from "../../domain/bodies.ts";
import { outcomeLeftOut } from "../search/outcomes.ts";
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
  /** What was left out of the sets that were read. */
  readonly planned: ReadonlyMap<SetName, readonly RankedDemand[]>;
  readonly unread: Unread;
  readonly #demands: ReadonlySet<Demand>;
  /** The node arrays that each set names. Undefined: it could use any. */
  readonly #arrays = new Map<SetName, ReadonlySet<ArrayName> | undefined>();

  /** `aside`: sets that were not read, so they could use any node. `unread`: jobs that were not read. */
  constructor(demands: readonly RankedDemand[], aside: Aside = NONE_ASIDE, unread: Unread = NONE_UNREAD) {
    this.unread = unread;
    this.#demands = new Set(demands.map(({ demand }) => demand));
    this.planned = Map.groupBy(demands, ({ set }) => set);
    for (const [set, own] of this.planned)
      this.#arrays.set(set, namedBy(formsOf(own.map(({ demand }) => demand))));
    // All demands of the set, those that were read, too: to tell them apart takes as long as to read them.
    for (const [set, { all }] of unread) this.#arrays.set(set, namedBy(knownFormsOf(all)));
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
function namedBy({ constraints, arrays }: Forms): ReadonlySet<ArrayName> | undefined {
  const names = new Set<ArrayName>(arrays);
  for (const form of constraints) {
    const named = takeApart(form).requirements.arrays;
    if (named === undefined) return undefined;
    for (const name of named) names.add(name);
  }
  return names;
}

/** What differs between demands: the constraints of the jobs, which those of one form share, and the arrays of the others. */
interface Forms {
  readonly constraints: ReadonlySet<readonly Constraint[]>;
  readonly arrays: ReadonlySet<ArrayName>;
}

function formsOf(demands: readonly Demand[]): Forms {
  const constraints = new Set<readonly Constraint[]>();
  const arrays = new Set<ArrayName>();
  for (const demand of demands)
    if (demand.kind === "job") constraints.add(demand.constraints);
    else arrays.add(demand.array);
  return { constraints, arrays };
}

/** The same of all demands of a set. They are looked through once: while a sender rests, that would be half of each plan for others. */
function knownFormsOf(all: readonly Demand[]): Forms {
  const forms = known.get(all) ?? formsOf(all);
  known.set(all, forms);
  return forms;
}

const known = new WeakMap<readonly Demand[], Forms>();

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
 * cost too much and not the demand. `withoutOutcome`: of how many the plan has no outcome.
 */
export function describeLeftOut(
  { planned, unread }: LeftOut,
  withoutOutcome: ReadonlyMap<SetName, number>,
  defaults: number | undefined,
): readonly LeftOutSet[] {
  return [...new Set([...planned.keys(), ...unread.keys()])].map((set) => {
    const own = (planned.get(set) ?? []).map(({ demand }) => demand);
    const { all = [], from = 0 } = unread.get(set) ?? {};
    const without = withoutOutcome.get(set) ?? 0;
    return {
      set,
      demands: own.length + all.length - from,
      first: own[0]?.id ?? all[from]?.id ?? "",
      ...(without === 0 ? {} : { unread: without }),
      ...(defaults === undefined
        ? { why: whyExpensive(own, all.length - from, all.length === 0 ? formsOf(own) : knownFormsOf(all)) }
        : {
            why: `${numberText(defaults, "entry", "entries")} of default_resources`,
            by: "configuration" as const,
          }),
    };
  });
}

/** `more`: the number of jobs besides. */
function whyExpensive(own: readonly Demand[], more: number, { constraints }: Forms): string {
  const targets = own.filter(({ kind }) => kind === "target").length;
  const groups = own.filter(({ kind }) => kind === "groups").length;
  const jobs = own.length - targets - groups + more;
  const alternatives = [...constraints].reduce((most, form) => Math.max(most, alternativesIn(form)), 0);
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
