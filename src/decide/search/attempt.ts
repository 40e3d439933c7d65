// Long: one attempt, from the first entry to the outcome of each.
import type { AllocationPolicy } from "../../domain/allocation.ts";
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
import type { Draft, Start, Way } from "../draft/draft.ts";
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
import type { Scope } from "../bins/scope.ts";
import { shrinkShared } from "./shrink.ts";
import { Telling } from "../why/reason-budget.ts";
import { costOf } from "./better.ts";
import type { Scopes } from "./scopes.ts";
import type { Attempt, Unread } from "./better.ts";

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
  readonly start: Start;
  /** Pools to begin with, and the values of shared marks. */
  readonly shared: SharedState;
  /** The least that any job takes of each resource. */
  readonly least: readonly number[];
  readonly policy: AllocationPolicy;
  readonly now: Instant;
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
  const kept = last === undefined ? undefined : putAsBefore(draft, entries, homes, last);
  if (way.opening === "shared") for (const entry of entries) countToPlace(draft, entry, 1);
  const { budget } = problem.ground;
  const leftOut: Unread[] = [];
  for (const one of problem.unread) {
    outcomes[one.rank] = leaveOut(one, undefined);
    leftOut.push(one);
  }
  entries.forEach((entry) => {
    budget.turnTo(entry.set);
    const settled = budget.isSpent ? undefined : settle(run, entry, kept?.get(entry));
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
