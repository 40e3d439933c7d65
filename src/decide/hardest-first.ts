import type { Entry } from "./allocate.ts";
import type { Attempt, Problem } from "./attempt.ts";

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
  const { largest } = ground;
  const isMet = ({ rank }: Entry): boolean => {
    const outcome = outcomes[rank];
    return (outcome !== undefined && outcome.placed >= outcome.asked) || also.has(rank) || rank === before;
  };
  const met = entries.filter(isMet);
  const sizes = new Map<number, number>();
  const sizeOf = (entry: Entry): number => {
    if (entry.kind !== "job") return 0;
    const { index, takes } = entry.ask.jobClass;
    let size = sizes.get(index);
    if (size === undefined) {
      size = 0;
      takes?.resource.forEach((position, i) => {
        const share = (takes.amount[i] ?? 0) / Math.max(1e-300, largest[position] ?? 0);
        size = Math.max(size ?? 0, share);
      });
      sizes.set(index, size);
    }
    return size * entry.ask.slotsPerUnit;
  };
  const breadthOf = (entry: Entry): number => (entry.kind === "job" ? 0 : scopes.of(entry).offers.length);
  const keyed = met.map((entry) => ({
    entry,
    hardness: hardnessOf(entry, looseFirst),
    size: sizeOf(entry),
    breadth: breadthOf(entry),
  }));
  keyed.sort(
    (a, b) =>
      a.hardness - b.hardness ||
      Number(b.entry.rank === before) - Number(a.entry.rank === before) ||
      b.size - a.size ||
      a.breadth - b.breadth ||
      classOf(a.entry) - classOf(b.entry) ||
      a.entry.rank - b.entry.rank,
  );
  return [...keyed.map(({ entry }) => entry), ...entries.filter((entry) => !isMet(entry))];
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

function hardnessOf(entry: Entry, looseFirst: boolean): number {
  if (entry.kind === "groups") return 0;
  if (entry.kind === "target") return 9;
  const { together, requirements, jobClass } = entry.ask;
  if (together === "one-group") return 1;
  if (looseFirst && requirements.alone !== undefined) return 7;
  if (together !== "anywhere") return looseFirst ? 6 : 2;
  if (requirements.alone !== undefined) return 3;
  return jobClass.takes === undefined ? 4 : 5;
}

const classOf = (entry: Entry): number => (entry.kind === "job" ? entry.ask.jobClass.index : 0);
