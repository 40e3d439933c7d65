import { expect, test } from "vitest";
import { countAsked, noteDemand } from "../../../src/app/demand/note-demand.ts";
import type { Demand, WholeUpdate } from "../../../src/domain/demand.ts";
import { arrayName, digest, setName } from "../../../src/domain/ids.ts";
import { digestOfAttributes } from "../../../src/domain/digest.ts";
import { at, buildNode, buildSnapshot, rememberNodes, EXECUTE, NOW, PROD } from "../../support/build-node.ts";
import { buildJob, buildTarget } from "../../support/build-record.ts";
import { emptyRecord } from "../../support/sample-record.ts";

/** What a sender is told about demand that is accepted. */

const GPU = arrayName("gpu");

function update(demands: readonly Demand[], more: Partial<WholeUpdate> = {}): WholeUpdate {
  return {
    cluster: PROD,
    set: setName("standard"),
    revision: { value: NOW, tieBreak: "" },
    intervalSeconds: 300,
    sentAt: NOW,
    expiresAt: at(300),
    digest: digest("aa"),
    demand: { demands, pools: [], rejectedJobs: [] },
    bytes: 100,
    ...more,
  };
}

const bodies = { demands: new Map(), reports: new Map(), ledger: new Map() };
const bound = (limit: { readonly count?: number; readonly cores?: number }) => {
  const seen = buildSnapshot([]);
  const arrays = seen.arrays.map((array) => ({ ...array, limit }));
  return { record: emptyRecord(PROD), bodies: { ...bodies, seen: { ...seen, arrays, limit: {} } } };
};

test("what was accepted is counted", () => {
  const { demand } = update([buildTarget(3), buildJob("a", 5), buildJob("b", 2, { nodeCount: 4 })]);
  expect(countAsked(demand)).toEqual({ nodearrays: 1, jobs: 2, slots: 13 });
  expect(countAsked(update([]).demand)).toEqual({ nodearrays: 0, jobs: 0, slots: 0 });
});

test("nothing to note", () => {
  expect(noteDemand(update([buildTarget(3), buildJob("a", 5)]), bound({ count: 3 }))).toEqual([]);
});

test("an expiration interval that is cut", () => {
  const cut = update([], { intervalSeconds: 86_400, askedIntervalSeconds: 999_999 });
  expect(noteDemand(cut, { record: emptyRecord(PROD) })).toEqual([
    "expirationInterval 999999 s is cut to 86400 s, this cluster's maxExpirationInterval",
  ]);
});

test("a name with bytes that were not UTF-8", () => {
  const jobs = [
    buildJob("gr\uFFFD\uFFFDe", 5),
    buildJob("größe", 5),
    buildJob("c", 1, { user: "j\uFFFDrg" }),
  ];
  expect(noteDemand(update(jobs), bound({}))).toEqual([
    'gr\uFFFD\uFFFDe, j\uFFFDrg: "\uFFFD" stands for bytes that are not UTF-8: names that differ only there are the same, and caps and senders know others; send UTF-8',
  ]);
});

test("the array of all groups of one size: groups of its node array are asked for", () => {
  const targets = ["execute:64", "execute:16n", "nosuch:64", "execute:x"].map((name) =>
    buildTarget(1, { array: arrayName(name) }),
  );
  expect(noteDemand(update(targets), bound({}))).toEqual([
    '"execute:64" is made of groups: ask for node array "execute" with TargetGroupCount and "GroupCoreCount": 64 (a list, as for update)',
    '"execute:16n" is made of groups: ask for node array "execute" with TargetGroupCount and "GroupInstanceCount": 16 (a list, as for update)',
    'node array "nosuch:64" does not exist in the cluster (known: execute)',
    'node array "execute:x" does not exist in the cluster (nearest: execute; known: execute)',
  ]);
});

test("a node array that the cluster does not have; a dynamic one is made, and needs none", () => {
  const targets = [
    buildTarget(1, { array: arrayName("nosuch") }),
    buildTarget(1, { array: arrayName("made"), extends: EXECUTE }),
  ];
  expect(noteDemand(update(targets), bound({}))).toEqual([
    'node array "nosuch" does not exist in the cluster (known: execute)',
  ]);
});

test.each([
  {
    name: "nodes",
    demand: buildTarget(100_000),
    limit: { count: 200 },
    note: "node array execute: 100000 nodes asked for, node array execute has at most 200 (maxCount)",
  },
  {
    name: "nodes, where the limit is in cores: of the smallest size",
    demand: buildTarget(100),
    limit: { cores: 200 },
    note: "node array execute: 400 cores asked for, node array execute has at most 200 (maxCoreCount)",
  },
  {
    name: "cores",
    demand: buildTarget(0, { amount: { unit: "cores", count: 201 } }),
    limit: { cores: 200 },
    note: "node array execute: 201 cores asked for, node array execute has at most 200 (maxCoreCount)",
  },
])("a huge count in $name", ({ demand, limit, note }) => {
  expect(noteDemand(update([demand]), bound(limit))).toEqual([note]);
});

test("a set is replaced: what it does not name any more is named here", () => {
  const before = {
    demands: [buildTarget(1), buildTarget(2, { id: "gpu", array: GPU })],
    pools: [],
    rejectedJobs: [],
  };
  const record = emptyRecord(PROD);
  expect(noteDemand(update([buildTarget(5)]), { record, before })).toEqual([
    "request set standard no longer asks for gpu: a message replaces all of its request set",
  ]);
  // Emptied on purpose.
  expect(noteDemand(update([]), { record, before })).toEqual([]);
});

test("a message without demand leaves the demand as it is: nothing of it is no longer asked for", () => {
  const { demand: _none, digest: _digest, ...report } = update([]);
  const before = { demands: [buildTarget(1)], pools: [], rejectedJobs: [] };
  const known = { record: emptyRecord(PROD), before };
  expect(noteDemand({ ...report, schedulerNodes: [] }, known)).toEqual([]);
});

test.each([
  [
    false,
    'node array execute: the change of its attributes counts for new nodes; with the old ones: execute-1; they stay until they are stopped; "replace-when-idle": true replaces them when they are idle',
  ],
  [
    true,
    "node array execute: the change of its attributes counts for new nodes; with the old ones: execute-1; they are replaced when they are idle",
  ],
])("nodes that a change of attributes leaves behind, replaced: %s", (isReplaced, note) => {
  const asked = (version: number) => buildTarget(2, { attributes: { Configuration: { version } } });
  const look = digestOfAttributes({ Configuration: { version: 1 } });
  const node = buildNode("1");
  const seen = buildSnapshot([node]);
  const ledger = rememberNodes([node], look === undefined ? {} : { look });
  const circumstances = {
    record: emptyRecord(PROD),
    bodies: { ...bodies, seen, ledger },
    before: { demands: [asked(1)], pools: [], rejectedJobs: [] },
  };
  const replaced = isReplaced ? { replaceWhenIdle: true as const } : {};
  expect(noteDemand(update([{ ...asked(2), ...replaced }]), circumstances)).toEqual([note]);
  expect(noteDemand(update([asked(1)]), circumstances)).toEqual([]);
});
