import { describe, expect, test } from "vitest";
import { isObject } from "../../src/simulator/json.ts";
import type { MachineTypeOptions, NodeArrayOptions } from "../../src/simulator/options.ts";
import { readCaptured } from "../support/data.ts";
import { Bench, createdBy, pick } from "./fixture.ts";

/** Where users and templates decide what is inside. */
const free = new Set(["Configuration", "Tags", "PhaseMap", "Azure"]);

/** Every path of a value with the type found there: "nodes[].Name string". */
function shapeOf(value: unknown, path = ""): ReadonlySet<string> {
  if (Array.isArray(value)) {
    return new Set([`${path} list`, ...value.flatMap((item) => [...shapeOf(item, `${path}[]`)])]);
  }
  if (!isObject(value)) return new Set([`${path} ${value === null ? "null" : typeof value}`]);
  const inside = Object.entries(value).flatMap(([key, item]) =>
    free.has(key) ? [`${path}.${key}`] : [...shapeOf(item, `${path}.${key}`)],
  );
  return new Set([`${path} object`, ...inside]);
}

const f2: MachineTypeOptions = { vcpuCount: 2, pcpuCount: 1, memory: 4, family: "F" };
const d4: MachineTypeOptions = { vcpuCount: 4, pcpuCount: 2, memory: 16, family: "D" };
const hb: MachineTypeOptions = { vcpuCount: 120, memory: 448, infiniband: true, family: "HB" };
const enabled = { autoscale: { enabled: true } };
const htc: NodeArrayOptions = {
  name: "htc",
  region: "westeurope",
  maxCount: 100,
  maxCoreCount: 200,
  configuration: enabled,
  machineTypes: ["Standard_F2s_v2"],
};
const machineTypes = { Standard_F2s_v2: f2, Standard_D4s_v3: d4, Standard_HB120rs_v3: hb };

/** A cluster with a Ready node in a placement group, a failed one, a spot one, one going and a head node. */
function playLifecycle(): Bench {
  const hpc = { ...htc, name: "hpc", machineTypes: ["Standard_HB120rs_v3"] };
  const headNodes = [{ name: "scheduler", machineType: "Standard_D4s_v3", region: "westeurope" }];
  const arrays = [htc, { ...htc, name: "lowprio", spot: true }, { ...hpc, maxCoreCount: 1200 }];
  const bench = new Bench({ machineTypes, quirks: { headNodesInStatus: true } }, { arrays, headNodes });
  bench.create(
    [
      { nodearray: "htc", count: 3 },
      { nodearray: "hpc", count: 2, placementGroupId: "pg0" },
      { nodearray: "lowprio", count: 1 },
    ],
    "c1",
  );
  bench.pass(100);
  bench.simulator.faults.failNode(String(bench.nodes()[1]?.["NodeId"]));
  bench.terminate({ names: ["htc-2"] });
  return bench;
}

const answers = (bench: Bench): Readonly<Record<string, () => unknown>> => ({
  status: () => bench.get("/clusters/demo/status").body,
  statusWithNodes: () => bench.get("/clusters/demo/status", { nodes: "true" }).body,
  hpcBucket: () => bench.bucket("hpc"),
  nodes: () => bench.get("/clusters/demo/nodes").body,
  nodesOfRequest: () => bench.get("/clusters/demo/nodes", { request_id: "c1" }).body,
  operations: () => bench.get("/operations/", { request_id: "c1" }).body,
  operation: () =>
    bench.get(`/operations/${createdBy(bench.create([{ nodearray: "htc", count: 1 }])).operationId}`).body,
  createPartly: () => bench.create([{ nodearray: "htc", count: 500 }]).body,
  terminate: () => bench.terminate({ names: ["htc-1"] }).body,
  terminateWithError: () => {
    bench.simulator.faults.keepAlive(String(bench.nodes()[1]?.["NodeId"]), true);
    return bench.terminate({ names: ["htc-1"] }).body;
  },
  terminateNothing: () => bench.terminate({ ids: ["nope"] }).body,
});

