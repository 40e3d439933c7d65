import { NO_TEMPLATES } from "../../support/no-templates.ts";
import { describe, expect, test } from "vitest";
import { createCycleCloud } from "../../../src/adapters/cyclecloud/cyclecloud.ts";
import { PortError } from "../../../src/app/ports/port-error.ts";
import { clusterName, nodeId } from "../../../src/domain/ids.ts";
import { answering } from "./scripted-transport.ts";
import { bucket, cluster, id, now } from "./cyclecloud-calls.ts";

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
