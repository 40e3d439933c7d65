import { TOLERANCE } from "../../domain/resources.ts";
import type { Bin, BinColumns } from "./bin-columns.ts";
import { CLOSED, EMPTY } from "./bin-columns.ts";
import type { Takes } from "./takes.ts";

/** What is searched for: a bin with room for `times` slots at once. */
export interface RoomQuery {
  /** What one slot takes. */
  readonly takes: Takes;
  readonly times: number;
  /** A further condition on the bin. Undefined if every bin of the line qualifies. */
  readonly accepts: ((bin: Bin) => boolean) | undefined;
}

/** A query with its thresholds worked out. */
export interface RoomSearch {
  takes: Takes;
  times: number;
  accepts: RoomQuery["accepts"];
  /** The amount that must be free of each resource in `takes`, in the same order. */
  readonly least: Float64Array;
}

/** Free amounts are differences of floating point numbers. A threshold a little below the exact sum absorbs their rounding. */
export const ALL_BUT = 1 - TOLERANCE;

const NOTHING: Takes = {
  resource: [],
  amount: [],
  pair: undefined,
  alone: false,
  nothing: true,
  isCommon: false,
};

/** A search for nothing yet: see {@link reuseSearch}. */
export const newSearch = (width: number): RoomSearch => ({
  takes: NOTHING,
  times: 0,
  accepts: undefined,
  least: new Float64Array(width),
});

/** Makes the search one for another query, without allocating. */
export function reuseSearch(search: RoomSearch, { takes, times, accepts }: RoomQuery): RoomSearch {
  if (search.takes !== takes || search.times !== times) {
    const { amount } = takes;
    for (let i = 0; i < amount.length; i += 1) search.least[i] = (amount[i] ?? 0) * times * ALL_BUT;
  }
  search.takes = takes;
  search.times = times;
  search.accepts = accepts;
  return search;
}

/** Whether the bin has room. */
export function hasRoom(columns: BinColumns, bin: Bin, search: RoomSearch): boolean {
  const state = columns.state[bin] ?? 0;
  if ((state & CLOSED) !== 0 || (search.takes.alone && (state & EMPTY) === 0)) return false;
  const { resource } = search.takes;
  const { free } = columns;
  const { least } = search;
  const start = bin * columns.width;
  for (let i = 0; i < resource.length; i += 1)
    if ((free[start + (resource[i] ?? 0)] ?? 0) < (least[i] ?? 0)) return false;
  return search.accepts === undefined || search.accepts(bin);
}
