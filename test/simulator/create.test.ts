import { describe, expect, test } from "vitest";
import { Bench, createdBy, hpc, htc, pick } from "./fixture.ts";

describe("an accepted create", () => {
  test("answers 202 with the operation's place and what was added of each set, in order", () => {
    const bench = new Bench();
    const response = bench.create([
      { nodearray: "htc", count: 3, definition: { machineType: "Standard_F2s_v2" } },
      { nodearray: "hpc", count: 1, placementGroupId: "pg1" },
    ]);
    expect(response.status).toBe(202);
    const { operationId, sets } = createdBy(response);
    expect(sets).toEqual([{ added: 3 }, { added: 1 }]);
    expect(response.headers).toEqual({ Location: `/operations/${operationId}` });
    expect(pick(bench.nodes(), "Name")).toEqual(["htc-1", "htc-2", "htc-3", "hpc-1"]);
  });

  test("merges attributes into each node, the configuration deep", () => {
    const configuration = { autoscale: { enabled: true, resources: { disk: 10 } }, kept: 1 };
    const bench = new Bench({}, { arrays: [{ ...htc, configuration }] });
    const nodeAttributes = {
      keepAlive: true,
      Tags: { demand: "msg-1" },
      SubnetId: "other",
      GroupId: "g1",
      Configuration: { autoscale: { resources: { disk: 20 } } },
    };
    bench.create([{ nodearray: "htc", count: 1, nodeAttributes }]);
    expect(bench.nodes()[0]).toMatchObject({
      KeepAlive: true,
      Tags: { demand: "msg-1" },
      SubnetId: "other",
      GroupId: "g1",
      Configuration: { autoscale: { enabled: true, resources: { disk: 20 } }, kept: 1 },
    });
  });

  test("where there are no placement groups none can be asked for, and the status says 0", () => {
    const bench = new Bench({}, { arrays: [{ ...htc, maxPlacementGroupSize: 0 }] });
    expect(bench.create([{ nodearray: "htc", count: 1, placementGroupId: "pg1" }]).status).toBe(409);
    expect(bench.create([{ nodearray: "htc", count: 1 }]).status).toBe(202);
    expect(bench.status().nodearrays[0]?.buckets[0]).toMatchObject({
      maxPlacementGroupSize: 0,
      placementGroups: [],
    });
  });

  test("a machine type is recognized in any letter case", () => {
    const bench = new Bench();
    bench.create([{ nodearray: "htc", count: 1, definition: { machineType: "standard_f2S_V2" } }]);
    expect(pick(bench.nodes(), "MachineType")).toEqual(["Standard_F2s_v2"]);
  });

  test("without a machine type the first bucket that fits the whole set is taken", () => {
    const both = { ...htc, machineTypes: ["Standard_D4s_v3", "Standard_F2s_v2"] };
    const bench = new Bench({ quotas: { family: { D: 8 } } }, { arrays: [both] });
    bench.create([{ nodearray: "htc", count: 2 }]);
    bench.create([{ nodearray: "htc", count: 1 }]);
    expect(pick(bench.nodes(), "MachineType")).toEqual([
      "Standard_D4s_v3",
      "Standard_D4s_v3",
      "Standard_F2s_v2",
    ]);
  });

  test("an array with a placement group of its own puts its nodes there", () => {
    const bench = new Bench({}, { arrays: [{ ...hpc, placementGroupId: "mpi0" }] });
    bench.create([{ nodearray: "hpc", count: 1 }]);
    expect(pick(bench.nodes(), "PlacementGroupId")).toEqual(["mpi0"]);
    expect(bench.create([{ nodearray: "hpc", count: 1, placementGroupId: "other" }]).status).toBe(409);
  });

  test("a node that differs from its placement group's nodes stays in Acquiring and says so", () => {
    const bench = new Bench();
    const set = (value: number): object => ({
      nodearray: "hpc",
      count: 1,
      placementGroupId: "pg0",
      nodeAttributes: { Configuration: { value } },
    });
    bench.create([set(1), set(2), set(1)]);
    bench.pass(500);
    expect(pick(bench.nodes(), "Status")).toEqual(["Ready", "Acquiring", "Ready"]);
    expect(bench.nodes()[1]?.["StatusMessage"]).toMatch(
      /^This node does not match existing scaleset attributes/,
    );
  });
});

