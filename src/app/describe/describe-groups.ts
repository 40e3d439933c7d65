import type { Bodies } from "../../domain/bodies.ts";
import { bucketText } from "../../domain/bucket.ts";
import { arrayName } from "../../domain/ids.ts";
import type { GroupedArray, GroupState } from "../../domain/plan.ts";
import type { Policy } from "../../domain/policy.ts";
import { timeoutsOfArray } from "../../domain/timeouts.ts";
import { isoTime, plusSeconds } from "../../domain/units.ts";
import type { GroupedArrayShown, GroupShown } from "../../wire/api/cluster-arrays.ts";
import { describeTimeouts } from "./describe-nodearrays.ts";
import { firstBytes } from "./pages.ts";

/** The groups of an array and size are shown up to this many bytes. Counts always cover all of them. */
const SHOWN_BYTES = 40_000;
/** The same for the sets that ask for them. */
const SETS_BYTES = 8000;
/** A group takes at least 100 bytes. */
const MOST_SHOWN = 400;

/**
 * The generated arrays of grouped requests ("execute:64", "execute:16n") after the last plan: their groups, the buckets and sizes of these,
 * and why the nodes of a group that was given up may be stopped.
 */
export function describeGroups({ plan }: Bodies, policy: Policy): readonly GroupedArrayShown[] {
  return (plan?.groups ?? []).map((array) => describeArray(array, policy));
}

function describeArray(array: GroupedArray, policy: Policy): GroupedArrayShown {
  const { name, wanted, sets, ungrouped, groups } = array;
  const counted = groups.filter(({ state }) => state === "whole" || state === "filling");
  const sum = (of: (group: GroupState) => number): number => groups.reduce((all, one) => all + of(one), 0);
  return {
    name,
    extends: array.array,
    ...describeTimeouts(timeoutsOfArray(policy, arrayName(name), array.array)),
    requestSets: firstBytes(sets, SETS_BYTES),
    groupsWanted: wanted,
    groupsWhole: counted.filter(({ nodes, size }) => nodes >= size).length,
    nodes: sum(({ existing }) => existing),
    nodesReady: sum(({ ready }) => ready),
    ungrouped:
      ungrouped === true
        ? "CycleCloud shows no placement groups for these VM sizes: ordinary nodes, as many as the groups have"
        : undefined,
    groups: firstBytes(
      groups.slice(0, MOST_SHOWN).map((group) => describeGroup(group, policy)),
      SHOWN_BYTES,
    ),
  };
}

function describeGroup(group: GroupState, policy: Policy): GroupShown {
  const { bucket, state, size, nodes, existing, ready, since, givenUpAt } = group;
  return {
    id: bucket.placementGroup,
    bucket: bucketText(bucket),
    machineType: bucket.machineType,
    state,
    nodesWanted: size,
    nodesAskedFor: nodes,
    nodes: existing,
    nodesReady: ready,
    since: since === undefined ? undefined : isoTime(since),
    givenUpAt: givenUpAt === undefined ? undefined : isoTime(givenUpAt),
    why: whyOf(group, policy),
  };
}

function whyOf({ state, size, nodes, ready, since }: GroupState, policy: Policy): string {
  switch (state) {
    case "whole":
      return ready >= size ? "all of its nodes are up" : "all of its nodes are there or on their way";
    case "filling": {
      if (nodes >= size) return "all of its nodes are there or on their way";
      const until = since === undefined ? undefined : plusSeconds(since, policy.groupFillTimeoutSeconds);
      const then = until === undefined ? "" : ` until ${isoTime(until)}; then its nodes are released`;
      return `lacks ${size - nodes} of ${size} nodes and is filled${then}`;
    }
    case "given-up":
      return "was not complete in time: its nodes may be removed, except those with jobs";
    case "spare":
      return "no request asks for it any more: its nodes may be removed, except those with jobs";
  }
}
