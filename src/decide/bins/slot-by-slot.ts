import type { NodeView, SharedState } from "../../domain/node-view.ts";
import type { Bin } from "./bin-columns.ts";
import type { Fit, Subject } from "./empty-node-fit.ts";
import { viewOf } from "./empty-node-fit.ts";
import type { Ask } from "./job-ask.ts";
import { unitsFrom } from "./job-ask.ts";
import type { Ground, Kind } from "./node-kinds.ts";
import type { ResourceValue } from "../../domain/resources.ts";
import { bytesOf, bytesPer, isSize } from "../../domain/size.ts";
import { TOLERANCE } from "../../domain/resources.ts";
import type { Budget } from "../constraints/budget.ts";
import type { Met } from "../constraints/judge.ts";

/*
 * Intricate jobs. What a slot takes depends on its node: because the job has alternatives (`or`, `xor`, `not`), of which each slot uses the first that
 * holds at that moment, or because a plain number means different amounts on different kinds of nodes. So slots are tried out one by one.
 */

/** The bins on which slots are tried out. `Bins` is one. */
export interface TriedBins extends TrialGround {
  readonly ground: Pick<Ground, "viewOf">;
  /** Free amounts, `width` of them for each bin. */
  readonly free: Float64Array;
  isEmpty(bin: Bin): boolean;
  isOnlyOf(bin: Bin, ask: Ask): boolean;
  hasFreeSlot(bin: Bin, ask: Ask): boolean;
  kindOf(bin: Bin): Kind;
  subjectOf(bin: Bin): Subject;
  jobsOn(bin: Bin): readonly string[];
}

/** Maximum number of slots that are tried out on one node. */
const MOST_TRIED = 10_000;
const NO_JOBS: readonly string[] = [];

/** How many units of an intricate job fit on a node of the bin. */
export function roomIntricate(bins: TriedBins, bin: Bin, ask: Ask): number {
  return roomOf(bins, bin, ask, mostTried(ask));
}

/** Whether there is room for one unit of an intricate job. */
export function hasRoomIntricate(bins: TriedBins, bin: Bin, ask: Ask): boolean {
  const { units, slotsPerUnit } = ask;
  return roomOf(bins, bin, ask, Math.min(MOST_TRIED, Math.min(1, units) * slotsPerUnit)) > 0;
}

function roomOf(bins: TriedBins, bin: Bin, ask: Ask, wanted: number): number {
  if (ask.requirements.alone !== undefined && !bins.isEmpty(bin) && !bins.isOnlyOf(bin, ask)) return 0;
  const { screen, fit } = ask.jobClass;
  bins.budget.spend(screen.steps);
  if (!screen.mayHold(bins.kindOf(bin), bins.free, bin * bins.width)) return 0;
  const { slots, trial } = tryOut(bins, nodeOf(bins, bin, ask), ask, wanted, fit);
  // Of the slots that take nothing a job gets one on each node, and it has that one already.
  if (trial.nothing && ask.unitsPerNode !== 1 && bins.hasFreeSlot(bin, ask)) return unitsFrom(ask, slots - 1);
  return unitsFrom(ask, slots);
}

/**
 * How many slots the alternative that holds first can take on a node of the bin before another one has its turn. Infinity if it has no
 * limit.
 */
export function slotsAtOnce(bins: TriedBins, bin: Bin, ask: Ask): number {
  const { jobClass } = ask;
  const { view, free, jobs } = nodeOf(bins, bin, ask);
  const available = availableOf(bins, view, free);
  const node: NodeView = { ...view, available, totals: view.available, jobs: new Set(jobs) };
  return jobClass.fit.judge(node, jobClass.shape.shared).space ?? Number.POSITIVE_INFINITY;
}

/** How many units of an intricate job fit on a new node of this kind. */
export function roomOnNew(ground: TrialGround, subject: Subject, capacity: Float64Array, ask: Ask): number {
  const node = { subject, view: viewOf(subject), free: [...capacity], jobs: NO_JOBS };
  return unitsFrom(ask, tryOut(ground, node, ask, mostTried(ask), ask.jobClass.fit).slots);
}

const mostTried = ({ units, slotsPerUnit }: Ask): number => Math.min(MOST_TRIED, units * slotsPerUnit);

