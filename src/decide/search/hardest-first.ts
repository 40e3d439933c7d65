import type { Entry } from "../bins/entry.ts";
import type { Problem } from "./problem.ts";
import type { Ground } from "../bins/node-kinds.ts";
import type { Attempt } from "./better.ts";

/**
 * The demands in the order in which the next try places them: groups, gangs, jobs with nodes of their own, then other jobs, the largest
 * first (first fit decreasing needs at most 22 % more than the best packing of one resource; Johnson 1973). Targets come last, because
 * they also count nodes that other demands need. Among groups and targets, those with the fewest usable buckets come first: their nodes can
 * also serve a less restrictive demand, but not the reverse. Demands that `outcomes` leave unmet come after all others, by rank, so that
 * they take nothing from these.
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
  // Columns instead of one object for each entry: there may be 100,000.
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

/** Changes to the order of {@link hardestFirst}. */
export interface Exceptions {
  /** Ranks of unmet demands that are placed among the met ones. */
  readonly also?: ReadonlySet<number>;
  /** The rank of one more. It comes before all demands that are equally hard. */
  readonly before?: number;
  /**
   * Gangs, and after them jobs with nodes of their own, come after the packed jobs. Otherwise they may take large nodes where small ones
   * suffice, or new nodes where packed nodes have room for them.
   */
  readonly looseFirst?: boolean;
}

const NONE: ReadonlySet<number> = new Set();

/** The largest share that one unit takes of the largest possible node, over all resources. */
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
