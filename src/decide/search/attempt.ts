import type { GroupDemand, TargetDemand } from "../../domain/demand.ts";
import type { SetName } from "../../domain/ids.ts";
import type { DemandOutcome } from "../../domain/plan.ts";
import type { Reason } from "../../domain/reason.ts";
import { Bins } from "../bins/bins.ts";
import type { Entry } from "../bins/entry.ts";
import type { Ask } from "../bins/job-ask.ts";
import type { JobClass } from "../bins/job-class.ts";
import type { Place, Kind } from "../bins/node-kinds.ts";
import type { Scope } from "../bins/scope.ts";
import { BucketOrder } from "../bucket-order/bucket-order.ts";
import { holderOf } from "../draft/caps.ts";
import type { Draft, Way } from "../draft/draft.ts";
import { beginDraft } from "../draft/draft.ts";
import { placeGroups } from "../place/groups.ts";
import { placeJob } from "../place/jobs.ts";
import type { Progress } from "../place/pack.ts";
import type { NamedTarget } from "../place/named.ts";
import { claimNamed, isNamed, placeNamed, roomForMore } from "../place/named.ts";
import { placeTarget } from "../place/targets.ts";
import { ReasonBudget } from "../why/reason-budget.ts";
import { explainGroups, explainJob, explainTarget } from "../why/unmet.ts";
import { putAsBefore } from "./as-before.ts";
import { putMix } from "./mix.ts";
import { Outcomes } from "./outcomes.ts";
import type { Attempt } from "./better.ts";
import { costOf } from "./better.ts";
import type { Problem, Scopes } from "./problem.ts";
import { namesByRank } from "./hardest-first.ts";
import type { Try } from "./hardest-first.ts";
import { askedBy } from "../../domain/plan.ts";
import { reasonsInOrder } from "../../domain/reasons-in-order.ts";
import { gatherReasons } from "../why/fold-reasons.ts";
import { presentRemedy, remedyFromReasons } from "../why/remedy.ts";
import type { Explained } from "../why/unmet.ts";
import type { BucketOffer } from "../../domain/world.ts";
import { closedTo } from "../draft/closed.ts";
import type { Shape } from "../bins/shape.ts";
import { TOLERANCE } from "../../domain/resources.ts";
import { NO_PRICE } from "../draft/offered.ts";
import type { Bin } from "../bins/bin-columns.ts";

/** What is worked out beside the plan. */
interface Extent {
  /** Also why demands are unmet. */
  readonly withReasons: boolean;
  /** The last rank of which jobs get full reasons. Absent: all do. */
  readonly last?: number;
}

/** Places the entries of a try, in its order, into an empty plan. */
export function attempt(
  problem: Problem,
  { way, mix, entries: given }: Try,
  { withReasons, last: lastExplained }: Extent,
): Attempt {
  const reasonBudget = withReasons
    ? new ReasonBudget(problem.policy.preference !== "bucket-order", lastExplained)
    : undefined;
  const run = beginRun(problem, way, reasonBudget);
  const { draft, homes, order } = run;
  const { named } = problem;
  const entries = named.length < 2 ? given : namesByRank(given);
  if (named.length > 0) claimNamed(draft, entries);
  // The last plan is read only if this try uses it. So plans of other tries do not depend on it.
  const last = way.asBefore === true ? problem.ground.world.last?.() : undefined;
  let kept = last === undefined ? undefined : putAsBefore(draft, entries, homes, last);
  if (way.opening === "shared") for (const entry of entries) countToPlace(draft, entry, 1);
  const { budget } = problem.ground;
  const found = new Outcomes(entries.length + problem.unread.length);
  for (const one of problem.unread) found.leaveOut(one, undefined, problem.ground.world.isTooDear);
  entries.forEach((entry, position) => {
    budget.turnTo(entry.set);
    // A draft that was begun without a step left has no nodes.
    if (mix?.at === position && !budget.isSpent) kept = putMix(draft, mix);
    const outcome = budget.isSpent ? undefined : place(run, entry, kept?.get(entry));
    // A demand that is placed completely counts, even if its last check spent the last step.
    if (outcome === undefined || (budget.isSpent && outcome.placed < outcome.asked))
      found.leaveOut(entry, outcome, undefined);
    else {
      found.note(entry, outcome);
      run.refusals.note(draft, entry, outcome);
    }
    if (way.opening === "shared") countToPlace(draft, entry, -1);
  });
  if (way.opening === "shared") shrinkShared(draft);
  const { outcomes, leftOut, isMet } = found;
  if (withReasons) noteRoom(run, named, outcomes);
  return { draft, leftOut, outcomes, isMet, ...costOf(draft), ...(order === undefined ? {} : { order }) };
}

