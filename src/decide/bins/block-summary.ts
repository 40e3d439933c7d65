import type { Bin } from "./bin.ts";
import type { BinColumns } from "./bin-columns.ts";
import { EMPTY } from "./bin-columns.ts";
import type { ParetoFront } from "./pareto-front.ts";
import { addPair, reaches } from "./pareto-front.ts";
import type { RoomSearch } from "./room-search.ts";

/**
 * An upper bound of what is free on each of several bins. Free amounts only fall while a plan is made, so it stays one. It is recomputed when it
 * has let a search pass that found nothing.
 *
 * Bench row: karpenter-pods 20,000 takes 1.25 times as long without summaries.
 */
export interface Summary {
  /** The largest free amount of each resource. Behind the resources: 1 if one of the bins is empty, else 0. Without bins all are -1. */
  readonly most: Float64Array;
  /** The free amounts of the two most used resources. */
  readonly front: ParetoFront;
}

export const newSummary = (width: number): Summary => ({ most: new Float64Array(width + 1), front: [] });

/** Makes it the summary of no bins. */
export function clearSummary({ most, front }: Summary): void {
  front.length = 0;
  most.fill(-1);
}

/** Raises the summary to what is free on a bin. */
export function raiseSummary({ most, front }: Summary, columns: BinColumns, bin: Bin): void {
  const { free, width, pair } = columns;
  const start = bin * width;
  for (let r = 0; r < width; r += 1) {
    const left = free[start + r] ?? 0;
    if (left > (most[r] ?? 0)) most[r] = left;
  }
  const isEmpty = ((columns.state[bin] ?? 0) & EMPTY) === 0 ? 0 : 1;
  if (isEmpty > (most[width] ?? 0)) most[width] = isEmpty;
  const [a, b] = pair;
  if (a !== b) addPair(front, free[start + a] ?? 0, free[start + b] ?? 0);
}

/** Whether one of the bins may have room. False is certain, true is not. */
export function covers({ most, front }: Summary, { takes, least }: RoomSearch): boolean {
  if ((most[most.length - 1] ?? 0) < (takes.alone ? 1 : 0)) return false;
  const { resource, pair } = takes;
  for (let i = 0; i < resource.length; i += 1)
    if ((most[resource[i] ?? 0] ?? 0) < (least[i] ?? 0)) return false;
  return pair === undefined || reaches(front, least[pair[0]] ?? 0, least[pair[1]] ?? 0);
}
