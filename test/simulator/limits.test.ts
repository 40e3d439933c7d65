import { describe, expect, test } from "vitest";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import { Bench, createdBy, hpc, htc, pick } from "./fixture.ts";

type Case = {
  readonly name: string;
  readonly options?: Partial<SimulatorOptions>;
  readonly cluster?: object;
  readonly sets: readonly object[];
  readonly results: readonly object[];
};

const big = { nodearray: "htc", count: 10 };
const only = (added: number, count: number, why: string): object => ({
  added,
  message: `Only ${added} of ${count} nodes could be added: ${why}`,
});

describe("a create is cut to every shared limit", () => {
  test.each<Case>([
    { name: "no limit", sets: [big], results: [{ added: 10 }] },
    {
      name: "cluster count, shared by two arrays",
      cluster: { maxCount: 7 },
      sets: [{ nodearray: "hpc", count: 3 }, big],
      results: [{ added: 3 }, only(4, 10, "the limit of the cluster was reached")],
    },
    {
      name: "cluster cores",
      cluster: { maxCoreCount: 135 },
      sets: [{ nodearray: "hpc", count: 1 }, big],
      results: [{ added: 1 }, only(7, 10, "the core limit of the cluster was reached")],
    },
    {
      name: "array count",
      cluster: { arrays: [{ ...htc, maxCount: 4 }] },
      sets: [big],
      results: [only(4, 10, "the limit of the nodearray was reached")],
    },
    {
      name: "array cores",
      cluster: { arrays: [{ ...htc, maxCoreCount: 9 }] },
      sets: [big],
      results: [only(4, 10, "the core limit of the nodearray was reached")],
    },
    {
      name: "regional quota less what others use, shared by families",
      options: { quotas: { regional: { westeurope: 200 }, usedByOthers: { regional: { westeurope: 70 } } } },
      sets: [{ nodearray: "hpc", count: 1 }, big],
      results: [{ added: 1 }, only(5, 10, "the regional quota was reached")],
    },
    {
      name: "family quota less what others use",
      options: { quotas: { family: { F: 20 }, usedByOthers: { family: { F: 6 } } } },
      sets: [big],
      results: [only(7, 10, "the quota of family F was reached")],
    },
    {
      name: "more consumed than the quota allows",
      options: { quotas: { family: { F: 20 }, usedByOthers: { family: { F: 50 } } } },
      sets: [big],
      results: [{ added: 0, message: "No nodes could be added: the quota of family F was reached" }],
    },
    {
      name: "a constrained size costs its whole host in quota",
      options: { quotas: { family: { HB: 360 } } },
      cluster: { arrays: [{ ...hpc, machineTypes: ["Standard_HB120-16rs_v3"] }] },
      sets: [{ nodearray: "hpc", count: 5 }],
      results: [only(3, 5, "the quota of family HB was reached")],
    },
    {
      name: "the regional spot quota holds for spot alone, and the family quota does not",
      options: { quotas: { regional: { westeurope: 4 }, spot: { westeurope: 16 }, family: { F: 4 } } },
      cluster: { arrays: [htc, { ...htc, name: "lowprio", spot: true }] },
      sets: [{ nodearray: "lowprio", count: 10 }, big],
      results: [
        only(8, 10, "the regional spot quota was reached"),
        only(2, 10, "the regional quota was reached"),
      ],
    },
    {
      name: "placement group",
      sets: [
        { nodearray: "hpc", count: 6, placementGroupId: "pg0" },
        { nodearray: "hpc", count: 3, placementGroupId: "pg1" },
        { nodearray: "hpc", count: 3, placementGroupId: "pg1" },
      ],
      results: [
        only(4, 6, "placement group pg0 is full"),
        { added: 3 },
        only(1, 3, "placement group pg1 is full"),
      ],
    },
  ])("$name", ({ options, cluster, sets, results }) => {
    const bench = new Bench(options, cluster);
    expect(createdBy(bench.create(sets)).sets).toEqual(results);
  });

  test("a quota is shared by all clusters of the subscription", () => {
    const clusters = [
      { name: "demo", arrays: [htc] },
      { name: "other", arrays: [htc] },
    ];
    const bench = new Bench({ clusters, quotas: { family: { F: 12 } } });
    bench.post("/clusters/other/nodes/create", { sets: [{ nodearray: "htc", count: 4 }] });
    expect(createdBy(bench.create([big])).sets).toMatchObject([{ added: 2 }]);
    expect(bench.bucket("htc")).toMatchObject({ activeCount: 2, consumedCoreCount: 12, availableCount: 0 });
  });
});

