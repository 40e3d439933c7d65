import type { NodeView, SharedState } from "../../domain/node-view.ts";
import type { ResourceValue } from "../../domain/resources.ts";
import { bytesOf, bytesPer, isSize } from "../../domain/size.ts";
import type { Ask } from "./job-ask.ts";
import { unitsFrom } from "./job-ask.ts";
import type { Fit, Subject } from "./empty-node-fit.ts";
import { viewOf } from "./empty-node-fit.ts";
import type { Budget } from "../constraints/budget.ts";
import type { Ground, Kind } from "./node-kinds.ts";
import { TOLERANCE } from "../../domain/tolerance.ts";
import type { Bin } from "./bin.ts";
import type { Met } from "../constraints/judgement.ts";

const NOTHING: Met["drains"] = new Map();
const NO_JOBS: readonly string[] = [];

/** What a try asks of the bins: what is left of each, of the pools and of the steps. `Bins` is one. */
export interface TriedBins {
  readonly ground: Pick<Ground, "viewOf">;
  readonly budget: Budget;
  /** Names of the resources; a bin's amounts in `free` follow this order, `width` of them for each bin. */
  readonly resources: readonly string[];
  readonly width: number;
  readonly free: Float64Array;
  readonly pools: Map<string, number>;
  isEmpty(bin: Bin): boolean;
  isOnlyOf(bin: Bin, ask: Ask): boolean;
  hasFreeSlot(bin: Bin, ask: Ask): boolean;
  kindOf(bin: Bin): Kind;
  subjectOf(bin: Bin): Subject;
  jobsOn(bin: Bin): readonly string[];
}

/** What is left of a node while slots are tried out on it. */
interface Trial {
  readonly free: number[];
  /** Those of the plan, until a slot takes from one. */
  pools: Map<string, number>;
  alone: boolean;
  /** A slot took nothing of the node. */
  nothing: boolean;
}

/** More slots than this are not tried out on one node. */
const MOST_TRIED = 10_000;

/**
 * How many units of a job fit on a node whose alternatives (or, xor, not) hang on what is left there: slot by slot, each charged to the
 * first alternative that holds then.
 */
export function roomIntricate(bins: TriedBins, bin: Bin, ask: Ask): number {
  return roomOf(bins, bin, ask, mostTried(ask));
}

/** Whether there is room for one unit. */
export function hasRoomIntricate(bins: TriedBins, bin: Bin, ask: Ask): boolean {
  const { units, slotsPerUnit } = ask;
  return roomOf(bins, bin, ask, Math.min(MOST_TRIED, Math.min(1, units) * slotsPerUnit)) > 0;
}

function roomOf(bins: TriedBins, bin: Bin, ask: Ask, wanted: number): number {
  if (ask.requirements.alone !== undefined && !bins.isEmpty(bin) && !bins.isOnlyOf(bin, ask)) return 0;
  const { screen } = ask.jobClass;
  bins.budget.spend(screen.steps);
  if (!screen.mayHold(bins.kindOf(bin), bins.free, bin * bins.width)) return 0;
  const { slots, trial } = tryOut(bins, nodeOf(bins, bin, ask), ask, wanted);
  // Room without end is one slot of the job, and it has that already.
  if (trial.nothing && ask.unitsPerNode !== 1 && bins.hasFreeSlot(bin, ask)) return unitsFrom(ask, slots - 1);
  return unitsFrom(ask, slots);
}

/**
 * How many slots go to the alternative that holds first on what is left of a node, before the next one is looked at; without end if that is
 * said of none.
 */
export function slotsAtOnce(bins: TriedBins, bin: Bin, ask: Ask): number {
  const { jobClass } = ask;
  const { view, free, jobs } = nodeOf(bins, bin, ask);
  const node: NodeView = { ...view, available: availableOf(bins, view, free), jobs: new Set(jobs) };
  return jobClass.fit.judge(node, jobClass.shape.shared).space ?? Number.POSITIVE_INFINITY;
}

