import type { Instant } from "../../domain/units.ts";
import type { Mode } from "./app-view.ts";
import type { Resumes } from "./demand.ts";
import type { Place } from "./mapping.ts";

/** What the agent keeps on disk. A lost file costs nothing but time: marks end by their own text. */
export interface Kept {
  /** The last mode heard of each node array. Nothing was heard: it is observed. */
  readonly modes: ReadonlyMap<string, Mode>;
  readonly resumes: Resumes;
  /** The nodes that we set DOWN, and until when. */
  readonly marks: ReadonlyMap<string, Instant>;
  /** The nodes of these that a person opened before that end. */
  readonly opened: ReadonlyMap<string, Instant>;
  /** Names that the app said it did not make. Their suspend goes to the program that was there before. */
  readonly others: ReadonlySet<string>;
  /** When nodes were set DOWN because no instance is behind them, by node array. */
  readonly downs: readonly { readonly nodearray: string; readonly at: Instant }[];
  /** What each job was told last, and when by a notification. */
  readonly told: ReadonlyMap<string, Told>;
  /** What powered-down nodes are closed for, by place or name. */
  readonly closures: ReadonlyMap<string, Closure>;
}

/** A refusal that lasts longer than the resume that it answers. */
export interface Closure {
  /** Absent: of a name that no range has. */
  readonly place?: Place;
  /** Of a cause of one name: the name. Absent: it holds for every job that could use the place. */
  readonly name?: string;
  readonly why: string;
  /** Of a cause of one name: when it is tried again. */
  readonly until?: Instant;
  /** Of a cause that holds for every job: when the app last refused a name for it. */
  readonly refusedAt?: Instant;
}

interface Told {
  readonly text: string;
  readonly at: Instant;
}

export const NOTHING_KEPT: Kept = {
  modes: new Map(),
  resumes: new Map(),
  marks: new Map(),
  opened: new Map(),
  others: new Set(),
  downs: [],
  told: new Map(),
  closures: new Map(),
};
