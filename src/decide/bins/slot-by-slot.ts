import type { NodeView } from "../../domain/node-view.ts";
import type { Bin } from "./bin.ts";
import type { Fit, Subject } from "./empty-node-fit.ts";
import { viewOf } from "./empty-node-fit.ts";
import type { Ask } from "./job-ask.ts";
import { unitsFrom } from "./job-ask.ts";
import type { Ground, Kind } from "./node-kinds.ts";
import type { Trial, TrialGround, TriedNode } from "./trial.ts";
import { availableOf, chargeBeyondRoom, tryOut } from "./trial.ts";

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
  const node: NodeView = { ...view, available: availableOf(bins, view, free), jobs: new Set(jobs) };
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
