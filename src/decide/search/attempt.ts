import type { AllocationPolicy, World } from "../../domain/allocation.ts";
import type { Demand, GroupDemand, RankedDemand, TargetDemand } from "../../domain/demand.ts";
import type { DemandOutcome } from "../../domain/plan.ts";
import type { SharedState } from "../../domain/node-view.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Instant } from "../../domain/units.ts";
import type { Entry } from "../bins/entry.ts";
import { putAsBefore } from "./as-before.ts";
import type { Ask } from "../bins/job-ask.ts";
import { Bins } from "../bins/bins.ts";
import type { Bindings } from "../bins/bound-slots.ts";
import { BucketOrder } from "../bucket-order/bucket-order.ts";
import { holderOf } from "../draft/caps.ts";
import { inMarketOf } from "../world/counterparts.ts";
import type { Budget } from "../constraints/budget.ts";
import type { Draft, Way } from "../draft/draft.ts";
import { beginDraft } from "../draft/draft.ts";
import { presentBinding, standingBinding } from "../why/remedies.ts";
import { gatherReasons } from "../why/fold-reasons.ts";
import { raiseFloor } from "../place/targets.ts";
import { placeJob } from "../place/jobs.ts";
import type { NodeOrder } from "../bins/node-order.ts";
import type { Ground, Place } from "../bins/node-kinds.ts";
import { raiseGroups } from "../place/groups.ts";
import type { Progress } from "../place/pack.ts";
import { packOn } from "../place/pack.ts";
import type { Explained } from "../why/unmet.ts";
import { explainGroups, explainJob, explainTarget } from "../why/unmet.ts";
import type { Scope, Wanted } from "../bins/scope.ts";
import type { BucketIndex } from "../bins/scope.ts";
import { indexBuckets, scopeOf } from "../bins/scope.ts";
import type { Shape } from "../bins/shape.ts";
import { shrinkShared } from "./shrink.ts";
import { Telling } from "../why/reason-budget.ts";

/** What is to be settled, made ready once for all tries. */
export interface Problem {
  readonly ground: Ground;
  readonly order: NodeOrder;
  /** What is to be settled, in the order of rank. */
  readonly entries: readonly Entry[];
  /** Demands that cost too much to be read. */
  readonly unread: readonly Unread[];
  /** How many kinds of them there are: classes of jobs, and each target and request for groups. */
  readonly kinds: number;
  readonly bindings: Bindings;
  readonly scopes: Scopes;
  /** Pools to begin with, and the values of shared marks. */
  readonly shared: SharedState;
  /** The least that any job takes of each resource. */
  readonly least: readonly number[];
  readonly policy: AllocationPolicy;
  readonly now: Instant;
}

/** A demand that was not even made ready. */
export interface Unread extends RankedDemand {
  readonly rank: number;
}

/** One try at a plan, and what came of it. */
export interface Attempt {
  readonly draft: Draft;
  /** Demands that cost more steps than their set may spend: nothing more is placed of them. In the order of settling. */
  readonly leftOut: readonly Unread[];
  /** In the order of rank. */
  readonly outcomes: readonly DemandOutcome[];
  /** New nodes, and deallocated ones started. */
  readonly created: number;
  /** How jobs found their places; only of `bucket-order`. */
  readonly order?: BucketOrder;
  /** What these cost an hour; nodes without a price count for nothing here. */
  readonly price: number;
}

