import type { Features } from "./features.ts";
import { without } from "./features.ts";

/** What the allocator does as promised today; `EVERYTHING` is the aim. */
export const SUPPORTED: Features = without(
  "deallocated",
  "caps",
  "spot",
  "grouped",
  "poolChoices",
  "boundGangs",
);

/** Where applying a plan and planning again changes nothing: one array with one VM size, and no job that goes somewhere as a whole. */
export const SUPPORTED_FIXPOINT: Features = { ...SUPPORTED, variety: false, gangs: false, colocated: false };

/**
 * Of tiny worlds, the share in which `cheapest` pays the least that is possible, and how much more than the least it pays on average.
 * Today prices are not looked at.
 */
export const LEAST_SHARE_EQUAL = 0.55;
export const LARGEST_MEAN_GAP = 0.6;