/** What all demands of one try share. */
interface Run {
  readonly draft: Draft;
  readonly scopes: Scopes;
  readonly homes: ReadonlyMap<Ask, Place>;
  /** Present if the policy is `bucket-order`. */
  readonly order: BucketOrder | undefined;
  /** Undefined: this try gives no reasons. */
  readonly reasonBudget: ReasonBudget | undefined;
  readonly refusals: Refusals;
}

/** A job of which nothing was placed, and what it was told. */
interface Refusal {
  readonly ask: Ask;
  readonly outcome: DemandOutcome;
}

/**
 * What packed jobs were told of which nothing was placed since something was placed last. The next one of the set that asks for the same gets
 * the same answer: in a long queue, thousands of jobs do. Each set has answers of its own, because sets of equal priority take turns.
 *
 * Without it a plan of 100,000 equal jobs for 400 nodes takes four times as long.
 */
class Refusals {
  readonly #known = new Map<SetName, Map<JobClass, Refusal>>();

  /** The answer for a job, if an equal one was refused and nothing has changed since. */
  of(
    { caps, bins }: Draft,
    { set, demand, asked, jobClass, units, slotsPerUnit }: Ask,
  ): DemandOutcome | undefined {
    const known = this.#known.get(set)?.get(jobClass);
    if (known === undefined || !caps.none) return undefined;
    const { ask, outcome } = known;
    const isEqual =
      ask.units === units &&
      ask.slotsPerUnit === slotsPerUnit &&
      ask.asked === asked &&
      ask.demand.spot === demand.spot;
    if (!isEqual) return undefined;
    bins.budget.spend(1);
    return { ...outcome, id: demand.id };
  }

  note({ caps }: Draft, entry: Entry, outcome: DemandOutcome): void {
    if (outcome.placed > 0 || entry.kind !== "job" || !isPlain(entry)) this.#known.clear();
    else if (caps.none) this.#ofSet(entry.set).set(entry.jobClass, { ask: entry, outcome });
  }

  #ofSet(set: SetName): Map<JobClass, Refusal> {
    let ofSet = this.#known.get(set);
    if (ofSet === undefined) {
      ofSet = new Map();
      this.#known.set(set, ofSet);
    }
    return ofSet;
  }
}

/** Whether only what is left on nodes and below limits decides about a job. */
const isPlain = ({ together, isGang, requirements, jobClass }: Ask): boolean =>
  together === "anywhere" &&
  !isGang &&
  requirements.pools.size === 0 &&
  requirements.alone === undefined &&
  jobClass.takes !== undefined;

/** An empty plan in which the bound tasks occupy their hosts. */
function beginRun(
  { ground, order, shared, least, bindings, scopes, start, policy, now }: Problem,
  way: Way,
  reasonBudget: Run["reasonBudget"],
): Run {
  const bins = new Bins(ground, order, shared.left, least);
  const draft = beginDraft(bins, { policy, now, start }, way);
  for (const { bin, ask, slots } of bindings.slots) {
    bins.budget.turnTo(ask.set);
    bins.occupyBound(bin, ask, slots);
    draft.caps.hold(holderOf(ask), bins, bin);
    draft.bound.set(ask.demand, (draft.bound.get(ask.demand) ?? new Set()).add(bin));
  }
  return {
    draft,
    scopes,
    homes: bindings.homes,
    order: policy.preference === "bucket-order" ? new BucketOrder(draft, shared, reasonBudget) : undefined,
    reasonBudget,
    refusals: new Refusals(),
  };
}

/** Adds what a job takes to the amounts that are still to place, or subtracts it, if it may share nodes with other jobs. */
function countToPlace({ toPlace }: Draft, entry: Entry, sign: 1 | -1): void {
  if (entry.kind !== "job") return;
  const { jobClass, requirements, units, slotsPerUnit, together } = entry;
  if (jobClass.takes === undefined || requirements.alone !== undefined || together === "one-group") return;
  const { resource, amount } = jobClass.takes;
  resource.forEach((r, i) => {
    toPlace[r] = (toPlace[r] ?? 0) + sign * (amount[i] ?? 0) * units * slotsPerUnit;
  });
}