describe("answers have the shape of the samples", () => {
  test.each([
    { file: "docs/status-two-buckets.json", ours: "status" },
    { file: "docs/bucket-schema-example-values.json", ours: "hpcBucket" },
    { file: "docs/create-response.json", ours: "createPartly" },
    { file: "docs/terminate-response.json", ours: "terminate" },
    { file: "docs/management-result-error.json", ours: "terminateWithError" },
    { file: "docs/operation.json", ours: "operation" },
    { file: "docs/operations-list.json", ours: "operations" },
    { file: "constructed/status-nodes-true-lifecycle.json", ours: "statusWithNodes" },
    { file: "constructed/nodes-lifecycle.json", ours: "nodes" },
    { file: "constructed/nodes-by-request-id.json", ours: "nodesOfRequest" },
    { file: "constructed/operations-by-request-id.json", ours: "operations" },
    { file: "constructed/create-response-partial.json", ours: "createPartly" },
    { file: "constructed/terminate-result-none-matched.json", ours: "terminateNothing" },
  ])("$file: every field with its type", ({ file, ours }) => {
    const shape = shapeOf(answers(playLifecycle())[ours]?.());
    expect([...shapeOf(readCaptured(file))].filter((path) => !shape.has(path))).toEqual([]);
  });

  test("a bucket has the fields of the sample and no others", () => {
    const sampled = Object(readCaptured("constructed/status-nodes-true-lifecycle.json")).nodearrays[2]
      .buckets[0];
    expect(Object.keys(playLifecycle().bucket("hpc")).sort()).toEqual(Object.keys(sampled).sort());
  });

  test("an unknown machine type is refused in the captured words", () => {
    const bench = playLifecycle();
    const definition = { machineType: "Standard_HC44rs" };
    const captured = Object(readCaptured("server/error-machine-type-not-recognized.json"));
    const response = bench.create([{ nodearray: "htc", count: 1, definition }]);
    expect(response.body).toMatchObject({ Exception: captured.Exception, Message: captured.Message });
  });
});

describe("requests of the documentation are taken", () => {
  const ondemand = { ...htc, name: "ondemand", machineTypes: ["Standard_Hc44rs"] };
  const types = { ...machineTypes, Standard_Hc44rs: { vcpuCount: 44, memory: 327.83, family: "HC" } };

  test.each([
    { file: "docs/create-request-minimal.json", added: [1] },
    { file: "docs/create-request-placement-group.json", added: [4] },
    { file: "constructed/create-request-two-sets.json", added: [3, 4, 1] },
  ])("$file", ({ file, added }) => {
    const hpc = { ...htc, name: "hpc", maxCoreCount: 1200, machineTypes: ["Standard_HB120rs_v3"] };
    const bench = new Bench({ machineTypes: types }, { arrays: [ondemand, htc, hpc] });
    const response = bench.post("/clusters/demo/nodes/create", readCaptured(file));
    expect(createdBy(response).sets).toEqual(added.map((count) => ({ added: count })));
  });

  test("docs/terminate-request.json", () => {
    expect(new Bench().terminate(readCaptured("docs/terminate-request.json")).status).toBe(202);
  });
});

