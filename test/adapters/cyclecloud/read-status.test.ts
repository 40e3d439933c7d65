import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readNode } from "../../../src/adapters/cyclecloud/read-node.ts";
import { readStatus } from "../../../src/adapters/cyclecloud/read-status.ts";
import { clusterName } from "../../../src/domain/ids.ts";
import { instant } from "../../../src/domain/units.ts";

const cluster = clusterName("demo");
const at = instant(1_768_040_000_000);

function readFixture(): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, "../../fixtures/cyclecloud/status.json"), "utf8"));
}

test("a status with odd cases, types and gaps is read whole", () => {
  expect(readStatus(readFixture(), cluster, at)).toEqual({
    kind: "snapshot",
    oddities: { nodesWithoutId: 1, nodesRepeated: 0, bucketsWithoutMachineType: 0 },
    snapshot: {
      cluster: "demo",
      at: 1_768_040_000_000,
      state: "Started",
      targetState: "Started",
      limit: { count: 50, cores: 400 },
      arrays: [
        {
          name: "work",
          limit: { count: 20, cores: 160 },
          region: "northeurope",
          spot: false,
          autoscaled: false,
          placementGroup: "only",
          priority: 3,
          resources: { scratch: 200, licence: "lots" },
          buckets: [
            {
              bucketId: "11111111-0000-4000-8000-000000000001",
              machineType: "Standard_D8s_v5",
              valid: true,
              availableCount: 4,
              activeCount: 1,
              maxCount: 20,
              maxCoreCount: 160,
              familyQuota: { quotaCores: 64, consumedCores: 8 },
              regionalQuota: { quotaCores: 500, consumedCores: 510 },
              maxPlacementGroupSize: 40,
              placementGroups: [{ name: "only", activeCount: 1 }],
              lastCapacityFailureSeconds: 12.5,
              machine: { vcpus: 8, quotaVcpus: 16, gpus: 0, memoryGib: 32, infiniband: false },
            },
            {
              bucketId: "11111111-0000-4000-8000-000000000002",
              machineType: "Standard_D16s_v5",
              valid: false,
              invalidReason: "no virtualMachine in status",
              availableCount: 0,
              activeCount: 0,
              placementGroups: [],
              machine: { vcpus: 0, quotaVcpus: 0, gpus: 0, memoryGib: 0, infiniband: false },
            },
          ],
        },
        {
          name: "cheap",
          limit: {},
          spot: true,
          autoscaled: true,
          priority: 1,
          resources: {},
          buckets: [
            {
              bucketId: "11111111-0000-4000-8000-000000000003",
              machineType: "Standard_D8s_v5",
              valid: false,
              invalidReason: "NotActivated",
              availableCount: 0,
              activeCount: 0,
              regionalQuota: { quotaCores: 100, consumedCores: 0 },
              placementGroups: [],
              machine: { vcpus: 8, quotaVcpus: 8, gpus: 2, memoryGib: 32, infiniband: true },
            },
          ],
        },
        { name: "bare", limit: {}, spot: false, autoscaled: true, priority: 1, resources: {}, buckets: [] },
      ],
      nodes: [
        {
          nodeId: "22222222-0000-4000-8000-000000000001",
          name: "work-1",
          array: "work",
          machineType: "Standard_D8s_v5",
          phase: "ready",
          status: "Ready",
          statusMessage: "attributes differ: stop_callback=https://scaler.example/api/autostop/demo/*** here",
          vcpus: 8,
          memoryGib: 32,
          hostname: "ip-0A000004",
          privateIp: "10.0.0.4",
          instanceId: "vm-1",
          placementGroup: "only",
          keepAlive: true,
          resources: { scratch: 150 },
        },
        {
          nodeId: "22222222-0000-4000-8000-000000000002",
          name: "login",
          array: "login",
          machineType: "Standard_D4s_v5",
          phase: "off",
          status: "Off",
          noTargetState: true,
          keepAlive: false,
        },
      ],
    },
  });
});