/** Places one demand. If it is not placed completely, the reasons are worked out after that. `kept`: what was placed as before. */
function place(run: Run, entry: Entry, kept: Progress | undefined): DemandOutcome {
  const { draft, scopes, homes, order } = run;
  const isFresh = entry.kind === "job" && kept === undefined && order === undefined;
  const refused = isFresh ? run.refusals.of(draft, entry) : undefined;
  if (refused !== undefined) return refused;
  const scope = scopes.of(entry);
  draft.capacity.mark();
  switch (entry.kind) {
    case "target":
      return outcomeOf(entry, tryTarget(run, entry, scope));
    case "groups":
      return outcomeOf(entry, tryGroups(run, entry, scope));
    case "job": {
      const home = homes.get(entry);
      return outcomeOf(entry, order?.place(entry, home) ?? tryJob(run, entry, kept, scope, home));
    }
  }
}

type EntryOf<K extends Entry["kind"]> = Extract<Entry, { readonly kind: K }>;

function tryTarget({ draft, reasonBudget }: Run, entry: EntryOf<"target">, scope: Scope): Placed {
  const { demand, set, by } = entry;
  const refused = refusedArray(draft, demand);
  if (refused !== undefined) return { placed: 0, pending: 0, reasons: [refused] };
  if (isNamed(demand)) return tryNamed(draft, demand, entry, scope, reasonBudget !== undefined);
  const { placed, pending, short } = placeTarget(draft, demand, set, by, scope);
  if (short === undefined || reasonBudget === undefined) return { placed, pending, reasons: NO_REASONS };
  return { placed, pending, ...explainTarget(draft, demand, set, scope, short) };
}

/** Each name has its own reason. Names without room share the first reason of the target. */
function tryNamed(
  draft: Draft,
  demand: NamedTarget,
  { set, by }: EntryOf<"target">,
  scope: Scope,
  withReasons: boolean,
): Placed {
  const { placed, pending, short, lacking } = placeNamed(draft, demand, set, by, scope);
  if (!withReasons) return { placed, pending, reasons: NO_REASONS };
  const explained =
    short === undefined ? { reasons: NO_REASONS } : explainTarget(draft, demand, set, scope, short);
  const [first] = reasonsInOrder(explained);
  if (first !== undefined) for (const name of lacking) draft.named.why.set(name, { reason: first, set });
  const { names, heldByOthers: held = [] } = demand.named;
  const own = names.flatMap((name) => draft.named.why.get(name)?.reason ?? []);
  if (held.length > 0) own.push({ code: "name-held", names: held.slice(0, HELD_TOLD), count: held.length });
  const reasons = [...new Set([...(lacking.length > 0 ? explained.reasons : []), ...own])];
  return placed < demand.amount.count
    ? { placed, pending, ...explained, reasons }
    : { placed, pending, reasons: NO_REASONS };
}

/** Names that one reason lists. */
const HELD_TOLD = 3;

/** Notes for each target that lacks named nodes how many more there is room for, once all demands are placed. */
function noteRoom({ draft, scopes }: Run, entries: readonly Entry[], outcomes: DemandOutcome[]): void {
  for (const entry of entries) {
    if (entry.kind !== "target" || !isNamed(entry.demand)) continue;
    const outcome = outcomes[entry.rank];
    if (outcome === undefined || outcome.placed >= outcome.asked || draft.bins.budget.isSpent) continue;
    const scope = scopes.of(entry);
    draft.bins.budget.turnTo(entry.set);
    draft.bins.budget.spend(1 + scope.offers.length);
    outcomes[entry.rank] = { ...outcome, room: roomForMore(draft, entry.demand, entry.set, scope) };
  }
}

function tryGroups({ draft, reasonBudget }: Run, entry: EntryOf<"groups">, scope: Scope): Placed {
  const { demand, set, by } = entry;
  const refused = refusedArray(draft, demand);
  if (refused !== undefined) return { placed: 0, pending: 0, reasons: [refused] };
  const { placed, pending, short } = placeGroups(draft, demand, set, by, scope);
  if (short === undefined || reasonBudget === undefined) return { placed, pending, reasons: NO_REASONS };
  return { placed, pending, ...explainGroups(draft, short) };
}