/**
 * Takes slots of an intricate job from each node of the bin, and from the pools. Returns whether a slot wants the node to itself, and whether one
 * takes nothing of the node.
 */
export function placeIntricate(
  bins: TriedBins,
  bin: Bin,
  ask: Ask,
  slots: number,
): Pick<Trial, "alone" | "nothing"> {
  return takeIntricate(bins, bin, ask, slots, ask.jobClass.fit);
}

/** The same for slots that run there already: they count even if the constraints refuse the node by now. */
export function placeBoundIntricate(
  bins: TriedBins,
  bin: Bin,
  ask: Ask,
  slots: number,
): Pick<Trial, "alone" | "nothing"> {
  return takeIntricate(bins, bin, ask, slots, ask.jobClass.fitOfBound);
}

function takeIntricate(bins: TriedBins, bin: Bin, ask: Ask, slots: number, fit: Fit): Trial {
  const start = bin * bins.width;
  const node = nodeOf(bins, bin, ask);
  const { trial, slots: tried } = tryOut(bins, node, ask, slots, fit);
  if (tried < slots) chargeBeyondRoom(bins, node, ask, trial, slots - tried);
  trial.free.forEach((left, r) => {
    if ((bins.free[start + r] ?? 0) > 0) bins.free[start + r] = Math.max(0, left);
  });
  if (trial.pools !== bins.pools)
    for (const [pool, left] of trial.pools) bins.pools.set(pool, Math.max(0, left));
  return trial;
}

function nodeOf(bins: TriedBins, bin: Bin, { by, jobClass }: Ask): TriedNode {
  const { fit, fitOfBound } = jobClass;
  const start = bin * bins.width;
  const free = [...bins.free.subarray(start, start + bins.width)];
  const subject = bins.subjectOf(bin);
  // A view of a single node is expensive. It is made only for constraints that tell nodes of one kind apart.
  const needsOwnView = fit.judgesEachNode || fitOfBound.judgesEachNode;
  const view = needsOwnView ? bins.ground.viewOf(subject) : bins.kindOf(bin).view();
  // There may be thousands of jobs on a node, and few constraints ask for them.
  const looksAtJobs = fit.looksAtJobs || fitOfBound.looksAtJobs;
  const jobs = looksAtJobs ? bins.jobsOn(bin).filter((job) => job !== by) : NO_JOBS;
  return { subject, view, free, jobs };
}

/** What a trial needs to know: the resources that are counted, the pools and the budget. */
interface TrialGround {
  readonly budget: Budget;
  /** Names of the resources. Free amounts follow this order. */
  readonly resources: readonly string[];
  readonly width: number;
  /** What is left in each pool that jobs share. */
  readonly pools: Map<string, number>;
}

/** A node before slots are tried out on it. */
interface TriedNode {
  readonly subject: Subject;
  /** The node without jobs. */
  readonly view: NodeView;
  /** Free amounts, by position of the resource. */
  readonly free: readonly number[];
  /** The jobs on the node, without the one that is tried out. */
  readonly jobs: readonly string[];
}

/** What is left of a node after some slots. */
interface Trial {
  readonly free: number[];
  /** The pools of the plan itself, until a slot takes from one. Then a copy. */
  pools: Map<string, number>;
  /** A slot wants the node to itself. */
  alone: boolean;
  /** A slot took nothing of the node. */
  nothing: boolean;
}

const NOTHING: Met["drains"] = new Map();

