import { describe, expect, test } from "vitest";
import { readNodes, readStatus } from "../../../src/adapters/cyclecloud/read-status.ts";
import type { Snapshot } from "../../../src/domain/cluster.ts";
import { readCaptured } from "../../support/data.ts";
import { arraysOf, bucketOf, cluster, now } from "./captured-snapshots.ts";
import { isFields } from "../../../src/domain/fields.ts";

function snapshotOf(file: string): Snapshot {
  const reading = readStatus(readCaptured(file), cluster, now);
  if (reading.kind !== "snapshot") throw new Error(`${file}: ${JSON.stringify(reading)}`);
  return reading.snapshot;
}

describe("captured status answers", () => {
  test.each([
    {
      name: "invalid, but it has nodes",
      file: "constructed/status-invalid-buckets.json",
      at: [0, 1],
      bucket: { valid: false, invalidReason: "NotActivated", activeCount: 2, availableCount: 0 },
    },
    {
      name: "disabled machine type",
      file: "constructed/status-invalid-buckets.json",
      at: [0, 2],
      bucket: {
        valid: false,
        invalidReason: "DisabledMachineType",
        familyQuota: { quotaCores: 0, consumedCores: 0 },
      },
    },
    {
      name: "a family quota of 0 is a quota where the array is not spot",
      file: "constructed/status-quota-zero.json",
      at: [0, 0],
      bucket: {
        valid: true,
        familyQuota: { quotaCores: 0, consumedCores: 0 },
        regionalQuota: { quotaCores: 240, consumedCores: 230 },
        machine: { vcpus: 24, quotaVcpus: 24, gpus: 1, memoryGib: 220, infiniband: false },
      },
    },
    {
      name: "less available than max minus active, because of the cluster",
      file: "constructed/status-global-limit-lower-than-bucket.json",
      at: [1, 0],
      bucket: { availableCount: 10, activeCount: 10, maxCount: 60, maxCoreCount: 240 },
    },
    {
      name: "placement groups full, in part used and empty; the size is the bucket's",
      file: "constructed/status-placement-groups.json",
      at: [0, 0],
      bucket: {
        maxPlacementGroupSize: 16,
        placementGroups: [
          { name: "Standard_HB120rs_v3_pg0", activeCount: 16 },
          { name: "Standard_HB120rs_v3_pg1", activeCount: 9 },
          { name: "Standard_HB120rs_v3_pg2", activeCount: 0 },
        ],
      },
    },
    {
      name: "a size of constrained cores costs more quota than it has cores",
      file: "constructed/status-constrained-core-size.json",
      at: [0, 0],
      bucket: { machine: { vcpus: 16, quotaVcpus: 120, gpus: 0, memoryGib: 448, infiniband: true } },
    },
    {
      name: "a recent capacity failure",
      file: "constructed/status-capacity-failure-recent.json",
      at: [0, 0],
      bucket: { availableCount: 10, lastCapacityFailureSeconds: 37.25 },
    },
    {
      name: "throttled: nothing available",
      file: "constructed/status-capacity-failure-recent.json",
      at: [2, 0],
      bucket: { availableCount: 0, lastCapacityFailureSeconds: 12, maxCount: 20 },
    },
  ])("bucket: $name", ({ file, at: [array = 0, bucket = 0], bucket: expected }) => {
    expect(bucketOf(file, array, bucket)).toMatchObject(expected);
  });

  test("spot: family 0/0 is absent, the region's is the spot quota; the regular array of the same size has its family", () => {
    const file = "constructed/status-spot-and-regular-same-size.json";
    const [lowprio, htc] = arraysOf(file);
    expect([lowprio?.spot, htc?.spot]).toEqual([true, false]);
    expect(bucketOf(file, 0, 0)).not.toHaveProperty("familyQuota");
    expect(bucketOf(file, 0, 0)?.regionalQuota).toEqual({ quotaCores: 300, consumedCores: 8 });
    expect(bucketOf(file, 0, 0)).not.toHaveProperty("lastCapacityFailureSeconds");
    expect(bucketOf(file, 0, 1)?.lastCapacityFailureSeconds).toBe(42.5);
    expect(bucketOf(file, 1, 0)?.familyQuota).toEqual({ quotaCores: 400, consumedCores: 0 });
  });

  test("arrays: an own placement group, a switched off array, one without buckets", () => {
    expect(arraysOf("constructed/status-placement-groups.json").map((array) => array.placementGroup)).toEqual(
      [undefined, "mpi0"],
    );
    const arrays = arraysOf("constructed/status-stale-and-disabled-nodearrays.json");
    expect(arrays.map(({ name, autoscaled, buckets }) => [name, autoscaled, buckets.length])).toEqual([
      ["htc", true, 1],
      ["oldqueue", true, 1],
      ["manual", false, 1],
      ["empty", true, 0],
    ]);
  });

  test("constructed/status-nodes-true-lifecycle: every phase", () => {
    const snapshot = snapshotOf("constructed/status-nodes-true-lifecycle.json");
    expect(snapshot).toMatchObject({
      cluster: "demo",
      at: now,
      state: "Started",
      targetState: "Started",
      limit: { count: 500, cores: 20_000 },
    });
    expect(snapshot.nodes.map(({ name, phase }) => [name, phase])).toEqual([
      ["htc-1", "ready"],
      ["htc-2", "ready"],
      ["htc-3", "coming"],
      ["htc-4", "coming"],
      ["htc-5", "coming"],
      ["htc-6", "failed"],
      ["htc-7", "failed"],
      ["htc-8", "going"],
      ["htc-9", "off"],
      ["htc-10", "deallocated"],
      ["htc-11", "off"],
      ["htc-12", "coming"],
      ["htc-13", "going"],
      ["lowprio-1", "ready"],
      ["lowprio-2", "going"],
      ["hpc-1", "ready"],
      ["hpc-2", "coming"],
      ["scheduler", "ready"],
    ]);
    expect(snapshot.nodes.filter((node) => node.keepAlive).map((node) => node.name)).toEqual(["htc-2"]);
    expect(snapshot.nodes.filter((node) => node.spot).map((node) => node.name)).toEqual([
      "lowprio-1",
      "lowprio-2",
    ]);
    expect(snapshot.nodes[16]).toEqual({
      nodeId: "d0000000-0000-4000-8000-000000000038",
      name: "hpc-2",
      array: "hpc",
      machineType: "Standard_HB120rs_v3",
      phase: "coming",
      status: "Acquiring",
      statusMessage: "This node does not match existing scaleset attributes: ImageName",
      vcpus: 120,
      memoryGib: 448,
      placementGroup: "pg0",
      spot: false,
      keepAlive: false,
    });
    expect(snapshot.nodes[5]).toMatchObject({
      statusMessage: "Timeout awaiting boot-up",
      instanceId: "instance-htc-6",
      hostname: "host-htc-6",
    });
  });

  test("constructed/nodes-lifecycle: the same nodes from the list of nodes", () => {
    const body = readCaptured("constructed/nodes-lifecycle.json");
    const reading = readNodes(isFields(body) ? body["nodes"] : undefined);
    const { nodes } = snapshotOf("constructed/status-nodes-true-lifecycle.json");
    expect(reading).toEqual({ kind: "nodes", nodes, nodesWithoutId: 0, nodesRepeated: 0 });
  });
});