/** The demand defines a dynamic node array with the name of one of the cluster's own. It gets nothing of that array. */
function refusedArray({ world }: Draft, demand: TargetDemand | GroupDemand): Reason | undefined {
  const refused = world.refusedArrays?.get(demand.array);
  return refused?.code === "dynamic-name-taken" && demand.extends !== undefined ? refused : undefined;
}

function tryJob(
  { draft, reasonBudget }: Run,
  ask: Ask,
  kept: Progress | undefined,
  scope: Scope,
  home: Place | undefined,
): Placed {
  const { placed, pending, short } = placeJob(draft, ask, kept, scope, home);
  if (short === undefined || reasonBudget === undefined) return { placed, pending, reasons: NO_REASONS };
  return { placed, pending, ...explainJob(draft, reasonBudget, scope, home, short) };
}

/** How much of a demand was placed, and why that is not all of it, if reasons are wanted. */
type Placed = Pick<DemandOutcome, "placed" | "pending"> & Explained;

/** The outcome of a demand that the plan read. */
function outcomeOf({ set, demand }: Entry, { placed, pending, reasons, binding }: Placed): DemandOutcome {
  const { id, kind } = demand;
  const { unit, asked } = askedBy(demand);
  if (reasons.length === 0 && binding === undefined)
    return { set, id, kind, unit, asked, placed, pending, reasons: NO_REASONS };
  const outcome = { set, id, kind, unit, asked, placed, pending };
  const gathered = gatherReasons(reasons);
  return { ...outcome, ...gathered, ...presentRemedy(binding ?? remedyFromReasons(gathered.reasons)) };
}

const NO_REASONS: readonly Reason[] = [];

/**
 * Replaces each planned node that jobs share by the cheapest VM size that takes all of its jobs, is within the limits, and has no more of
 * any counted resource. With no more of anything, the next plan finds every job where this one placed it.
 */
function shrinkShared(draft: Draft): void {
  for (const [bin, shapes] of draft.shared) {
    const { bins } = draft;
    if (!bins.isClaimed(bin) || bins.origin[bin] !== "planned") continue;
    const current = draft.world.buckets[bins.placeOfBin(bin).offer];
    if (current === undefined || bins.budget.isSpent) continue;
    bins.budget.spend(draft.world.buckets.length);
    const smaller = cheapestFor(draft, bin, shapes, current);
    if (smaller === undefined) continue;
    const nodes = bins.count[bin] ?? 0;
    draft.capacity.exchange(current, smaller.offer, nodes);
    bins.exchange(bin, smaller.kind, smaller.offer);
  }
}

interface Smaller {
  readonly offer: BucketOffer;
  readonly kind: Kind;
}

function cheapestFor(
  draft: Draft,
  bin: Bin,
  shapes: ReadonlySet<Shape>,
  current: BucketOffer,
): Smaller | undefined {
  const { bins } = draft;
  const nodes = bins.count[bin] ?? 0;
  const left = draft.capacity.without(current, nodes);
  let best: Smaller | undefined;
  let least = current.price ?? NO_PRICE;
  draft.world.buckets.forEach((offer, index) => {
    const kind = bins.ground.offerKinds[index];
    if (kind === undefined || offer.price === undefined || offer.price >= least) return;
    if (offer.parent !== undefined && offer.bucket.array !== current.bucket.array) return;
    // The jobs on it already count its cores against their caps, and may not get more.
    if (!draft.caps.none && offer.cores > current.cores) return;
    if (offer.pinnedGroup !== undefined || !holds(bins, bin, kind)) return;
    if (closedTo(draft, offer) !== undefined || left.room(offer, undefined) < nodes) return;
    const before = bins.kindOf(bin);
    const isAsGood = (shape: Shape): boolean =>
      shape.takesNew(offer, kind, undefined) && shape.score(kind) >= shape.score(before);
    if (![...shapes].every(isAsGood)) return;
    best = { offer, kind };
    least = offer.price;
  });
  return best;
}

/** Whether the jobs of a bin fit on a node of another kind, and that kind has no more of any resource. */
function holds(bins: Bins, bin: Bin, kind: Kind): boolean {
  const { capacity } = bins.kindOf(bin);
  const start = bin * bins.width;
  for (let r = 0; r < bins.width; r += 1) {
    const [before, offered] = [capacity[r] ?? 0, kind.capacity[r] ?? 0];
    if (offered > before) return false;
    const used = before - (bins.free[start + r] ?? 0);
    if (used > offered * (1 + TOLERANCE)) return false;
  }
  return true;
}
