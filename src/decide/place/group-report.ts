import type { GroupedArray, GroupState } from "../../domain/plan.ts";
import { compareText } from "../../domain/text.ts";
import type { Draft } from "../draft/draft.ts";
import type { Group } from "./group-members.ts";
import { chunksOf, countReady, existingGroups, isGivenUp, isWhole, sizeOfKey } from "./group-members.ts";
import type { Place } from "../bins/node-kinds.ts";
import type { GroupTally } from "../draft/group-names.ts";
import { emptyTally } from "../draft/group-names.ts";
import type { Bin } from "../bins/bin-columns.ts";

/** Maximum number of sets that are named. */
const MOST_SETS = 10;

/** All groups of a finished plan by array and size, with their state: those that it counts on, and the others. */
export function reportGroups(draft: Draft): readonly GroupedArray[] {
  return [...draft.groups, ...forgottenGroups(draft)]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([name, tally]) => {
      const { demand, sets, ungrouped } = tally;
      // Sets may list different VM sizes, so all sizes of the array are included.
      const scope = { accepts: ({ bucket }: Place) => bucket.array === demand.array };
      const placed = existingGroups(draft, demand, name, scope, { ungrouped: false });
      const isUsed = (bin: Bin): boolean => tally.bins.has(bin);
      const groups = ungrouped ? [...placed, ...chunksOf(draft, demand, name, scope, isUsed)] : placed;
      return {
        name,
        array: demand.array,
        wanted: demand.groups,
        sets: [...sets].toSorted(compareText).slice(0, MOST_SETS),
        ...(ungrouped ? { ungrouped } : {}),
        groups: groups.map((group) => stateOf(draft, tally, group)),
      };
    });
}

/** Groups that no demand asks for any more but whose nodes exist. Their purpose contains the array and size. */
function forgottenGroups({ bins, groups }: Draft): ReadonlyMap<string, GroupTally> {
  const forgotten = new Map<string, GroupTally>();
  for (const bin of [...bins.existing, ...bins.inFlight]) {
    const purpose = bins.purpose[bin];
    if (purpose?.kind !== "group" || groups.has(purpose.key)) continue;
    const { array } = bins.placeOfBin(bin).bucket;
    const size = sizeOfKey(purpose.key);
    const known = forgotten.get(purpose.key) ?? emptyTally({ array, size, groups: 0 });
    known.ungrouped ||= purpose.group === undefined;
    if (size.count > 0) forgotten.set(purpose.key, known);
  }
  return forgotten;
}

function stateOf(draft: Draft, tally: GroupTally, group: Group): GroupState {
  const { bins } = draft;
  const ready = countReady(draft, group);
  const existing = group.bins.filter((bin) => bins.origin[bin] === "existing").length;
  const { place, size, nodes } = group;
  return { bucket: place.bucket, size, nodes, existing, ready, ...stageOf(draft, tally, group, ready) };
}

function stageOf(
  { now }: Draft,
  { counted, begun, givenUp, bins }: GroupTally,
  group: Group,
  ready: number,
): Pick<GroupState, "state" | "since" | "givenUpAt"> {
  const { place, fill, size } = group;
  const isCounted =
    place.bucket.placementGroup === undefined
      ? group.bins.every((bin) => bins.has(bin))
      : counted.has(place.index);
  if (isCounted) {
    const before = isGivenUp(group) ? undefined : fill?.since;
    const lacks = !isWhole(group) || begun.has(place.index) || before !== undefined;
    // A group that was begun counts as being filled until all its nodes are up, because nodes in flight may fail.
    return lacks && ready < size ? { state: "filling", since: before ?? now } : { state: "whole" };
  }
  if (isWhole(group) || fill === undefined) return { state: "spare" };
  const givenUpAt = fill.givenUpAt ?? (givenUp.has(place.index) ? now : undefined);
  return givenUpAt === undefined ? { state: "spare" } : { state: "given-up", since: fill.since, givenUpAt };
}