test("the autostop token appears nowhere in what was read", () => {
  expect(JSON.stringify(readStatus(readFixture(), cluster, at))).not.toContain("secretsecret");
});

test("a record object that comes again is not read again", () => {
  const record = Object.freeze({ NodeId: "n", Status: "Ready", TargetState: "Started" });
  expect(readNode(record)).toBe(readNode(record));
  expect(readNode({ ...record })).not.toBe(readNode(record));
});

describe("an answer that is no status is not believed", () => {
  const bucket = { definition: { machineType: "A2" }, activeCount: 2 };
  test.each([
    {
      name: "a login page",
      body: "<html>Sign in</html>",
      path: "(body)",
      found: "an HTML page",
      expected: "an object",
    },
    { name: "nothing", body: undefined, path: "(body)", found: "nothing", expected: "an object" },
    { name: "a list", body: [], path: "(body)", found: "a list", expected: "an object" },
    {
      name: "no node arrays",
      body: { nodes: [] },
      path: "nodearrays",
      found: "nothing",
      expected: "a list of node arrays",
    },
    {
      name: "no nodes",
      body: { nodearrays: [] },
      path: "nodes",
      found: "nothing",
      expected: "a list of node records",
    },
    {
      name: "nodes are null",
      body: { nodearrays: [], nodes: null },
      path: "nodes",
      found: "null",
      expected: "a list of node records",
    },
    {
      name: "a node array is a text",
      body: { nodearrays: ["work"], nodes: [] },
      path: "nodearrays[0]",
      found: "a text",
      expected: "an object",
    },
    {
      name: "a node array has no name",
      body: { nodearrays: [{ name: "a" }, { buckets: [] }], nodes: [] },
      path: "nodearrays[1].name",
      found: "nothing",
      expected: "a name",
    },
    {
      name: "buckets count active nodes and none is listed",
      body: {
        nodearrays: [
          { name: "a", buckets: [bucket] },
          { name: "b", buckets: [{ ...bucket, activeCount: 1 }] },
        ],
        nodes: [],
      },
      path: "nodes",
      found: "no node",
      expected: "the 3 active nodes that the buckets count",
    },
  ])("$name", ({ body, path, found, expected }) => {
    expect(readStatus(body, cluster, at)).toEqual({ kind: "malformed", path, found, expected });
  });
});

test("buckets that name no machine type anywhere are left out and counted", () => {
  const body = { nodearrays: [{ name: "a", buckets: [{ bucketId: "x" }, null] }], nodes: [] };
  const reading = readStatus(body, cluster, at);
  expect(reading.kind === "snapshot" && reading.oddities).toEqual({
    nodesWithoutId: 0,
    nodesRepeated: 0,
    bucketsWithoutMachineType: 2,
  });
});

test("a node that is listed twice is one node, as its first record says, and is counted", () => {
  const record = (id: string, Status: string) => ({ NodeId: id, Name: id, Template: "a", Status });
  const nodes = [record("x", "Ready"), record("y", "Ready"), record("x", "Failed")];
  const reading = readStatus({ nodearrays: [{ name: "a", buckets: [] }], nodes }, cluster, at);
  if (reading.kind === "malformed") throw new RangeError(reading.expected);
  expect(reading.snapshot.nodes.map(({ nodeId, status }) => [nodeId, status])).toEqual([
    ["x", "Ready"],
    ["y", "Ready"],
  ]);
  expect(reading.oddities).toEqual({ nodesWithoutId: 0, nodesRepeated: 1, bucketsWithoutMachineType: 0 });
});

test("a cluster that was never started and has nothing is empty, not malformed", () => {
  expect(readStatus({ maxCount: 0, maxCoreCount: 0, nodearrays: [], nodes: [] }, cluster, at)).toEqual({
    kind: "snapshot",
    snapshot: {
      cluster: "demo",
      at: 1_768_040_000_000,
      limit: { count: 0, cores: 0 },
      arrays: [],
      nodes: [],
    },
    oddities: { nodesWithoutId: 0, nodesRepeated: 0, bucketsWithoutMachineType: 0 },
  });
});
