import type { ClusterRecord } from "../../src/domain/record.ts";

/** A group that lacks nodes, as it is remembered. */
export interface Fill {
  readonly since: number;
  /** When its time to be filled was over: since then it is not waited for. */
  readonly givenUpAt: number | undefined;
}

/** A group that existed before a plan, and what the plan makes of it. */
export interface GroupEnd {
  readonly name: string;
  readonly key: string;
  /** `nodes`: with those that the plan adds. `ready`: those that are up. `size`: of a whole group; undefined if no want asks for it. */
  readonly nodes: number;
  readonly ready: number;
  readonly size: number | undefined;
  readonly fill: Fill | undefined;
  readonly counted: boolean;
  readonly completed: boolean;
  readonly givenUp: boolean;
}

/**
 * The groups to remember after a plan (docs/demand.md, Groups). A group is being filled from the plan that found it lacking until all of it
 * is up or no want asks for it. A group that was given up is remembered while it has nodes and no want counts on it.
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

/** Keys of which some whole groups count and others do not, while one of them is remembered. No rule says which of them count. */
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

/** The groups that lacked nodes, from a record. */
export function fillsOf(record: ClusterRecord | undefined): ReadonlyMap<string, Fill> {
  return new Map(
    (record?.groupFills ?? []).map(({ bucket, since, givenUpAt }) => [
      bucket.placementGroup ?? "",
      { since, givenUpAt },
    ]),
  );
}

/** The same as lines of text, in alphabetical order. */
export function linesOfFills(fills: ReadonlyMap<string, Fill>): readonly string[] {
  return [...fills]
    .map(([name, { since, givenUpAt }]) => {
      const end = givenUpAt === undefined ? "being filled" : `given up at ${givenUpAt}`;
      return `${name}: lacking since ${since}, ${end}`;
    })
    .toSorted();
}
