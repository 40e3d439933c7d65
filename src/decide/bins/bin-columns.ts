import type { Budget } from "../constraints/budget.ts";

/** The columns of the table of bins that a search reads, each indexed by the number of the bin. */
export interface BinColumns {
  /** Searches charge their steps to this budget. */
  readonly budget: Budget;
  /** Free amounts, `width` numbers for each bin: one for each resource, in base units. Below 0: the nodes do not have the resource. */
  readonly free: ArrayLike<number>;
  readonly width: number;
  /** The least of each resource that every job of the plan takes. A bin with less is full for all. */
  readonly least: readonly number[];
  /** Bits: {@link CLOSED}, {@link EMPTY}, {@link CLAIMED} and {@link READY}. */
  readonly state: ArrayLike<number>;
  /** Position in the order of use: lower tiers are used first, and bins of one tier are equally good. */
  readonly tier: ArrayLike<number>;
  /** Decides between bins of one tier. */
  readonly position: ArrayLike<number>;
}

/** The bin takes no more slots: one job has it to itself, or its node cannot be started. */
export const CLOSED = 1;
/** There are no slots on the bin. */
export const EMPTY = 2;
/** At least one demand needs the bin. */
export const CLAIMED = 4;
/** The nodes of the bin are up. Searches ignore this bit. */
export const READY = 8;

/** The number of a bin. A bin is one existing node, or several identical nodes that are in flight or planned. */
export type Bin = number;
