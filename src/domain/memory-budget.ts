import type { Bytes } from "./units.ts";

export const MIB: Bytes = 1024 * 1024;

/** The heap that V8 allows itself on an instance of the default size, 2,048 MB (infra/main.bicep): the one for which the bounds are documented. */
export const DEFAULT_HEAP: Bytes = 1048 * MIB;

/** What a process does with its heap, in bytes. The rest is for the code, the nodes of clusters, answers, and garbage. */
export interface MemoryBudget {
  /** What a plan needs for the demand of one cluster (demand-memory.ts). Plans of one process together have no more at a time. */
  readonly demand: Bytes;
  /** Messages that are being read or recorded: all of them, and those below {@link SMALL_TEXT}. */
  readonly large: Bytes;
  readonly small: Bytes;
  /** Stored bodies that are kept for the next plan. */
  readonly cache: Bytes;
}

/** A message with less JSON than this has a lane of its own: large ones cannot keep it waiting. */
export const SMALL_TEXT: Bytes = 64 * 1024;

const OF_HEAP = { demand: 0.34, large: 0.3, small: 0.05, cache: 0.2 } as const;

export function budgetOf(heap: Bytes): MemoryBudget {
  const { demand, large, small, cache } = OF_HEAP;
  const share = (part: number): Bytes => Math.floor(heap * part);
  return { demand: share(demand), large: share(large), small: share(small), cache: share(cache) };
}

/** "97.5 MiB", rounded up, so that what is found never looks like what is allowed. */
export const mebibytesText = (bytes: Bytes): string => `${Math.ceil((bytes / MIB) * 10) / 10} MiB`;
