import { NO_TEMPLATES } from "../../support/no-templates.ts";
import { describe, expect, test } from "vitest";
import { createCycleCloud } from "../../../src/adapters/cyclecloud/cyclecloud.ts";
import { PortError } from "../../../src/app/ports/port-error.ts";
import {
  arrayName,
  clusterName,
  machineType,
  nodeId,
  placementGroup,
  requestId,
} from "../../../src/domain/ids.ts";
import { instant } from "../../../src/domain/units.ts";
import { answering } from "./scripted-transport.ts";

const cluster = clusterName("HPC prod/ä%");
const now = instant(1_768_040_000_000);
const id = requestId("4f3c2b1a-0000-4000-8000-000000000001");
const bucket = { array: arrayName("hpc"), machineType: machineType("Standard_HB120rs_v3") };
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

describe("outcomes of create", () => {
  test.each([
    {
      name: "all added",
      status: 202,
      body: { sets: [{ added: 2 }] },
      outcome: { kind: "accepted", sets: [{ added: 2 }] },
    },
    {
      name: "none added, with the reason",
      status: 202,
      body: { sets: [{ added: 0, message: "No nodes could be added" }] },
      outcome: { kind: "accepted", sets: [{ added: 0, message: "No nodes could be added" }] },
    },
    { name: "conflict without a word", status: 409, body: undefined, outcome: { kind: "conflict" } },
    {
      name: "conflict that quotes our URL",
      status: 409,
      body: {
        Message: 'bad "stop_callback": "https://scaler.example/api/autostop/demo/k1.secret"',
        Detail: "request-9",
      },
      outcome: {
        kind: "conflict",
        message: 'bad "stop_callback": "https://scaler.example/api/autostop/demo/***"; request-9',
      },
    },
    {
      name: "bad request",
      status: 400,
      body: { Message: "no" },
      outcome: { kind: "refused", message: "HTTP 400: no" },
    },
    {
      name: "unknown cluster",
      status: 404,
      body: "",
      outcome: { kind: "refused", message: "HTTP 404: no words given" },
    },
  ])("$name", async ({ status, body, outcome }) => {
    const cyclecloud = createCycleCloud({ transport: answering(status, body) });
    expect(
      await cyclecloud.create(cluster, {
        templates: NO_TEMPLATES,
        requestId: id,
        sets: [{ bucket, count: 2 }],
      }),
    ).toEqual(outcome);
  });
});

describe("answers that are no outcome become a PortError", () => {
  const page = "<html><head><style>p {}</style></head><body><p>Sign&nbsp;in</p></body></html>";
  test.each([
    { name: "bad credentials", status: 401, body: page, kind: "denied", message: "HTTP 401: Sign&nbsp;in" },
    { name: "no permission", status: 403, body: undefined, kind: "denied", message: "HTTP 403" },
    { name: "timeout of a proxy", status: 408, body: undefined, kind: "unreachable", message: "HTTP 408" },
    { name: "too many requests", status: 429, body: undefined, kind: "throttled", message: "HTTP 429" },
    { name: "overloaded", status: 503, body: undefined, kind: "throttled", message: "HTTP 503" },
    {
      name: "bad gateway",
      status: 502,
      body: "<b>Bad Gateway</b>",
      kind: "unexpected",
      message: "HTTP 502: Bad Gateway",
    },
    {
      name: "server failure with the lines to look for",
      status: 500,
      body: {
        Exception: "java.lang.NullPointerException",
        Message: "An error occurred",
        Detail: "tagged with request-1",
      },
      kind: "unexpected",
      message: "HTTP 500: An error occurred (java.lang.NullPointerException); tagged with request-1",
    },
  ])("$name", async ({ status, body, kind, message }) => {
    const cyclecloud = createCycleCloud({ transport: answering(status, body) });
    const demo = clusterName("demo");
    const calls = [
      { operation: "GET /clusters/demo/status", call: () => cyclecloud.status(demo, now) },
      { operation: "GET /clusters/demo/nodes", call: () => cyclecloud.nodesOfRequest(demo, id) },
      { operation: "GET /operations/", call: () => cyclecloud.knowsRequest(demo, id) },
      {
        operation: "POST /clusters/demo/nodes/create",
        call: () =>
          cyclecloud.create(demo, { templates: NO_TEMPLATES, requestId: id, sets: [{ bucket, count: 1 }] }),
      },
      {
        operation: "POST /clusters/demo/nodes/terminate",
        call: () => cyclecloud.terminate(demo, id, [nodeId("a")]),
      },
      {
        operation: "POST /clusters/demo/nodes/start",
        call: () => cyclecloud.start(demo, id, [nodeId("a")]),
      },
    ];
    for (const { operation, call } of calls) {
      const error = await call().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(PortError);
      expect(error).toMatchObject({ kind, operation, status, message: `${operation}: ${message}` });
    }
  });

  test.each([
    {
      name: "another host",
      location: "https://login.example:9443/sign-in?ticket=secret",
      host: "login.example:9443",
    },
    {
      name: "another host, scheme left out",
      location: "//login.example/sign-in?ticket=secret",
      host: "login.example",
    },
    { name: "another path", location: "/login?ticket=secret", host: "the same server" },
    { name: "nowhere", location: "https://[secret", host: "an unreadable address" },
  ])("a redirect names the host it points to and nothing else: $name", async ({ location, host }) => {
    const transport = answering(302, undefined, { location });
    await expect(createCycleCloud({ transport }).status(clusterName("demo"), now)).rejects.toMatchObject({
      kind: "unexpected",
      message: `GET /clusters/demo/status: HTTP 302 redirects to ${host}, which is not followed`,
    });
  });

  test.each([
    { name: "status", body: [], problem: "(body): found a list, expected an object" },
    { name: "nodesOfRequest", body: {}, problem: "nodes: found nothing, expected a list of node records" },
    { name: "knowsRequest", body: {}, problem: "(body): found an object, expected a list of operations" },
    { name: "create", body: { sets: [] }, problem: "sets[0].added: found nothing, expected a number" },
    { name: "terminate", body: "<html>", problem: "nodes: found nothing, expected a list of results" },
  ])("a success without substance: $name", async ({ name, body, problem }) => {
    const cyclecloud = createCycleCloud({ transport: answering(200, body) });
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      status: () => cyclecloud.status(cluster, now),
      nodesOfRequest: () => cyclecloud.nodesOfRequest(cluster, id),
      knowsRequest: () => cyclecloud.knowsRequest(cluster, id),
      create: () =>
        cyclecloud.create(cluster, { templates: NO_TEMPLATES, requestId: id, sets: [{ bucket, count: 1 }] }),
      terminate: () => cyclecloud.terminate(cluster, id, [nodeId("a")]),
    };
    const error = await calls[name]?.().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      kind: "unexpected",
      status: 200,
      message: expect.stringContaining(problem),
    });
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