describe("a refused create has no effect", () => {
  const good = { nodearray: "htc", count: 1 };
  test.each([
    { name: "no body", body: undefined, why: "The request must be a JSON object" },
    { name: "no sets", body: { sets: [] }, why: "At least one set is required" },
    {
      name: "unknown array",
      body: { sets: [good, { nodearray: "nope", count: 1 }] },
      why: 'Nodearray "nope" does not exist',
    },
    {
      name: "unknown machine type",
      body: { sets: [good, { ...good, definition: { machineType: "Standard_HC44rs" } }] },
      why: "MachineType Standard_HC44rs is not recognized",
    },
    {
      name: "count of 0",
      body: { sets: [{ ...good, count: 0 }] },
      why: "count must be a whole number of at least 1, not 0",
    },
    {
      name: "broken count",
      body: { sets: [{ ...good, count: 1.5 }] },
      why: "count must be a whole number of at least 1, not 1.5",
    },
    {
      name: "bad placement group",
      body: { sets: [{ ...good, placementGroupId: "a b/c" }] },
      why: 'placementGroupId "a b/c" is not valid',
    },
    {
      name: "null placement group",
      body: { sets: [{ ...good, placementGroupId: null }] },
      why: "placementGroupId null is not valid",
    },
    {
      name: "two nodes of one exact name",
      body: { sets: [{ ...good, count: 2, nameFormat: "x" }] },
      why: "Name x has no %d, so only one node can be created with it",
    },
  ])("$name", ({ body, why }) => {
    const bench = new Bench();
    const response = bench.post("/clusters/demo/nodes/create", body);
    expect(response.status).toBe(409);
    expect(response.body).toMatchObject({ Code: 409, Message: why });
    expect(bench.nodes()).toEqual([]);
  });

  test.each(["NotActivated", "DisabledMachineType"] as const)("bucket invalid because %s", (reason) => {
    const bench = new Bench({}, { arrays: [{ ...htc, invalid: { Standard_F2s_v2: reason } }] });
    expect(bench.create([good]).status).toBe(409);
    expect(bench.create([{ ...good, definition: { machineType: "Standard_F2s_v2" } }]).status).toBe(409);
    expect(bench.bucket("htc")).toMatchObject({
      valid: false,
      invalidReason: reason,
      availableCount: 0,
      maxCount: 0,
    });
  });

  test.each([
    { name: "terminated cluster", state: "Terminated", targetState: "Terminated" },
    { name: "cluster going down", state: "Started", targetState: "Terminated" },
    { name: "cluster not up yet", state: "Starting", targetState: "Started" },
    { name: "cluster never started", state: null, targetState: null },
  ])("$name", ({ state, targetState }) => {
    const bench = new Bench({}, { state, targetState });
    expect(bench.create([good]).status).toBe(409);
  });

  test("a repeated request id is refused and not done again, whatever the body says", () => {
    const bench = new Bench();
    expect(bench.create([good], "r1").status).toBe(202);
    const again = bench.create([{ ...good, count: 5 }], "r1");
    expect(again).toMatchObject({
      status: 409,
      body: { Message: "A request with this id was already made" },
    });
    expect(bench.nodes()).toHaveLength(1);
  });

  test("an invalid request does not use up its id", () => {
    const bench = new Bench();
    expect(bench.create([{ nodearray: "nope", count: 1 }], "r1").status).toBe(409);
    expect(bench.create([good], "r1").status).toBe(202);
  });
});

describe("capacity", () => {
  test("what Azure does not have is not added, and the failure shows in the bucket", () => {
    const bench = new Bench({}, { arrays: [{ ...htc, capacity: { Standard_F2s_v2: 2 } }] });
    expect(bench.bucket("htc")["lastCapacityFailure"]).toBe(-1);
    expect(createdBy(bench.create([{ nodearray: "htc", count: 5 }])).sets).toEqual([
      {
        added: 2,
        message: "Only 2 of 5 nodes could be added: no capacity for Standard_F2s_v2 (SkuNotAvailable)",
      },
    ]);
    bench.pass(37.25);
    expect(bench.bucket("htc")["lastCapacityFailure"]).toBe(37.25);
  });

  test("a VM that is gone gives its place back", () => {
    const bench = new Bench({}, { arrays: [{ ...htc, capacity: { Standard_F2s_v2: 1 } }] });
    bench.create([{ nodearray: "htc", count: 1 }]);
    bench.terminate({ names: ["htc-1"] });
    expect(createdBy(bench.create([{ nodearray: "htc", count: 1 }])).sets).toMatchObject([{ added: 0 }]);
    bench.pass(20);
    expect(createdBy(bench.create([{ nodearray: "htc", count: 1 }])).sets).toMatchObject([{ added: 1 }]);
  });

  test("a throttled array has nothing available for a while after a failure", () => {
    const array = { ...htc, maxCount: 10, capacity: { Standard_F2s_v2: 0 }, throttleCapacitySeconds: 300 };
    const bench = new Bench({}, { arrays: [array] });
    expect(bench.bucket("htc")["availableCount"]).toBe(10);
    bench.create([{ nodearray: "htc", count: 1 }]);
    bench.pass(299);
    expect(bench.bucket("htc")["availableCount"]).toBe(0);
    bench.pass(1);
    expect(bench.bucket("htc")["availableCount"]).toBe(10);
  });
});
