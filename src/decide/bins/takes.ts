import type { Requirements } from "../constraints/requirements.ts";

/** What a slot takes of a node, by position of the resource, in base units. */
export interface Takes {
  readonly resource: readonly number[];
  /** Amounts in the order of `resource`. */
  readonly amount: readonly number[];
  /** The slot needs a node on which there are no slots. */
  readonly alone: boolean;
  /** No amount is above 0. Such a job gets one slot on each node. */
  readonly nothing: boolean;
}

export function takesOf(
  requirements: Requirements,
  resource: readonly number[],
  amount: readonly number[],
): Takes {
  const nothing = amount.every((each) => each <= 0);
  return { resource, amount, alone: requirements.alone !== undefined, nothing };
}
