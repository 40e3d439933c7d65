import type { NodeView, SharedState } from "../domain/node-view.ts";
import type { ResourceValue } from "../domain/resources.ts";
import { bytesOf, bytesPer, isSize } from "../domain/size.ts";
import type { Ask } from "./ask.ts";
import { unitsFrom } from "./ask.ts";
import type { Bin, Bins } from "./bins.ts";
import { viewOf } from "./fit.ts";
import type { Met } from "./match.ts";

/** What is left of a node while slots are tried out on it. */
interface Trial {
  readonly free: number[];
  readonly pools: Map<string, number>;
  alone: boolean;
}

/** More slots than this are not tried out on one node. */
const MOST_TRIED = 10_000;

/**
 * How many units of a job fit on a node whose alternatives (or, xor, not) hang on what is left there: slot by slot, each charged to the
 * first alternative that holds then.
 */
export function roomIntricate(bins: Bins, bin: Bin, ask: Ask): number {
  if (ask.requirements.alone !== undefined && bins.empty[bin] !== true) return 0;
  const wanted = Math.min(MOST_TRIED, ask.units * ask.slotsPerUnit);
  const { slots } = tryOut(bins, bin, ask, wanted);
  return unitsFrom(ask, slots);
}

/** Takes so many slots from the node and the pools; answers whether nobody else may be there from now on. */
export function placeIntricate(bins: Bins, bin: Bin, ask: Ask, slots: number): boolean {
  const { trial } = tryOut(bins, bin, ask, slots);
  const start = bin * bins.width;
  trial.free.forEach((left, r) => {
    if ((bins.free[start + r] ?? 0) > 0) bins.free[start + r] = Math.max(0, left);
  });
  for (const [pool, left] of trial.pools) bins.pools.set(pool, Math.max(0, left));
  return trial.alone;
}

function tryOut(
  bins: Bins,
  bin: Bin,
  ask: Ask,
  wanted: number,
): { readonly slots: number; readonly trial: Trial } {
  const start = bin * bins.width;
  const trial: Trial = {
    free: bins.free.slice(start, start + bins.width),
    pools: new Map(bins.pools),
    alone: false,
  };
  const empty = viewOf(bins.subjectOf(bin));
  const others = new Set(bins.jobsOn(bin));
  const shared: SharedState = { left: trial.pools, values: ask.jobClass.shape.shared.values };
  let slots = 0;
  while (slots < wanted) {
    const view: NodeView = { ...empty, available: availableOf(bins, bin, trial.free), jobs: others };
    const judgement = ask.jobClass.fit.judge(view, shared);
    if (judgement.kind === "refused") break;
    if (judgement.closes === "job" && slots > 0 && ask.unitsPerNode !== 1) break;
    charge(bins, trial, judgement);
    slots += 1;
    if (judgement.takes.size === 0 && judgement.drains.size === 0 && judgement.closes !== "job") {
      slots = wanted;
    }
  }
  return { slots, trial };
}

function charge(bins: Bins, trial: Trial, { takes, drains, closes }: Met): void {
  for (const [name, take] of takes) {
    const position = bins.resources.indexOf(name);
    if (position < 0) continue;
    trial.free[position] = (trial.free[position] ?? 0) - Math.max(0, isSize(take) ? bytesOf(take) : take);
  }
  for (const [pool, amount] of drains) trial.pools.set(pool, (trial.pools.get(pool) ?? 0) - amount);
  trial.alone ||= closes !== undefined;
}

/** The node's resources with what is left of those that are counted. */
function availableOf(bins: Bins, bin: Bin, free: readonly number[]): NodeView["available"] {
  const available: Record<string, ResourceValue> = { ...viewOf(bins.subjectOf(bin)).available };
  bins.resources.forEach((name, r) => {
    const before = available[name];
    const left = free[r] ?? 0;
    if (isSize(before)) available[name] = { amount: left / bytesPer(before.unit), unit: before.unit };
    else if (typeof before === "number" || typeof before === "boolean") available[name] = left;
  });
  return available;
}
