import type { Requirements } from "../constraints/requirements.ts";

/** What a slot takes of a node, by position of the resource, in base units. */
export interface Takes {
  readonly resource: readonly number[];
  /** Amounts in the order of `resource`. */
  readonly amount: readonly number[];
  /** Where the two most used resources (`ResourceColumns.pair`) stand in `resource`. Undefined if a slot does not take both. */
  readonly pair: readonly [number, number] | undefined;
  /** The slot needs a node on which there are no slots. */
  readonly alone: boolean;
  /** No amount is above 0. Such a job gets one slot on each node. */
  readonly nothing: boolean;
  /** More than one job takes exactly this. */
  isCommon: boolean;
}

/** What a slot takes, if no other job is known yet that takes the same. */
export function takesOf(
  requirements: Requirements,
  resource: readonly number[],
  amount: readonly number[],
  pair: Takes["pair"],
): Takes {
  const nothing = amount.every((each) => each <= 0);
  return { resource, amount, pair, alone: requirements.alone !== undefined, nothing, isCommon: false };
}
