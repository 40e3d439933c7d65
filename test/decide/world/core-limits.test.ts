import { describe, expect, test } from "vitest";
import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import type { SizeTable } from "../../../src/domain/catalogue.ts";
import type { Node, Snapshot } from "../../../src/domain/cluster.ts";
import type { Demand } from "../../../src/domain/demand.ts";
import { machineType, requestId } from "../../../src/domain/ids.ts";
import type { Policy } from "../../../src/domain/policy.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import {
  buildArray,
  buildBucket,
  buildNode,
  buildSnapshot,
  EXECUTE,
  NOW,
  rememberNodes,
} from "../../support/build-node.ts";
import { buildJob, buildState, buildTarget, OURS } from "../../support/build-record.ts";

/** Four cores, offered by the array; the nodes that are there are of other sizes. */
const F4 = machineType("Standard_F4");

interface Case {
  readonly nodes: readonly Node[];
  readonly snapshot: Partial<Snapshot>;
  readonly policy?: Partial<Policy>;
}

function plan({ nodes, snapshot, policy }: Case, demands: readonly Demand[] = [buildJob("j", 20)]) {
  const state = buildState({ sets: { standard: { demands } }, ledger: rememberNodes(nodes) });
  const observation = { snapshot: buildSnapshot(nodes, snapshot), requestNodes: new Map() };
  return decide(state.record, state.bodies, observation, { ...DEFAULT_POLICY, ...policy }, NOW, OURS).plan;
}

const created = (one: Case): number => plan(one).creates.reduce((sum, { count }) => sum + count, 0);

/** A node of a size that the status no longer lists, which jobs may not use: it is going. */
const former = (type: string, more: Partial<Node> = {}) =>
  buildNode("former", { machineType: machineType(type), phase: "going", ...more });

const offering = (cores: number) => ({ buckets: [buildBucket(F4, 4)], limit: { cores } });
const inCluster = {
  limit: { cores: 12 },
  arrays: [buildArray("execute", { buckets: [buildBucket(F4, 4)] })],
};
const inArray = { arrays: [buildArray("execute", offering(12))] };

function ownSizes(region: string, vcpus: number): SizeTable {
  const sizes = new Map([["standard_own", { vcpus }]]);
  return { locations: new Map([[region, sizes]]), proxies: new Map<string, string>() };
}

describe.each([
  { limit: "the cluster's", snapshot: inCluster },
  { limit: "the array's", snapshot: inArray },
])("a size that the status no longer lists counts against $limit limit of 12 cores", ({ snapshot }) => {
  test.each([
    { why: "by the size table", node: former("Standard_D4s_v3"), expected: 2 },
    { why: "whatever its spelling", node: former("standard_d8S_V3"), expected: 1 },
    { why: "by its record, where that says it", node: former("Standard_D4s_v3", { vcpus: 8 }), expected: 1 },
    { why: "not by a record that says 0", node: former("Standard_D4s_v3", { vcpus: 0 }), expected: 2 },
    { why: "by its name, where no table knows it", node: former("Standard_Q8ads_v9"), expected: 1 },
    { why: "by the cores in its name that can be used", node: former("Standard_Q96-8ads_v9"), expected: 1 },
    { why: "as one core, where its name says nothing", node: former("my own size"), expected: 2 },
  ])("$why", ({ node, expected }) => {
    expect(created({ nodes: [node], snapshot })).toBe(expected);
    for (const preference of ["existing-first", "bucket-order"] as const)
      for (const among of ["priority", "cheapest"] as const)
        expect(created({ nodes: [node], snapshot, policy: { preference, among } })).toBe(expected);
  });
});

test("a configured table says how many cores a size has that CycleCloud says nothing of", () => {
  const node = former("Standard_Own");
  const array = buildArray("execute", { ...offering(12), region: "here" });
  const snapshot = { arrays: [array] };
  expect(created({ nodes: [node], snapshot })).toBe(2);
  expect(created({ nodes: [node], snapshot, policy: { vmSizes: ownSizes("here", 8) } })).toBe(1);
});

test("a bucket that is not described is no word of its size", () => {
  const size = machineType("Standard_D8s_v3");
  const undescribed = { vcpus: 0, quotaVcpus: 0, gpus: 0, memoryGib: 0, infiniband: false };
  const gone = buildBucket(size, 8, { valid: false, machine: undescribed });
  const array = buildArray("execute", { buckets: [gone, buildBucket(F4, 4)], limit: { cores: 12 } });
  expect(created({ nodes: [former("Standard_D8s_v3")], snapshot: { arrays: [array] } })).toBe(1);
});

test("a target in cores counts the cores of a node that is up and no longer listed", () => {
  const node = buildNode("former", { machineType: machineType("Standard_D8s_v3") });
  const target = buildTarget(8, { amount: { unit: "cores", count: 8 } });
  expect(plan({ nodes: [node], snapshot: inArray }, [target]).creates).toEqual([]);
});

test("what is on its way of a size that is no longer listed counts, too", () => {
  const state = buildState({
    sets: { standard: { demands: [buildJob("j", 20)] } },
    record: {
      inFlight: [
        {
          requestId: requestId("r"),
          bucket: { array: EXECUTE, machineType: machineType("Standard_D8s_v3") },
          purpose: { kind: "array" },
          added: 1,
          seen: [],
          since: NOW,
        },
      ],
    },
  });
  const observation = { snapshot: buildSnapshot([], inArray), requestNodes: new Map() };
  const { plan: made } = decide(state.record, state.bodies, observation, DEFAULT_POLICY, NOW, OURS);
  expect(made.creates.map(({ count }) => count)).toEqual([1]);
});

test("the reason names how many cores are used", () => {
  const [outcome] = plan({ nodes: [former("Standard_D8s_v3")], snapshot: inArray }).demands;
  expect(outcome?.reasons.map(renderReason)).toEqual([
    "node array execute: 12 of 12 cores used, 16 more needed, 0 left",
  ]);
});
