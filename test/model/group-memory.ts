import type { ClusterRecord } from "../../src/domain/record.ts";

/** What is remembered of a group that lacked nodes. */
export interface Fill {
  readonly since: number;
  /** Its time to be filled was over: it is waited for no longer. */
  readonly givenUpAt: number | undefined;
}

/** A group that was there before a plan, and what the plan makes of it. */
export interface GroupEnd {
  readonly name: string;
  readonly key: string;
  /** Nodes with those that the plan adds, those of them that are up, and those of a whole group; undefined: nobody asks for it. */
  readonly nodes: number;
  readonly ready: number;
  readonly size: number | undefined;
  readonly fill: Fill | undefined;
  readonly counted: boolean;
  readonly completed: boolean;
  readonly givenUp: boolean;
}

/**
 * What is to be remembered after a plan (issue 5, section 4): a group is being filled from the plan that found it lacking until all of it
 * is up or nobody asks for it; one that was given up is known as such as long as it has nodes and no want counts upon it.
 */
export function fillsAfter(
  fills: ReadonlyMap<string, Fill>,
  groups: readonly GroupEnd[],
  hasNodes: (name: string) => boolean,
  now: number,
): ReadonlyMap<string, Fill> {
  const after = new Map(
    [...fills].filter(([name, { givenUpAt }]) => givenUpAt !== undefined && hasNodes(name)),
  );
  for (const group of groups) {
    const { name, fill } = group;
    if (group.counted) {
      after.delete(name);
      const since = fill?.givenUpAt === undefined ? fill?.since : undefined;
      const isFilled = group.completed || since !== undefined || group.nodes < (group.size ?? 0);
      if (isFilled && group.ready < (group.size ?? 0))
        after.set(name, { since: since ?? now, givenUpAt: undefined });
    } else if (group.givenUp && fill !== undefined) {
      after.set(name, { since: fill.since, givenUpAt: now });
    }
  }
  return after;
}

/** Keys of which some groups count and others, just as whole, do not, while one of them is remembered: which of them, no rule says. */
export function unsureKeys(groups: readonly GroupEnd[]): ReadonlySet<string> {
  const isWhole = ({ nodes, size, completed }: GroupEnd): boolean =>
    !completed && nodes >= (size ?? Infinity);
  const whole = Map.groupBy(groups.filter(isWhole), ({ key }) => key);
  const unsure = [...whole].filter(
    ([, alike]) =>
      alike.some(({ counted }) => counted) &&
      alike.some(({ counted }) => !counted) &&
      alike.some(({ fill }) => fill !== undefined),
  );
  return new Set(unsure.map(([key]) => key));
}

/** The groups that lacked nodes, as a record remembers them: their memory is taken from there, and what becomes of it is compared. */
export function fillsOf(record: ClusterRecord | undefined): ReadonlyMap<string, Fill> {
  return new Map(
    (record?.groupFills ?? []).map(({ bucket, since, givenUpAt }) => [
      bucket.placementGroup ?? "",
      { since, givenUpAt },
    ]),
  );
}

/** As lines of text, in alphabetical order. */
export function linesOfFills(fills: ReadonlyMap<string, Fill>): readonly string[] {
  return [...fills]
    .map(([name, { since, givenUpAt }]) => {
      const end = givenUpAt === undefined ? "being filled" : `given up at ${givenUpAt}`;
      return `${name}: lacking since ${since}, ${end}`;
    })
    .toSorted();
}