/** Settles the entries in the order given. */
export function attempt(problem: Problem, way: Way, entries: readonly Entry[], tells: boolean): Attempt {
  const bins = new Bins(problem.ground, problem.order, problem.shared.left, problem.least);
  const draft = beginDraft(bins, problem, way);
  for (const { bin, ask, slots } of problem.bindings.slots) {
    bins.occupy(bin, ask, slots, true);
    draft.caps.hold(holderOf(ask), bins, bin);
    draft.bound.set(ask.demand, (draft.bound.get(ask.demand) ?? new Set()).add(bin));
  }
  const { scopes } = problem;
  const telling = tells ? new Telling(problem.policy.preference === "existing-first") : undefined;
  const order =
    problem.policy.preference === "bucket-order"
      ? new BucketOrder(draft, problem.shared, telling)
      : undefined;
  const outcomes: DemandOutcome[] = [];
  const { homes } = problem.bindings;
  const run: Run = { draft, scopes, homes, order, telling };
  // Read only where it counts: a plan that was made without it is the same after any other.
  const last = way.asBefore === true ? problem.ground.world.last?.() : undefined;
  const kept = last !== undefined ? putAsBefore(draft, entries, homes, last) : NOTHING_KEPT;
  if (way.opening === "shared") for (const entry of entries) countToPlace(draft, entry, 1);
  const { budget } = problem.ground;
  const leftOut: Unread[] = [];
  for (const one of problem.unread) {
    outcomes[one.rank] = leaveOut(one, undefined);
    leftOut.push(one);
  }
  entries.forEach((entry) => {
    budget.turnTo(entry.set);
    const settled = budget.isSpent ? undefined : settle(run, entry, kept.get(entry));
    // One that has all it asked for as the steps run out is settled.
    if (settled === undefined || (budget.isSpent && settled.placed < settled.asked)) {
      outcomes[entry.rank] = leaveOut(entry, settled);
      leftOut.push(entry);
    } else outcomes[entry.rank] = settled;
    if (way.opening === "shared") countToPlace(draft, entry, -1);
  });
  if (way.opening === "shared") shrinkShared(draft);
  return { draft, leftOut, outcomes, ...costOf(draft), ...(order === undefined ? {} : { order }) };
}

/** What is said of a demand that is left out; `settled`: it was begun. */
function leaveOut({ set, demand }: RankedDemand, settled: DemandOutcome | undefined): DemandOutcome {
  const { id, kind } = demand;
  const { placed, pending } = settled ?? { placed: 0, pending: 0 };
  const { unit, asked } = askedBy(demand);
  return { set, id, kind, unit, asked, placed, pending, reasons: LEFT_OUT };
}

const LEFT_OUT: readonly Reason[] = [{ code: "left-out" }];

/** What a demand asks for, in its own unit. */
function askedBy(demand: Demand): Pick<DemandOutcome, "unit" | "asked"> {
  switch (demand.kind) {
    case "target":
      return { unit: demand.amount.unit, asked: demand.amount.count };
    case "groups":
      return { unit: "groups", asked: demand.groups };
    case "job":
      return { unit: "slots", asked: demand.iterations * Math.max(1, demand.nodeCount ?? 1) };
  }
}

const NOTHING_KEPT: ReadonlyMap<Entry, Progress> = new Map();

/** Notes what a job is still to take, or no longer, if it may share nodes. */
function countToPlace({ toPlace }: Draft, entry: Entry, sign: 1 | -1): void {
  if (entry.kind !== "job") return;
  const { jobClass, requirements, units, slotsPerUnit, together } = entry;
  if (jobClass.takes === undefined || requirements.alone !== undefined || together === "one-group") return;
  const { resource, amount } = jobClass.takes;
  resource.forEach((r, i) => {
    toPlace[r] = (toPlace[r] ?? 0) + sign * (amount[i] ?? 0) * units * slotsPerUnit;
  });
}

/**
 * Whether a try is to be preferred to another by rank: the first demand that they differ in has more; of two that differ in none it is the
 * cheaper one.
 */
export function isBetterByRank(other: Attempt, than: Attempt, policy: AllocationPolicy): boolean {
  for (let i = 0; i < than.outcomes.length; i += 1) {
    const [a, b] = [other.outcomes[i]?.placed ?? 0, than.outcomes[i]?.placed ?? 0];
    if (a !== b) return a > b;
  }
  return isBetter(other, than, policy);
}

/**
 * Whether a try is to be preferred to another: it leaves no demand with less, and has more, or is cheaper and gives no demand worse new nodes
 * by its own lists and alternatives.
 */
