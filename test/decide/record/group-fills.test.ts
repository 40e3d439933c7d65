import { expect, test } from "vitest";
import { noteGroups } from "../../../src/decide/record/group-fills.ts";
import type { Node } from "../../../src/domain/cluster.ts";
import { placementGroup } from "../../../src/domain/ids.ts";
import type { GroupState } from "../../../src/domain/plan.ts";
import type { GroupFill } from "../../../src/domain/record.ts";
import { at, buildNode, buildSnapshot, NOW } from "../../support/build-node.ts";
import { BUCKET, buildState } from "../../support/build-record.ts";

const KEY = "execute:16n";
const G1 = { ...BUCKET, placementGroup: placementGroup("group-execute-16n-1") };
const G2 = { ...BUCKET, placementGroup: placementGroup("group-execute-16n-2") };

const state = (more: Partial<GroupState>): GroupState => ({
  bucket: G1,
  state: "whole",
  size: 16,
  nodes: 10,
  existing: 10,
  ready: 10,
  ...more,
});
const filling = (since: number): GroupState => state({ state: "filling", since: at(since) });
const inG1 = (id: string): Node => buildNode(id, { placementGroup: G1.placementGroup });

interface Scenario {
  readonly name: string;
  readonly before?: readonly GroupFill[];
  readonly groups: readonly GroupState[];
  readonly nodes?: readonly Node[];
  readonly fills?: readonly GroupFill[];
  readonly pauses?: readonly string[];
}

test.each<Scenario>([
  {
    name: "a group that lacks nodes is written down with its moment",
    groups: [filling(0), state({ bucket: G2 })],
    fills: [{ bucket: G1, key: KEY, since: at(0) }],
  },
  {
    name: "one that is whole, and one that no demand asks for, are forgotten",
    before: [
      { bucket: G1, key: KEY, since: at(-60) },
      { bucket: G2, key: KEY, since: at(-60) },
    ],
    groups: [state({ nodes: 16 }), state({ bucket: G2, state: "spare" })],
  },
  {
    name: "one that is given up by this plan pauses its bucket, all of it",
    before: [{ bucket: G1, key: KEY, since: at(-605) }],
    groups: [state({ state: "given-up", since: at(-605), givenUpAt: NOW })],
    fills: [{ bucket: G1, key: KEY, since: at(-605), givenUpAt: NOW }],
    pauses: [
      "execute/Standard_D4s_v5 for 60 s: execute/Standard_D4s_v5/group-execute-16n-1 had 10 of 16 nodes of a group after 605 s; they are released",
    ],
  },
  {
    name: "one that an earlier plan gave up does not pause it again",
    before: [{ bucket: G1, key: KEY, since: at(-700), givenUpAt: at(-90) }],
    groups: [state({ state: "given-up", since: at(-700), givenUpAt: at(-90) })],
    fills: [{ bucket: G1, key: KEY, since: at(-700), givenUpAt: at(-90) }],
  },
  {
    name: "one that was given up and is on its way down is remembered as long as a node of it is there",
    before: [
      { bucket: G1, key: KEY, since: at(-700), givenUpAt: at(-90) },
      { bucket: G2, key: KEY, since: at(-700), givenUpAt: at(-90) },
    ],
    groups: [],
    nodes: [inG1("a")],
    fills: [{ bucket: G1, key: KEY, since: at(-700), givenUpAt: at(-90) }],
  },
  {
    name: "one that was given up and whose turn has come again is filled from now on",
    before: [{ bucket: G1, key: KEY, since: at(-700), givenUpAt: at(-90) }],
    groups: [filling(0)],
    nodes: [inG1("a")],
    fills: [{ bucket: G1, key: KEY, since: at(0) }],
  },
])("$name", ({ before, groups, nodes = [], fills, pauses = [] }) => {
  const { record } = buildState({ record: before === undefined ? {} : { groupFills: before } });
  const told = groups.length === 0 ? [] : [{ name: KEY, array: BUCKET.array, wanted: 1, sets: [], groups }];
  const next = noteGroups(record, buildSnapshot(nodes), new Map(), told, NOW);
  expect(next.groupFills).toEqual(fills);
  expect(
    next.backoffs.map(
      ({ bucket, seconds, message }) => `${bucket.array}/${bucket.machineType} for ${seconds} s: ${message}`,
    ),
  ).toEqual(pauses);
});
