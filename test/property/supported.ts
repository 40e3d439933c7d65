import type { Features } from "./features.ts";
import { EVERYTHING, without } from "./features.ts";

/** What the allocator does as promised today; `EVERYTHING` is the aim. */
export const SUPPORTED: Features = EVERYTHING;

/**
 * `bucket-order` takes scalelib's word for some of it: a colocated job means one bucket, in a group or not; alternatives are chosen on the
 * bucket, as all constraints are, so that one that names a node, or waits after a capacity failure, keeps jobs from all of its nodes; and
 * deallocated nodes come in the order of their names.
 */
export const SUPPORTED_IN_BUCKET_ORDER: Features = without(
  "colocated",
  "fixedGroups",
  "deallocated",
  "poolChoices",
  "alternatives",
  "grouped",
  "boundGangs",
  "places",
  "refusals",
);

/** Where applying a plan and planning again changes nothing. */
export const SUPPORTED_FIXPOINT: Features = EVERYTHING;

/**
 * Of tiny worlds, the share in which `cheapest` pays the least that is possible, and how much more than the least it pays on average.
 */
export const LEAST_SHARE_EQUAL = 0.95;
export const LARGEST_MEAN_GAP = 0.01;
