import type { Instant } from "../../domain/units.ts";
import type { AppView } from "./app-view.ts";
import type { Kept } from "./kept.ts";
import type { Mapping } from "./mapping.ts";

/** One change of a node's state in Slurm. */
export interface Act {
  readonly kind: "power-down-force" | "power-down" | "down" | "resume" | "hand-on";
  readonly name: string;
  /** What Slurm is told. Absent for those that take none. */
  readonly reason?: string;
  /** Of a node that is set DOWN: when it is opened again. */
  readonly until?: Instant;
  /** For the log: why. */
  readonly why: string;
}

/** What a decision is made of, beside the nodes. */
export interface Known {
  readonly mapping: Mapping;
  readonly view: AppView;
  readonly kept: Kept;
  readonly now: Instant;
  /** Since when this process has seen each name up. */
  readonly upSince: ReadonlyMap<string, Instant>;
  /** Since when the app calls a name ready that Slurm shows powering up. */
  readonly readySince: ReadonlyMap<string, Instant>;
  /** By job: whether it may be requeued. A job that is not named is treated as one that may not. */
  readonly requeues: ReadonlyMap<string, boolean>;
}
