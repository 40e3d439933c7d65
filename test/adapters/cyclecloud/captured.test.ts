import { NO_TEMPLATES } from "../../support/no-templates.ts";
import { describe, expect, test } from "vitest";
import { createCycleCloud } from "../../../src/adapters/cyclecloud/cyclecloud.ts";
import { readNodeArray } from "../../../src/adapters/cyclecloud/read-nodearray.ts";
import { readStatus } from "../../../src/adapters/cyclecloud/read-status.ts";
import { readList } from "../../../src/adapters/cyclecloud/read-fields.ts";
import { PortError } from "../../../src/app/ports/port-error.ts";
import { arrayName, machineType, nodeId, placementGroup, requestId } from "../../../src/domain/ids.ts";
import { readCaptured } from "../../support/data.ts";
import { answering } from "./scripted-transport.ts";
import { arraysOf, bucketOf, cluster, now } from "./captured-snapshots.ts";
import { isFields } from "../../../src/domain/fields.ts";

const id = requestId("4f3c2b1a-0000-4000-8000-000000000001");

describe("captured status answers", () => {
  test.each([
    { file: "docs/status-two-buckets.json", path: "nodes" },
    { file: "constructed/status-never-started.json", path: "nodes" },
    { file: "constructed/status-terminating.json", path: "nodes" },
    { file: "constructed/status-quota-zero.json", path: "nodes" },
    { file: "synthetic/status-capacity-never.json", path: "nodes" },
    { file: "server/status-nodearray-fragments.json", path: "nodearrays[0].name" },
  ])("$file was asked for without nodes or is a fragment, so it is no snapshot", ({ file, path }) => {
    expect(readStatus(readCaptured(file), cluster, now)).toMatchObject({ kind: "malformed", path });
  });

  test("docs/status-two-buckets: an answer of version 7, without quotas of family and region", () => {
    expect(arraysOf("docs/status-two-buckets.json")).toEqual([
      {
        name: "ondemand",
        limit: { count: 100, cores: 500 },
        spot: false,
        autoscaled: true,
        priority: 1,
        resources: {},
        buckets: [
          {
            bucketId: "cd56af52-abcd-1234-a4e7-e6a91ca519a2",
            machineType: "Standard_Fs32_v2",
            valid: true,
            availableCount: 3,
            activeCount: 0,
            maxCount: 3,
            maxCoreCount: 96,
            familyQuota: { quotaCores: 100, consumedCores: 0 },
            maxPlacementGroupSize: 40,
            placementGroups: [],
            machine: { vcpus: 32, quotaVcpus: 32, gpus: 0, memoryGib: 64, infiniband: false },
          },
          {
            bucketId: "d81e001a-abcd-1234-9754-79815cb7b225",
            machineType: "Standard_Hc44rs",
            valid: true,
            availableCount: 11,
            activeCount: 0,
            maxCount: 11,
            maxCoreCount: 484,
            familyQuota: { quotaCores: 8800, consumedCores: 44 },
            maxPlacementGroupSize: 40,
            placementGroups: [],
            machine: { vcpus: 44, quotaVcpus: 44, gpus: 0, memoryGib: 327.83, infiniband: true },
          },
        ],
      },
    ]);
  });

  test("synthetic/status-capacity-never: no record, no virtualMachine, never a capacity failure", () => {
    expect(arraysOf("synthetic/status-capacity-never.json")).toMatchObject([
      { name: "execute", spot: false, autoscaled: true, priority: 1 },
    ]);
    const bucket = bucketOf("synthetic/status-capacity-never.json", 0, 0);
    expect(bucket).toEqual({
      bucketId: "b",
      machineType: "Standard_F2s_v2",
      valid: false,
      invalidReason: "no virtualMachine in status",
      availableCount: 3,
      activeCount: 1,
      maxCount: 50,
      maxCoreCount: 100,
      familyQuota: { quotaCores: 100, consumedCores: 2 },
      placementGroups: [],
      machine: { vcpus: 0, quotaVcpus: 0, gpus: 0, memoryGib: 0, infiniband: false },
    });
  });

  test("server/status-nodearray-fragments: the record of a real server, once it has a name", () => {
    const body = readCaptured("server/status-nodearray-fragments.json");
    const last = readList(isFields(body) ? body["nodearrays"] : undefined)[2];
    expect(isFields(last) ? readNodeArray({ name: "hpc", ...last }) : undefined).toEqual({
      bucketsWithoutMachineType: 0,
      activeNodes: [{ array: "hpc", machineType: "Standard_NC24ads_A100_v4", names: [] }],
      array: {
        name: "hpc",
        limit: {},
        spot: false,
        autoscaled: true,
        priority: 1,
        resources: {},
        buckets: [
          {
            bucketId: "cec4286f-0a26-4001-bf85-fb42ae700d86",
            machineType: "Standard_NC24ads_A100_v4",
            valid: false,
            invalidReason: "no virtualMachine in status",
            availableCount: 0,
            activeCount: 0,
            regionalQuota: { quotaCores: 770, consumedCores: 230 },
            placementGroups: [],
            machine: { vcpus: 0, quotaVcpus: 0, gpus: 0, memoryGib: 0, infiniband: false },
          },
        ],
      },
    });
  });
});