describe("the numbers of constructed statuses come out of the same cluster", () => {
  /** Makes the nodes that the sample says are active, and compares every bucket but ids, records and times. */
  function compare(file: string, bench: Bench, creates: readonly object[]): void {
    if (creates.length > 0) createdBy(bench.create(creates));
    const sampled = Object(readCaptured(file)).nodearrays;
    const changing = {
      bucketId: expect.any(String),
      lastCapacityFailure: expect.any(Number),
      spotPlacementScore: expect.any(String),
    };
    const ours = Object(bench.get("/clusters/demo/status").body).nodearrays;
    for (const [index, array] of sampled.entries()) {
      expect(ours[index]).toMatchObject({
        name: array.name,
        maxCount: array.maxCount,
        maxCoreCount: array.maxCoreCount,
      });
      const expected = array.buckets.map((bucket: object) => ({ ...bucket, ...changing }));
      expect(ours[index].buckets).toEqual(expected);
    }
  }
  const cluster = { maxCount: 500, maxCoreCount: 20_000 };

  test("status-spot-and-regular-same-size.json", () => {
    const lowprio = {
      ...htc,
      name: "lowprio",
      spot: true,
      maxCoreCount: 400,
      machineTypes: ["Standard_F2s_v2", "Standard_D4s_v3"],
    };
    const quotas = { regional: { westeurope: 1000 }, spot: { westeurope: 300 }, family: { F: 400, D: 400 } };
    const bench = new Bench(
      { machineTypes, quotas },
      { ...cluster, arrays: [{ ...lowprio, maxCount: 100 }, htc] },
    );
    // The second bucket's maxCount of 50 follows from no limit that the sample shows: only the first is compared.
    const sampled = Object(readCaptured("constructed/status-spot-and-regular-same-size.json")).nodearrays[0]
      .buckets[0];
    bench.create([{ nodearray: "lowprio", count: 4 }]);
    expect(bench.bucket("lowprio")).toMatchObject({
      activeCount: sampled.activeCount,
      availableCount: sampled.availableCount,
      quotaCount: sampled.quotaCount,
      regionalConsumedCoreCount: sampled.regionalConsumedCoreCount,
    });
    expect(bench.bucket("htc")["regionalConsumedCoreCount"]).toBe(0);
  });

  test("status-constrained-core-size.json", () => {
    const types = {
      "Standard_HB120-16rs_v3": { ...hb, vcpuCount: 16, vcpuQuotaCount: 120 },
      Standard_HB120rs_v3: hb,
    };
    const array = { ...htc, name: "hb", maxCount: 10, maxCoreCount: 240, machineTypes: Object.keys(types) };
    const quotas = {
      regional: { westeurope: 1000 },
      family: { HB: 240 },
      usedByOthers: { regional: { westeurope: 30 } },
    };
    const bench = new Bench({ machineTypes: types, quotas }, { ...cluster, arrays: [array] });
    compare("constructed/status-constrained-core-size.json", bench, [{ nodearray: "hb", count: 1 }]);
  });

  test("status-quota-zero.json", () => {
    const types = {
      Standard_NC24ads_A100_v4: { vcpuCount: 24, gpuCount: 1, memory: 220, family: "NC" },
      Standard_F2s_v2: f2,
    };
    const gpu = {
      ...htc,
      name: "gpu",
      maxCount: 10,
      maxCoreCount: 240,
      machineTypes: ["Standard_NC24ads_A100_v4"],
    };
    const quotas = {
      regional: { westeurope: 240 },
      family: { NC: 0, F: 400 },
      usedByOthers: { regional: { westeurope: 230 } },
    };
    const bench = new Bench({ machineTypes: types, quotas }, { ...cluster, arrays: [gpu, htc] });
    compare("constructed/status-quota-zero.json", bench, []);
  });

  test("status-invalid-buckets.json", () => {
    const array: NodeArrayOptions = { ...htc, machineTypes: Object.keys(machineTypes) };
    const quotas = {
      regional: { westeurope: 1000 },
      family: { F: 400, D: 100, HB: 0 },
      usedByOthers: { regional: { westeurope: 16 } },
    };
    const bench = new Bench({ machineTypes, quotas }, { ...cluster, arrays: [array] });
    bench.create([
      { nodearray: "htc", count: 2, definition: { machineType: "Standard_D4s_v3" } },
      { nodearray: "htc", count: 3, definition: { machineType: "Standard_F2s_v2" } },
    ]);
    bench.simulator.faults.setInvalid("htc", "Standard_D4s_v3", "NotActivated");
    bench.simulator.faults.setInvalid("htc", "Standard_HB120rs_v3", "DisabledMachineType");
    expect(pick(bench.nodes(), "MachineType")).toHaveLength(5);
    // The sample has 97 available: it does not take the 8 cores of the invalid bucket's nodes from the array's 200.
    // They run, so here they do: (200 - 14) / 2 = 93.
    const sampled = Object(readCaptured("constructed/status-invalid-buckets.json")).nodearrays[0].buckets;
    expect(bench.bucket("htc", 1)).toMatchObject({ ...sampled[1], bucketId: expect.any(String) });
    expect(bench.bucket("htc", 2)).toMatchObject({ ...sampled[2], bucketId: expect.any(String) });
    expect(bench.bucket("htc", 0)).toMatchObject({
      regionalConsumedCoreCount: 30,
      activeCount: 3,
      availableCount: 93,
    });
  });
});
