import type { ArrayName, MachineType } from "./ids.ts";
import type { Instant } from "./units.ts";

/** Nodes that are up and not needed, and that are not stopped because their busy state is unknown. They cost money. */
export interface Unneeded {
  readonly nodes: number;
  /** How long this has lasted: since the first of them became unneeded, approximately. */
  readonly since: Instant;
  /** The most frequent VM sizes among them. */
  readonly sizes: readonly UnneededSize[];
  /** Absent: the price of none of them is known. */
  readonly cost?: UnneededCost;
}

/** A number of unneeded nodes of one array and VM size. */
export interface UnneededSize {
  readonly array: ArrayName;
  readonly machineType: MachineType;
  readonly nodes: number;
}

/** What the unneeded nodes cost. */
export interface UnneededCost {
  readonly perHour: number;
  readonly currency: string;
  /** Nodes whose price is unknown. They are not in the sum. */
  readonly unpriced: number;
}
