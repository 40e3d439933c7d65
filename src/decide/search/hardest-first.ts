import type { Entry } from "../bins/entry.ts";
import type { Problem } from "./attempt.ts";
import type { Ground } from "../bins/node-kinds.ts";
import type { Attempt } from "./better.ts";

/**
 * The order in which the demands that could be had are packed once more: groups, gangs, what must be alone, then the largest first (first
 * fit decreasing packs within 22 % of the best for one resource; Johnson 1973), targets last, as they count what others need. Of groups and
 * of targets those go first that few buckets can serve: what they bring counts for one that takes any, and not the other way round. Those that
 * could not be had in full come after, by rank: they are not to take anything from those that could.
 */
export function hardestFirst(
  entries: readonly Entry[],
  { outcomes }: Attempt,
  { ground, scopes }: Pick<Problem, "ground" | "scopes">,
  { also = NONE, before, looseFirst = false }: Exceptions = {},
): readonly Entry[] {
  const isMet = ({ rank }: Entry): boolean => {
    const outcome = outcomes[rank];
    return (outcome !== undefined && outcome.placed >= outcome.asked) || also.has(rank) || rank === before;
  };
  // Columns, and not an object for each: there may be a hundred thousand.
  const { length } = entries;
  const met = new Uint32Array(length);
  const columns = {
    hardness: new Float64Array(length),
    size: new Float64Array(length),
    breadth: new Float64Array(length),
    jobClass: new Float64Array(length),
  };
  const unmet: Entry[] = [];
  entries.forEach((entry, at) => {
    if (!isMet(entry)) {
      unmet.push(entry);
      return;
    }
    met[at - unmet.length] = at;
    columns.hardness[at] = 2 * hardnessOf(entry, looseFirst) + (entry.rank === before ? 0 : 1);
    columns.size[at] = sizeOf(entry, ground.largest);
    if (entry.kind === "job") columns.jobClass[at] = entry.jobClass.index;
    else columns.breadth[at] = scopes.of(entry).offers.length;
  });
  const { hardness, size, breadth, jobClass } = columns;
  const less = (column: Float64Array, a: number, b: number): number => (column[a] ?? 0) - (column[b] ?? 0);
  const order = met
    .subarray(0, length - unmet.length)
    .sort(
      (a, b) =>
        less(hardness, a, b) || less(size, b, a) || less(breadth, a, b) || less(jobClass, a, b) || a - b,
    );
  return Array.from(order, (at) => entries[at])
    .filter((entry) => entry !== undefined)
    .concat(unmet);
}

/** What is to be otherwise in the order of the hardest first. */
export interface Exceptions {
  /** Ranks of demands that are packed with those that could be had, although they could not. */
  readonly also?: ReadonlySet<number>;
  /** The rank of one more, which comes before all that is as hard. */
  readonly before?: number;
  /**
   * Gangs, and then what must be alone, come after what is packed: else they take large nodes where small ones would do, or nodes of their
   * own where there would be room beside others.
   */
  readonly looseFirst?: boolean;
}

const NONE: ReadonlySet<number> = new Set();

/** The largest share that a unit takes of the largest node there could be. */
function sizeOf(entry: Entry, largest: Ground["largest"]): number {
  if (entry.kind !== "job") return 0;
  const { jobClass, slotsPerUnit } = entry;
  if (jobClass.takes === undefined) return 0;
  const { resource, amount } = jobClass.takes;
  let size = 0;
  for (let i = 0; i < resource.length; i += 1)
    size = Math.max(size, (amount[i] ?? 0) / Math.max(1e-300, largest[resource[i] ?? 0] ?? 0));
  return size * slotsPerUnit;
}

function hardnessOf(entry: Entry, looseFirst: boolean): number {
  if (entry.kind === "groups") return 0;
  if (entry.kind === "target") return 9;
  const { together, requirements, jobClass } = entry;
  if (together === "one-group") return 1;
  if (looseFirst && requirements.alone !== undefined) return 7;
  if (together !== "anywhere") return looseFirst ? 6 : 2;
  if (requirements.alone !== undefined) return 3;
  return jobClass.takes === undefined ? 4 : 5;
}