export function isBetter(other: Attempt, than: Attempt, { among }: AllocationPolicy): boolean {
  let hasMore = false;
  for (let i = 0; i < than.outcomes.length; i += 1) {
    const [a, b] = [other.outcomes[i]?.placed ?? 0, than.outcomes[i]?.placed ?? 0];
    if (a < b) return false;
    hasMore ||= a > b;
  }
  return hasMore || (isCheaper(other, than, among) && !isWorseChoice(other, than));
}

function isCheaper(other: Attempt, than: Attempt, among: AllocationPolicy["among"]): boolean {
  if (among === "priority") return other.created < than.created;
  const saved = than.price - other.price;
  const tiny = 1e-9 * than.price;
  return saved > tiny || (saved >= -tiny && other.created < than.created);
}

/** Whether some demand has more slots than before on new nodes that are no better than some score. */
function isWorseChoice({ draft: other }: Attempt, { draft: than }: Attempt): boolean {
  for (const [rank, chosen] of other.bins.choices) {
    const before = than.bins.choices.get(rank) ?? NO_CHOICES;
    for (const score of chosen.keys()) if (slotsUpTo(chosen, score) > slotsUpTo(before, score)) return true;
  }
  return false;
}

const NO_CHOICES: ReadonlyMap<number, number> = new Map();

function slotsUpTo(chosen: ReadonlyMap<number, number>, score: number): number {
  let slots = 0;
  for (const [one, count] of chosen) if (one <= score) slots += count;
  return slots;
}

function costOf({ bins, world }: Draft): Pick<Attempt, "created" | "price"> {
  let created = 0;
  let price = 0;
  for (const list of [bins.planned, bins.woken]) {
    for (const bin of list) {
      const nodes = bins.count[bin] ?? 0;
      created += nodes;
      const own = world.buckets[bins.placeOfBin(bin).offer];
      const offer = own === undefined ? undefined : inMarketOf(world, own, bins.attributes.get(bin));
      price += nodes * (offer?.price ?? 0);
    }
  }
  return { created, price };
}

/** To look a name up costs about as much as so many other looks. */
const STEPS_OF_NAME = 5;

/** Demands that name the same arrays and sizes share one scope. */
export class Scopes {
  readonly #world: World;
  readonly #budget: Budget;
  readonly #index: BucketIndex;
  readonly #ofShape = new Map<Shape, Scope>();
  readonly #byText = new Map<string, Scope>();

  constructor({ world, budget }: Ground) {
    this.#world = world;
    this.#budget = budget;
    this.#index = indexBuckets(world);
  }