describe("captured answers to requests", () => {
  const reading = (file: string, status = 200) =>
    createCycleCloud({ transport: answering(status, readCaptured(file)) });

  test.each([
    {
      file: "constructed/nodes-by-request-id.json",
      nodes: [43, 44, 45, 46, 47].map((last) => `d0000000-0000-4000-8000-0000000000${last}`),
    },
    { file: "constructed/nodes-by-request-id-empty.json", nodes: [] },
    { file: "docs/nodes-empty-with-operation.json", nodes: [] },
  ])("nodes of a request: $file", async ({ file, nodes }) => {
    const listed = await reading(file).nodesOfRequest(cluster, id);
    expect(listed?.map(({ nodeId: of }) => of)).toEqual(nodes);
  });

  test.each([
    { file: "constructed/operations-by-request-id.json", known: true },
    { file: "docs/operations-list.json", known: true },
    { file: "constructed/operations-by-request-id-unknown.json", known: false },
  ])("known request: $file", async ({ file, known }) => {
    expect(await reading(file).knowsRequest(cluster, id)).toBe(known);
  });

  test.each([
    { file: "docs/create-response.json", sets: [{ added: 1 }] },
    {
      file: "constructed/create-response-partial.json",
      sets: [
        { added: 3 },
        {
          added: 2,
          message: "Only 2 of 4 nodes could be added: the limit of the nodearray was reached",
        },
        { added: 0, message: "No nodes could be added" },
      ],
    },
  ])("created: $file", async ({ file, sets }) => {
    const bucket = { array: arrayName("htc"), machineType: machineType("Standard_F2s_v2") };
    const asked = sets.map(() => ({ bucket, count: 4 }));
    expect(
      await reading(file, 202).create(cluster, { templates: NO_TEMPLATES, requestId: id, sets: asked }),
    ).toEqual({ kind: "accepted", sets });
  });

  test.each([
    {
      file: "docs/terminate-response.json",
      nodes: [["62a1b116-abcd-1234-b290-b54ea23f1b68", { ok: true }]],
    },
    {
      file: "docs/management-result-error.json",
      nodes: [["id1", { ok: false, error: "a node must be terminated first" }]],
    },
    {
      file: "constructed/terminate-result-mixed.json",
      nodes: [
        ["d0000000-0000-4000-8000-000000000001", { ok: true }],
        ["d0000000-0000-4000-8000-000000000002", { ok: false, error: "This node has KeepAlive set" }],
        ["d0000000-0000-4000-8000-000000000003", { ok: true }],
      ],
    },
    { file: "constructed/terminate-result-none-matched.json", nodes: [] },
  ])("terminated: $file", async ({ file, nodes }) => {
    const outcome = await reading(file, 202).terminate(cluster, id, [nodeId("a")]);
    expect(outcome.kind === "accepted" && [...outcome.nodes]).toEqual(nodes);
  });

  test("what we send is what the documentation sends: docs/create-request-placement-group.json", async () => {
    const transport = answering(202, { sets: [{ added: 4 }] });
    await createCycleCloud({ transport }).create(cluster, {
      templates: NO_TEMPLATES,
      requestId: requestId("463270ca-abcd-1234-98d6-431ee3ef8ed5"),
      sets: [
        {
          bucket: {
            array: arrayName("ondemand"),
            machineType: machineType("Standard_Hc44rs"),
            placementGroup: placementGroup("pg0"),
          },
          count: 4,
        },
      ],
    });
    expect(transport.requests[0]?.body).toEqual(readCaptured("docs/create-request-placement-group.json"));
  });
});

describe("captured errors", () => {
  const expected: Readonly<Record<string, unknown>> = {
    "unknown request id": undefined,
    "duplicate requestId, documented as no content": { kind: "conflict" },
    "duplicate requestId, with the error object seen by the LSF provider": {
      kind: "conflict",
      message: "A request with this id was already made",
    },
    "bad credentials": "denied: HTTP 401: Unauthorized",
    "no permission on the cluster": "denied: HTTP 403",
    "unknown cluster": { kind: "not-found", fromCycleCloud: true, message: "no words given" },
    "server failure":
      "unexpected: HTTP 500: An unspecified error occurred (java.lang.NullPointerException); " +
      "Please see cycle_server.log for lines tagged with request-1 for details.",
    "proxy in front of the server": "unexpected: HTTP 502: Bad Gateway",
  };

  test("constructed/http-errors.json, each by the call that met it", async () => {
    const met: Record<string, unknown> = {};
    for (const entry of readList(readCaptured("constructed/http-errors.json"))) {
      if (!isFields(entry)) throw new Error("an entry is no object");
      const transport = answering(Number(entry["status"]), entry["body"] ?? undefined);
      met[String(entry["case"])] = await call(String(entry["request"]), createCycleCloud({ transport }));
    }
    expect(met).toEqual(expected);
  });

  test("server/error-machine-type-not-recognized.json", async () => {
    const transport = answering(409, readCaptured("server/error-machine-type-not-recognized.json"));
    expect(await call("POST /clusters/demo/nodes/create", createCycleCloud({ transport }))).toEqual({
      kind: "conflict",
      message:
        "MachineType Standard_HC44rs is not recognized (com.cyclecomputing.cloud.exceptions.InvalidAttributeException); " +
        "Please see /opt/cycle_server/logs/cycle_server.log for lines tagged with request-1274 for details.",
    });
  });

  /** The outcome, or "kind: message" of the PortError without the operation, which other tests look at. */
  async function call(request: string, cyclecloud: ReturnType<typeof createCycleCloud>): Promise<unknown> {
    const bucket = { array: arrayName("htc"), machineType: machineType("Standard_F2s_v2") };
    try {
      if (request.endsWith("/create"))
        return await cyclecloud.create(cluster, {
          templates: NO_TEMPLATES,
          requestId: id,
          sets: [{ bucket, count: 1 }],
        });
      if (request.endsWith("/status")) return await cyclecloud.status(cluster, now);
      return await cyclecloud.nodesOfRequest(cluster, id);
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      return `${error.kind}: ${error.message.slice(error.operation.length + 2)}`;
    }
  }
});
