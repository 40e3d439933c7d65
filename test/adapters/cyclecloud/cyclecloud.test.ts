import { NO_TEMPLATES } from "../../support/no-templates.ts";
import { describe, expect, test } from "vitest";
import { createCycleCloud } from "../../../src/adapters/cyclecloud/cyclecloud.ts";
import { clusterName, nodeId, placementGroup } from "../../../src/domain/ids.ts";
import { answering } from "./scripted-transport.ts";
import { bucket, cluster, id, now } from "./cyclecloud-calls.ts";

const empty = { nodearrays: [], nodes: [] };

describe("what is asked of the server", () => {
  test("status: one call with nodes, the cluster's name encoded", async () => {
    const transport = answering(200, empty);
    await createCycleCloud({ transport }).status(cluster, now);
    expect(transport.requests).toEqual([
      {
        method: "GET",
        path: "/clusters/HPC%20prod%2F%C3%A4%25/status",
        query: { nodes: "true" },
        idempotent: true,
      },
    ]);
  });

  test("nodes of a request", async () => {
    const transport = answering(200, { nodes: [] });
    await createCycleCloud({ transport }).nodesOfRequest(clusterName("demo"), id);
    expect(transport.requests).toEqual([
      { method: "GET", path: "/clusters/demo/nodes", query: { request_id: id }, idempotent: true },
    ]);
  });

  test("an operation, by the path with the trailing slash", async () => {
    const transport = answering(200, []);
    await createCycleCloud({ transport }).knowsRequest(clusterName("demo"), id);
    expect(transport.requests).toEqual([
      { method: "GET", path: "/operations/", query: { request_id: id }, idempotent: true },
    ]);
  });

  test("create: absent fields are left out", async () => {
    const transport = answering(202, { operationId: "o", sets: [{ added: 2 }] });
    await createCycleCloud({ transport }).create(clusterName("demo"), {
      templates: NO_TEMPLATES,
      requestId: id,
      sets: [{ bucket, count: 2 }],
    });
    expect(transport.requests).toEqual([
      {
        method: "POST",
        path: "/clusters/demo/nodes/create",
        query: {},
        body: {
          requestId: id,
          sets: [{ count: 2, nodearray: "hpc", definition: { machineType: "Standard_HB120rs_v3" } }],
        },
        idempotent: false,
      },
    ]);
  });

  test("create: the autostop URL is merged into the configuration under both names", async () => {
    const transport = answering(202, { operationId: "o", sets: [{ added: 2 }] });
    const autostop = (of: string, array: string): string => `https://scaler.example/${of}/${array}`;
    await createCycleCloud({ transport, autostop }).create(clusterName("demo"), {
      templates: NO_TEMPLATES,
      requestId: id,
      sets: [
        {
          bucket: { ...bucket, placementGroup: placementGroup("pg3") },
          count: 2,
          attributes: {
            KeepAlive: false,
            configuration: {
              cyclecloud: { cluster: { autoscale: { stop_interval: 30 } } },
              autoscale: { queue: "q" },
            },
          },
        },
      ],
    });
    expect(transport.requests[0]?.body).toEqual({
      requestId: id,
      sets: [
        {
          count: 2,
          nodearray: "hpc",
          definition: { machineType: "Standard_HB120rs_v3" },
          placementGroupId: "pg3",
          nodeAttributes: {
            KeepAlive: false,
            configuration: {
              cyclecloud: {
                cluster: {
                  autoscale: { stop_interval: 30, stop_callback: "https://scaler.example/demo/hpc" },
                },
              },
              autoscale: { queue: "q", stop_callback: "https://scaler.example/demo/hpc" },
            },
          },
        },
      ],
    });
  });

  test("create: a name format goes along, beside what else is said of the nodes", async () => {
    const transport = answering(202, { operationId: "o", sets: [{ added: 2 }] });
    await createCycleCloud({ transport }).create(clusterName("demo"), {
      templates: NO_TEMPLATES,
      requestId: id,
      sets: [{ bucket, count: 2, nameFormat: "lab-%d", attributes: { Configuration: { shift: "day" } } }],
    });
    expect(transport.requests[0]?.body).toEqual({
      requestId: id,
      sets: [
        {
          count: 2,
          nodearray: "hpc",
          definition: { machineType: "Standard_HB120rs_v3" },
          nameFormat: "lab-%d",
          nodeAttributes: { Configuration: { shift: "day" } },
        },
      ],
    });
  });

  test.each(["start", "terminate"] as const)("%s: by ids, never by name", async (action) => {
    const transport = answering(202, { operationId: "o", nodes: [] });
    await createCycleCloud({ transport })[action](clusterName("demo"), id, [nodeId("a"), nodeId("b")]);
    expect(transport.requests).toEqual([
      {
        method: "POST",
        path: `/clusters/demo/nodes/${action}`,
        query: {},
        body: { requestId: id, ids: ["a", "b"] },
        idempotent: false,
      },
    ]);
  });
});

describe("a status that is not found", () => {
  test.each([
    {
      name: "CycleCloud's error object",
      body: { Message: "no such cluster" },
      fromCycleCloud: true,
      message: "no such cluster",
    },
    { name: "no content", body: undefined, fromCycleCloud: true, message: "no words given" },
    {
      name: "a proxy's page",
      body: "<html><h1>404</h1> Not Found</html>",
      fromCycleCloud: false,
      message: "404 Not Found",
    },
    {
      name: "somebody else's JSON",
      body: { error: "nope" },
      fromCycleCloud: false,
      message: "no words given",
    },
  ])("$name", async ({ body, fromCycleCloud, message }) => {
    const outcome = await createCycleCloud({ transport: answering(404, body) }).status(cluster, now);
    expect(outcome).toEqual({ kind: "not-found", fromCycleCloud, message });
  });
});

test("what a status had to leave out is logged", async () => {
  const logged: unknown[] = [];
  const log = (event: string, fields: Readonly<Record<string, unknown>>): void =>
    void logged.push([event, fields]);
  await createCycleCloud({ transport: answering(200, { nodearrays: [], nodes: [{}] }), log }).status(
    clusterName("demo"),
    now,
  );
  expect(logged).toEqual([
    [
      "cyclecloud-status-incomplete",
      { cluster: "demo", nodesWithoutId: 1, nodesRepeated: 0, bucketsWithoutMachineType: 0 },
    ],
  ]);
});