  of(entry: Entry): Scope {
    if (entry.kind !== "job") {
      const { array, machineTypes, attributes } = entry.demand;
      const scope = this.#find(
        machineTypes === undefined ? { arrays: [array] } : { arrays: [array], machineTypes },
        "listed",
      );
      if (this.#world.counterparts === undefined) return scope;
      return { ...scope, offers: scope.offers.map((offer) => inMarketOf(this.#world, offer, attributes)) };
    }
    const { shape } = entry.jobClass;
    let scope = this.#ofShape.get(shape);
    if (scope === undefined) {
      scope = this.#find(shape.requirements, "cluster");
      this.#ofShape.set(shape, scope);
    }
    return scope;
  }

  #find(wanted: Wanted, preference: "listed" | "cluster"): Scope {
    const { arrays = [], machineTypes = [] } = wanted;
    this.#budget.spend(STEPS_OF_NAME * (arrays.length + machineTypes.length));
    const key = `${preference}\n${wanted.arrays?.join("\t") ?? "*"}\n${wanted.machineTypes?.join("\t") ?? "*"}`;
    let scope = this.#byText.get(key);
    if (scope === undefined) {
      scope = scopeOf(this.#world, this.#index, wanted, preference);
      // An array that is not there is answered by all that are.
      const unknown = arrays.filter((array) => !this.#world.arrays.has(array)).length;
      this.#budget.spend(scope.offers.length + (1 + unknown) * this.#world.arrays.size);
      this.#byText.set(key, scope);
    }
    return scope;
  }
}

/** What all demands of a try are placed with. */
interface Run {
  readonly draft: Draft;
  readonly scopes: Scopes;
  readonly homes: ReadonlyMap<Ask, Place>;
  readonly order: BucketOrder | undefined;
  /** Absent: nobody reads why anything is unmet. */
  readonly telling: Telling | undefined;
}

/** Places a demand; then, and not before, it is worked out why that is not all of it. */
function settle(run: Run, entry: Entry, kept: Progress | undefined): DemandOutcome {
  const { draft, scopes, homes, order } = run;
  const { latest } = draft;
  if (entry.kind === "job" && kept === undefined && packOn(draft, entry)) {
    const { set, asked, units } = entry;
    const { id, kind } = entry.demand;
    const pending = draft.bins.isReady(latest.bin) ? 0 : units;
    return { set, id, kind, unit: "slots", asked, placed: asked, pending, reasons: NO_REASONS };
  }
  latest.jobClass = undefined;
  const scope = scopes.of(entry);
  draft.capacity.mark();
  switch (entry.kind) {
    case "target":
      return outcomeOf(
        entry,
        entry.demand.amount.unit,
        entry.demand.amount.count,
        raiseTarget(run, entry, scope),
      );
    case "groups":
      return outcomeOf(entry, "groups", entry.demand.groups, raiseAllGroups(run, entry, scope));
    case "job": {
      const home = homes.get(entry);
      const placed = order?.settle(entry, home) ?? placeWhole(run, entry, kept, scope, home);
      return outcomeOf(entry, "slots", entry.asked, placed);
    }
  }
}

/** A demand as it was placed, and why that is not all, where reasons are wanted. */
type Settled = Pick<DemandOutcome, "placed" | "pending"> & Explained;

type EntryOf<K extends Entry["kind"]> = Extract<Entry, { readonly kind: K }>;

function raiseTarget({ draft, telling }: Run, entry: EntryOf<"target">, scope: Scope): Settled {
  const { demand, set, by } = entry;
  const refused = refusedArray(draft, demand);
  if (refused !== undefined) return { placed: 0, pending: 0, reasons: [refused] };
  const { placed, pending, short } = raiseFloor(draft, demand, set, by, scope);
  if (short === undefined || telling === undefined) return { placed, pending, reasons: NO_REASONS };
  return { placed, pending, ...explainTarget(draft, demand, set, scope, short) };
}

function raiseAllGroups({ draft, telling }: Run, entry: EntryOf<"groups">, scope: Scope): Settled {
  const { demand, set, by } = entry;
  const refused = refusedArray(draft, demand);
  if (refused !== undefined) return { placed: 0, pending: 0, reasons: [refused] };
  const { placed, pending, short } = raiseGroups(draft, demand, set, by, scope);
  if (short === undefined || telling === undefined) return { placed, pending, reasons: NO_REASONS };
  return { placed, pending, ...explainGroups(draft, short) };
}

/** A dynamic array by the name of one that the cluster has gets nothing of that. */
function refusedArray({ world }: Draft, demand: TargetDemand | GroupDemand): Reason | undefined {
  const refused = world.refusedArrays?.get(demand.array);
  return refused?.code === "dynamic-name-taken" && demand.extends !== undefined ? refused : undefined;
}

function placeWhole(
  { draft, telling }: Run,
  ask: Ask,
  kept: Progress | undefined,
  scope: Scope,
  home: Place | undefined,
): Settled {
  const { placed, pending, short } = placeJob(draft, ask, kept, scope, home);
  if (short === undefined || telling === undefined) return { placed, pending, reasons: NO_REASONS };
  return { placed, pending, ...explainJob(draft, telling, scope, home, short) };
}

function outcomeOf(
  { set, demand }: Entry,
  unit: DemandOutcome["unit"],
  asked: number,
  { placed, pending, reasons, binding }: Settled,
): DemandOutcome {
  const { id, kind } = demand;
  if (reasons.length === 0 && binding === undefined)
    return { set, id, kind, unit, asked, placed, pending, reasons: NO_REASONS };
  const settled = { set, id, kind, unit, asked, placed, pending };
  const gathered = gatherReasons(reasons);
  return { ...settled, ...gathered, ...presentBinding(binding ?? standingBinding(gathered.reasons)) };
}

const NO_REASONS: readonly Reason[] = [];