/** Puts slots of a job on a node, one after the other, until `wanted` are placed or the next one has no room. Changes only the trial. */
function tryOut(
  ground: TrialGround,
  { view: empty, free, jobs }: TriedNode,
  { jobClass, unitsPerNode }: Ask,
  wanted: number,
  fit: Fit,
): { readonly slots: number; readonly trial: Trial } {
  const trial: Trial = { free: [...free], pools: ground.pools, alone: false, nothing: false };
  const { shared } = jobClass.shape;
  let slots = 0;
  // A node that is refused without jobs is refused with jobs, too, unless what must not hold depends on what is free.
  if (jobClass.screen.isSteady && fit.judge(empty, shared).kind === "refused") return { slots, trial };
  const view: NodeView = { ...empty, totals: empty.available, jobs: new Set(jobs) };
  ground.budget.spend(ground.width);
  while (slots < wanted && !ground.budget.isSpent) {
    const node = { ...view, available: availableOf(ground, empty, trial.free) };
    const judgement = judgeSlot(fit, node, shared, trial);
    if (judgement === undefined) break;
    if (judgement.closes === "job" && slots > 0 && unitsPerNode !== 1) break;
    const isNothing = takesNothing(judgement);
    const alike = isNothing || !jobClass.screen.isSteady ? 1 : slotsAlike(judgement, trial, wanted - slots);
    charge(ground, trial, judgement, alike);
    slots += alike;
    if (!isNothing) continue;
    trial.nothing = true;
    // A slot that takes nothing goes on a node once. The slots of a node task go there together.
    if (unitsPerNode !== 1) break;
    if (judgement.drains.size === 0) slots = wanted;
  }
  return { slots, trial };
}

/**
 * Charges bound slots for which there is no room, or which the constraints refuse. They take what they would take of an empty node. If that is
 * refused, too, they take the amounts at the top level of the constraints.
 */
function chargeBeyondRoom(
  ground: TrialGround,
  node: TriedNode,
  { jobClass }: Ask,
  trial: Trial,
  slots: number,
): void {
  const { fitOfBound, amounts, shape } = jobClass;
  const judgement = fitOfBound.judge(node.view, shape.shared);
  if (judgement.kind === "met") {
    charge(ground, trial, { ...judgement, drains: NOTHING }, slots);
    return;
  }
  for (const { resource, amount } of amounts) {
    const position = ground.resources.indexOf(resource);
    const offered = node.subject.resources[resource];
    const unit = isSize(offered) ? bytesPer(offered.unit) : 1;
    const each = isSize(amount) ? bytesOf(amount) : amount * unit;
    trial.free[position] = (trial.free[position] ?? 0) - Math.max(0, each) * slots;
  }
}

/** The resources of a node, with the free amounts of those that are counted. */
function availableOf(
  { resources }: TrialGround,
  { available: all }: NodeView,
  free: readonly number[],
): NodeView["available"] {
  const available: Record<string, ResourceValue> = { ...all };
  resources.forEach((name, r) => {
    const before = available[name];
    const left = free[r] ?? 0;
    if (isSize(before)) available[name] = { amount: left / bytesPer(before.unit), unit: before.unit };
    else if (typeof before === "number" || typeof before === "boolean") available[name] = left;
  });
  return available;
}

/** How many slots in a row take the same: while there is room for this alternative, no earlier one can hold. */
function slotsAlike({ space = 1, drains, closes }: Met, { pools }: Trial, wanted: number): number {
  if (closes === "job") return 1;
  let slots = Math.min(space, wanted);
  for (const [pool, amount] of drains)
    if (amount > 0) slots = Math.min(slots, Math.floor((pools.get(pool) ?? 0) / amount + TOLERANCE));
  return Math.max(1, slots);
}

/**
 * What the next slot takes: the first alternative that holds with the pools as they were before this plan. If the plan has used these up, the
 * first that holds with what is left in them. Undefined if there is no room for the slot.
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

/** Whether a pool has too little left. */
function isShort({ pools }: Trial, { drains }: Met): boolean {
  return [...drains].some(([pool, amount]) => (pools.get(pool) ?? 0) < amount * (1 - TOLERANCE));
}

function charge(ground: TrialGround, trial: Trial, { takes, drains, closes }: Met, slots: number): void {
  for (const [name, take] of takes) {
    const position = ground.resources.indexOf(name);
    if (position < 0) continue;
    const each = Math.max(0, isSize(take) ? bytesOf(take) : take);
    trial.free[position] = (trial.free[position] ?? 0) - each * slots;
  }
  if (drains.size > 0) {
    if (trial.pools === ground.pools) {
      ground.budget.spend(ground.pools.size);
      trial.pools = new Map(ground.pools);
    }
    for (const [pool, amount] of drains) trial.pools.set(pool, (trial.pools.get(pool) ?? 0) - amount * slots);
  }
  trial.alone ||= closes !== undefined;
}