/** How many units fit on a new node of this kind, slot by slot. */
export function roomOnNew(bins: TriedBins, subject: Subject, capacity: Float64Array, ask: Ask): number {
  const node = { subject, view: viewOf(subject), free: [...capacity], jobs: [] };
  return unitsFrom(ask, tryOut(bins, node, ask, mostTried(ask)).slots);
}

const mostTried = ({ units, slotsPerUnit }: Ask): number => Math.min(MOST_TRIED, units * slotsPerUnit);

/** A node as it is before slots are tried out. */
interface Tried {
  readonly subject: Subject;
  /** With nobody on it. */
  readonly view: NodeView;
  readonly free: readonly number[];
  /** Others than the one that asks. */
  readonly jobs: readonly string[];
}

function nodeOf(bins: TriedBins, bin: Bin, { by, jobClass }: Ask): Tried {
  const start = bin * bins.width;
  const free = [...bins.free.subarray(start, start + bins.width)];
  const subject = bins.subjectOf(bin);
  // What one node of a kind has of its own is worked out only for those who ask for it: that is most of the cost of a view.
  const isAlike = !jobClass.fit.judgesEachNode && !jobClass.fitOfBound.judgesEachNode;
  const view = isAlike ? bins.kindOf(bin).view() : bins.ground.viewOf(subject);
  // There may be thousands on a node, and few ask for them.
  const looksAtJobs = jobClass.fit.looksAtJobs || jobClass.fitOfBound.looksAtJobs;
  const jobs = looksAtJobs ? bins.jobsOn(bin).filter((job) => job !== by) : NO_JOBS;
  return { subject, view, free, jobs };
}

/**
 * Takes so many slots from the node and the pools; answers whether nobody else may be there from now on, and whether one of the slots takes
 * nothing of the node.
 */
export function placeIntricate(
  bins: TriedBins,
  bin: Bin,
  ask: Ask,
  slots: number,
  bound: boolean,
): Pick<Trial, "alone" | "nothing"> {
  const start = bin * bins.width;
  const node = nodeOf(bins, bin, ask);
  const { trial, slots: tried } = tryOut(bins, node, ask, slots, bound);
  if (tried < slots) chargeRest(bins, node, ask, trial, slots - tried);
  trial.free.forEach((left, r) => {
    if ((bins.free[start + r] ?? 0) > 0) bins.free[start + r] = Math.max(0, left);
  });
  if (trial.pools !== bins.pools)
    for (const [pool, left] of trial.pools) bins.pools.set(pool, Math.max(0, left));
  return trial;
}

/**
 * Tasks that run there although there is no room for them, or the constraints say no: they take what they would of an empty node, or at
 * least what stands at the top.
 */
function chargeRest(bins: TriedBins, node: Tried, ask: Ask, trial: Trial, slots: number): void {
  const { fitOfBound, amounts, shape } = ask.jobClass;
  const judgement = fitOfBound.judge(node.view, shape.shared);
  if (judgement.kind === "met") {
    charge(bins, trial, { ...judgement, drains: NOTHING }, slots);
    return;
  }
  for (const { resource, amount } of amounts) {
    const position = bins.resources.indexOf(resource);
    const offered = node.subject.resources[resource];
    const unit = isSize(offered) ? bytesPer(offered.unit) : 1;
    const each = isSize(amount) ? bytesOf(amount) : amount * unit;
    trial.free[position] = (trial.free[position] ?? 0) - Math.max(0, each) * slots;
  }
}