describe("the status of a bucket", () => {
  test("has every documented field, counts and cores in step", () => {
    const quotas = {
      regional: { westeurope: 1000 },
      family: { HB: 720 },
      usedByOthers: { regional: { westeurope: 100 }, family: { HB: 60 } },
    };
    const bench = new Bench({ quotas }, { arrays: [{ ...hpc, maxCount: 5 }] });
    bench.create([{ nodearray: "hpc", count: 2, placementGroupId: "pg0" }]);
    expect(bench.bucket("hpc")).toEqual({
      bucketId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      definition: { machineType: "Standard_HB120rs_v3" },
      regionalQuotaCount: 8,
      regionalQuotaCoreCount: 1000,
      regionalConsumedCoreCount: 340,
      familyQuotaCount: 6,
      familyQuotaCoreCount: 720,
      familyConsumedCoreCount: 300,
      quotaCount: 6,
      quotaCoreCount: 720,
      consumedCoreCount: 300,
      maxCount: 5,
      maxCoreCount: 600,
      activeCount: 2,
      activeCoreCount: 240,
      activeNodes: ["hpc-1", "hpc-2"],
      availableCount: 3,
      availableCoreCount: 360,
      maxPlacementGroupSize: 4,
      maxPlacementGroupCoreSize: 480,
      placementGroups: [{ name: "pg0", activeCount: 2, activeCoreCount: 240 }],
      valid: true,
      invalidReason: "",
      lastCapacityFailure: -1,
      spotPlacementScore: "",
      virtualMachine: {
        vcpuCount: 120,
        pcpuCount: 120,
        gpuCount: 0,
        memory: 448,
        infiniband: true,
        vcpuQuotaCount: 120,
      },
    });
  });

  test("of a spot array has a family quota of 0/0 and the region's spot quota", () => {
    const quotas = { regional: { westeurope: 1000 }, spot: { westeurope: 301 }, family: { F: 400 } };
    const bench = new Bench({ quotas }, { arrays: [{ ...htc, spot: true }] });
    bench.create([{ nodearray: "htc", count: 4 }]);
    expect(bench.bucket("htc")).toMatchObject({
      familyQuotaCount: 0,
      familyQuotaCoreCount: 0,
      familyConsumedCoreCount: 0,
      regionalQuotaCount: 150,
      regionalQuotaCoreCount: 301,
      regionalConsumedCoreCount: 8,
      consumedCoreCount: 8,
      quotaCount: 150,
      quotaCoreCount: 301,
      availableCount: 146,
      spotPlacementScore: "High",
    });
    expect(pick(bench.nodes(), "Interruptible")).toEqual([true, true, true, true]);
  });

  test("counts nodes still acquiring, and failed ones, as active", () => {
    const bench = new Bench({ bootFailureShare: 1 });
    bench.create([{ nodearray: "htc", count: 2 }]);
    expect(bench.bucket("htc")["activeCount"]).toBe(2);
    bench.pass(500);
    expect(bench.bucket("htc")["activeCount"]).toBe(2);
  });

  test("leaves terminating nodes out of the limits, but not out of the quota", () => {
    const bench = new Bench({ quotas: { family: { F: 100 } } }, { arrays: [{ ...htc, maxCount: 10 }] });
    bench.create([{ nodearray: "htc", count: 10 }]);
    bench.terminate({ names: ["htc-1", "htc-2", "htc-3"] });
    expect(bench.bucket("htc")).toMatchObject({ activeCount: 7, availableCount: 3, consumedCoreCount: 20 });
    bench.pass(20);
    expect(bench.bucket("htc")).toMatchObject({ activeCount: 7, availableCount: 3, consumedCoreCount: 14 });
  });

  test("availableCount of two buckets is bounded by the same limit, so that their sum overstates", () => {
    const array = { ...htc, maxCount: 5, machineTypes: ["Standard_F2s_v2", "Standard_D4s_v3"] };
    const bench = new Bench({}, { arrays: [array] });
    expect([bench.bucket("htc", 0)["availableCount"], bench.bucket("htc", 1)["availableCount"]]).toEqual([
      5, 5,
    ]);
    bench.create([{ nodearray: "htc", count: 2 }]);
    expect([bench.bucket("htc", 0)["availableCount"], bench.bucket("htc", 1)["availableCount"]]).toEqual([
      3, 3,
    ]);
  });

  test("an array with its own placement group has no more available than the group holds", () => {
    const bench = new Bench({}, { arrays: [{ ...hpc, placementGroupId: "mpi0" }] });
    bench.create([{ nodearray: "hpc", count: 1 }]);
    expect(bench.bucket("hpc")).toMatchObject({ availableCount: 3, placementGroups: [{ name: "mpi0" }] });
  });

  test("a placement group without nodes is not listed", () => {
    const bench = new Bench();
    bench.create([{ nodearray: "hpc", count: 1, placementGroupId: "pg0" }]);
    bench.terminate({ names: ["hpc-1"] });
    expect(bench.bucket("hpc")["placementGroups"]).toEqual([]);
  });

  test("without nodes=true neither nodes nor names are in the answer", () => {
    const bench = new Bench();
    bench.create([{ nodearray: "htc", count: 1 }]);
    const body = JSON.stringify(bench.get("/clusters/demo/status").body);
    expect(body).toContain('"activeCount":1');
    expect(body).not.toContain('"nodes"');
    expect(body).not.toContain("activeNodes");
  });

  test("a cluster that was never started has no state", () => {
    const bench = new Bench({}, { state: null, targetState: null });
    const { body } = bench.get("/clusters/demo/status");
    expect(body).not.toHaveProperty("state");
    expect(body).not.toHaveProperty("targetState");
  });

  test("an array's record names its machine types as text or list, and its attributes", () => {
    const several = { ...htc, priority: 2, machineTypes: ["Standard_F2s_v2", "Standard_D4s_v3"] };
    const bench = new Bench({}, { arrays: [several, { ...hpc, placementGroupId: "mpi0" }] });
    expect(bench.get("/clusters/demo/status").body).toMatchObject({
      nodearrays: [
        {
          name: "htc",
          nodearray: {
            Name: "htc",
            TargetState: "Activated",
            Region: "westeurope",
            Interruptible: false,
            MachineType: ["Standard_F2s_v2", "Standard_D4s_v3"],
            Priority: 2,
          },
        },
        { name: "hpc", nodearray: { MachineType: "Standard_HB120rs_v3", PlacementGroupId: "mpi0" } },
      ],
    });
  });
});