function tryOut(
  bins: TriedBins,
  { view: empty, free, jobs }: Tried,
  { jobClass, unitsPerNode }: Ask,
  wanted: number,
  bound = false,
): { readonly slots: number; readonly trial: Trial } {
  const trial: Trial = { free: [...free], pools: bins.pools, alone: false, nothing: false };
  const { shared } = jobClass.shape;
  // What runs there takes what it takes, also on a node that it may not have any more.
  const fit = bound ? jobClass.fitOfBound : jobClass.fit;
  let slots = 0;
  // A node that would not do with nobody on it does not because somebody is.
  if (fit.judge(empty, shared).kind === "refused") return { slots, trial };
  const view: NodeView = { ...empty, jobs: new Set(jobs) };
  bins.budget.spend(bins.width);
  while (slots < wanted && !bins.budget.isSpent) {
    const judgement = judgeSlot(
      fit,
      { ...view, available: availableOf(bins, empty, trial.free) },
      shared,
      trial,
    );
    if (judgement === undefined) break;
    if (judgement.closes === "job" && slots > 0 && unitsPerNode !== 1) break;
    const isNothing = takesNothing(judgement);
    const alike = isNothing || !jobClass.screen.isSteady ? 1 : slotsAlike(judgement, trial, wanted - slots);
    charge(bins, trial, judgement, alike);
    slots += alike;
    if (!isNothing) continue;
    trial.nothing = true;
    // What takes nothing fits once, or as often as a node task has slots.
    if (unitsPerNode !== 1) break;
    if (judgement.drains.size === 0) slots = wanted;
  }
  return { slots, trial };
}

/** How many slots in a row take the same: as long as there is room for it, no alternative before it comes to hold. */
function slotsAlike({ space = 1, drains, closes }: Met, { pools }: Trial, wanted: number): number {
  if (closes === "job") return 1;
  let slots = Math.min(space, wanted);
  for (const [pool, amount] of drains)
    if (amount > 0) slots = Math.min(slots, Math.floor((pools.get(pool) ?? 0) / amount + TOLERANCE));
  return Math.max(1, slots);
}

/**
 * What a slot takes: of alternatives the first that holds with the pools as they were before this plan; where those have run out since,
 * the first that holds with what is left of them. Undefined: there is no room for it.
 */
function judgeSlot(
  fit: Pick<Fit, "judge">,
  view: NodeView,
  shared: SharedState,
  trial: Trial,
): Met | undefined {
  const judgement = fit.judge(view, shared);
  if (judgement.kind === "refused") return undefined;
  if (!isShort(trial, judgement)) return judgement;
  const other = fit.judge(view, { values: shared.values, left: trial.pools });
  return other.kind === "refused" || isShort(trial, other) ? undefined : other;
}

const takesNothing = ({ takes }: Met): boolean =>
  [...takes.values()].every((take) => (isSize(take) ? take.amount : take) <= 0);

function isShort({ pools }: Trial, { drains }: Met): boolean {
  return [...drains].some(([pool, amount]) => (pools.get(pool) ?? 0) < amount * (1 - TOLERANCE));
}

function charge(bins: TriedBins, trial: Trial, { takes, drains, closes }: Met, slots = 1): void {
  for (const [name, take] of takes) {
    const position = bins.resources.indexOf(name);
    if (position < 0) continue;
    const each = Math.max(0, isSize(take) ? bytesOf(take) : take);
    trial.free[position] = (trial.free[position] ?? 0) - each * slots;
  }
  if (drains.size > 0) {
    if (trial.pools === bins.pools) {
      bins.budget.spend(bins.pools.size);
      trial.pools = new Map(bins.pools);
    }
    for (const [pool, amount] of drains) trial.pools.set(pool, (trial.pools.get(pool) ?? 0) - amount * slots);
  }
  trial.alone ||= closes !== undefined;
}

/** The node's resources with what is left of those that are counted. */
function availableOf(
  bins: TriedBins,
  { available: all }: NodeView,
  free: readonly number[],
): NodeView["available"] {
  const available: Record<string, ResourceValue> = { ...all };
  bins.resources.forEach((name, r) => {
    const before = available[name];
    const left = free[r] ?? 0;
    if (isSize(before)) available[name] = { amount: left / bytesPer(before.unit), unit: before.unit };
    else if (typeof before === "number" || typeof before === "boolean") available[name] = left;
  });
  return available;
}
