import { createServer, request as httpRequest } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { gunzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { defaultOptions } from "../../src/simulator/default-options.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import { serveSimulator } from "../../src/simulator/server.ts";
import { start } from "./fixture.ts";
type RunningSimulator = Awaited<ReturnType<typeof serveSimulator>>;

type ServerOptions = Parameters<typeof serveSimulator>[1];

const authorization = `Basic ${Buffer.from("user:password-1").toString("base64")}`;
const credentials = { username: "user", password: "password-1" };
let now = start;
let running: RunningSimulator | undefined;

afterEach(async () => {
  await running?.close();
  running = undefined;
  now = start;
});

async function serve(options: Partial<ServerOptions> = {}): Promise<{ simulator: Simulator; url: string }> {
  const simulator = new Simulator(
    { ...defaultOptions, visibilityLagSeconds: 0, quirks: { headNodesInStatus: true } },
    { now: () => now },
  );
  running = await serveSimulator(simulator, { credentials, ...options });
  return { simulator, url: running.url };
}

type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer };

/** A plain exchange without fetch's help, so that encodings and connections are seen as they are. */
function call(url: string, method = "GET", headers: Record<string, string> = {}, body = ""): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      url,
      { method, agent: false, headers: { authorization, ...headers } },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            body: Buffer.concat(chunks),
          }),
        );
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

const parse = (answer: Answer): unknown => JSON.parse(answer.body.toString("utf8"));
const one = JSON.stringify({ sets: [{ nodearray: "htc", count: 1 }] });

describe("the server", () => {
  test.each(["application/json", "text/plain"])("takes a create as %s and shows its node", async (type) => {
    const { url } = await serve();
    const created = await call(`${url}/clusters/demo/nodes/create`, "POST", { "Content-Type": type }, one);
    expect(created.status).toBe(202);
    expect(created.headers.location).toMatch(/^\/operations\/[0-9a-f-]{36}$/);
    const status = await call(`${url}/clusters/demo/status?nodes=true`);
    expect(status.headers["content-type"]).toBe("application/json");
    expect(parse(status)).toMatchObject({
      state: "Started",
      nodes: [{ Name: "scheduler" }, { Name: "htc-1" }],
    });
    const operation = await call(`${url}${created.headers.location}`);
    expect(parse(operation)).toMatchObject({ action: "create" });
  });

  test("zips long answers for those who accept that, and no others", async () => {
    const { url } = await serve();
    const plain = await call(`${url}/clusters/demo/status`);
    expect(plain.headers["content-encoding"]).toBeUndefined();
    const zipped = await call(`${url}/clusters/demo/status`, "GET", { "Accept-Encoding": "gzip, deflate" });
    expect(zipped.headers["content-encoding"]).toBe("gzip");
    expect(zipped.body.length).toBeLessThan(plain.body.length / 2);
    expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);
    const short = await call(`${url}/operations/?request_id=x`, "GET", { "Accept-Encoding": "gzip" });
    expect(short.headers["content-encoding"]).toBeUndefined();
  });

  test("answers wrong credentials with 401 and a page", async () => {
    const { url } = await serve();
    const answer = await call(`${url}/clusters/demo/status`, "GET", { authorization: "Basic eDp5" });
    expect(answer.status).toBe(401);
    expect(answer.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(answer.body.toString()).toBe("<html>Unauthorized</html>");
  });

  test.each([
    { name: "unknown path", path: "/cloud/clusters", method: "GET", body: "", status: 404 },
    { name: "unknown cluster", path: "/clusters/nope/status", method: "GET", body: "", status: 404 },
    {
      name: "a body that is not JSON",
      path: "/clusters/demo/nodes/create",
      method: "POST",
      body: "{",
      status: 400,
    },
    { name: "an empty body", path: "/clusters/demo/nodes/create", method: "POST", body: "", status: 409 },
    {
      name: "a body without end",
      path: "/clusters/demo/nodes/create",
      method: "POST",
      body: " ".repeat(17 * 1024 * 1024),
      status: 413,
    },
  ])("$name: $status", async ({ path, method, body, status }) => {
    const { url } = await serve();
    expect((await call(url + path, method, {}, body)).status).toBe(status);
  });

  test("cuts the connection where a fault says so, before or after the effect", async () => {
    const { simulator, url } = await serve();
    simulator.faults.failNext({ method: "POST" }, 1, { dropRequest: true });
    simulator.faults.failNext({ method: "POST" }, 1, { dropAnswer: true });
    await expect(call(`${url}/clusters/demo/nodes/create`, "POST", {}, one)).rejects.toThrow(
      "socket hang up",
    );
    expect(simulator.summarize().nodesCreated).toBe(0);
    await expect(call(`${url}/clusters/demo/nodes/create`, "POST", {}, one)).rejects.toThrow(
      "socket hang up",
    );
    expect(simulator.summarize().nodesCreated).toBe(1);
  });

  test("answers late where it is told to, a status as it was when it was asked for", async () => {
    const { url } = await serve({ statusDelayMs: 120, latencyMs: 30 });
    const began = performance.now();
    const status = call(`${url}/clusters/demo/status?nodes=true`);
    await call(`${url}/clusters/demo/nodes/create`, "POST", {}, one);
    expect(performance.now() - began).toBeGreaterThanOrEqual(28);
    expect(parse(await status)).toHaveProperty("nodes.length", 1);
    expect(performance.now() - began).toBeGreaterThanOrEqual(148);
  });

  test("lets time pass while nobody asks", async () => {
    const { simulator, url } = await serve();
    await call(`${url}/clusters/demo/nodes/create`, "POST", {}, one);
    const ready = new Promise<string>((resolve) => {
      simulator.onEvent((event) => event.kind === "node-ready" && resolve(event.name));
    });
    now += 600_000;
    expect(await ready).toBe("htc-1");
  });

  test("the same bytes for the same node after another has changed", async () => {
    const { simulator, url } = await serve();
    const two = JSON.stringify({ sets: [{ nodearray: "htc", count: 2 }] });
    await call(`${url}/clusters/demo/nodes/create`, "POST", {}, two);
    await call(`${url}/clusters/demo/status?nodes=true`);
    await call(`${url}/clusters/demo/nodes/terminate`, "POST", {}, JSON.stringify({ names: ["htc-1"] }));
    const answer = await call(`${url}/clusters/demo/status?nodes=true`);
    const direct = simulator.request({
      method: "GET",
      path: "/clusters/demo/status",
      query: { nodes: "true" },
      authorization,
    });
    expect(parse(answer)).toEqual(JSON.parse(JSON.stringify(direct.body)));
  });

  test("rejects when the port is taken", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const address = other.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    await expect(serve({ port })).rejects.toThrow("EADDRINUSE");
    await new Promise((resolve) => other.close(resolve));
  });
});

describe("our own routes", () => {
  const anonymous = { authorization: "" };

  test("the log is read on from where it was left", async () => {
    const { url } = await serve();
    await call(`${url}/clusters/demo/nodes/create`, "POST", {}, one);
    const first = parse(await call(`${url}/simulator/log`, "GET", anonymous));
    expect(first).toMatchObject({ events: [{ kind: "node-created" }, { kind: "create-accepted" }], next: 2 });
    await call(`${url}/clusters/demo/status`);
    const second = parse(await call(`${url}/simulator/log?since=2`, "GET", anonymous));
    expect(second).toMatchObject({ events: [{ kind: "status-read" }], next: 3 });
    expect((await call(`${url}/simulator/log?since=x`, "GET", anonymous)).status).toBe(400);
  });

  test("the summary counts nodes and status calls", async () => {
    const { url } = await serve();
    await call(`${url}/clusters/demo/nodes/create`, "POST", {}, one);
    await call(`${url}/clusters/demo/status`);
    now += 3_690_000;
    const summary = parse(await call(`${url}/simulator/summary`));
    expect(summary).toMatchObject({
      nodesByStatus: { Ready: 2 },
      nodesCreated: 1,
      statusCalls: 1,
      mostStatusCallsIn60Seconds: 1,
    });
  });

  test("every fault can be set, one or several at once", async () => {
    const { simulator, url } = await serve();
    await call(`${url}/clusters/demo/nodes/create`, "POST", {}, one);
    const created = simulator.log.find((event) => event.kind === "node-created");
    const nodeId = created?.nodeId;
    const faults = [
      { fault: "failNode", nodeId },
      { fault: "keepAlive", nodeId, keepAlive: true },
      { fault: "setCapacity", array: "hpc", machineType: "Standard_HB120rs_v3", left: 0 },
      { fault: "setInvalid", array: "lowprio", machineType: "Standard_F2s_v2", reason: "NotActivated" },
      { fault: "freezeLag", frozen: true },
    ];
    expect((await call(`${url}/simulator/faults`, "POST", {}, JSON.stringify(faults))).status).toBe(200);
    const status = parse(await call(`${url}/clusters/demo/status?nodes=true`));
    expect(status).toMatchObject({
      nodes: [{}, { Status: "Failed", KeepAlive: true }],
      nodearrays: [{}, {}, { buckets: [{ valid: false }] }],
    });
    const set = (fault: object): Promise<Answer> =>
      call(`${url}/simulator/faults`, "POST", {}, JSON.stringify(fault));
    await set({ fault: "vanish", nodeIds: [nodeId] });
    await set({ fault: "setClusterState", cluster: "demo", state: "Terminating", targetState: "Terminated" });
    await set({ fault: "failNext", match: { method: "GET" }, times: 1, failure: { status: 503 } });
    expect((await call(`${url}/clusters/demo/status`)).status).toBe(503);
    await set({ fault: "falseEmptyStatus", times: 1 });
    expect(parse(await call(`${url}/clusters/demo/status?nodes=true`))).toMatchObject({
      state: "Terminating",
      nodes: [],
    });
    await set({ fault: "failNext", match: {}, times: 9, failure: { status: 503 } });
    await set({ fault: "clear" });
    expect(parse(await call(`${url}/clusters/demo/status?nodes=true`))).toHaveProperty("nodes.length", 1);
  });

  test.each([
    { name: "an unknown fault", fault: { fault: "explode" }, text: "fault" },
    { name: "a wrong type", fault: { fault: "vanish", nodeIds: "x" }, text: "expected array" },
    { name: "an unknown node", fault: { fault: "failNode", nodeId: "x" }, text: "no node with the id x" },
  ])("$name is answered with what is wrong", async ({ fault, text }) => {
    const { url } = await serve();
    const answer = await call(`${url}/simulator/faults`, "POST", {}, JSON.stringify(fault));
    expect(answer.status).toBe(400);
    expect(answer.body.toString()).toContain(text);
  });

  test("ready nodes say what jetpack config says there; those without a stop URL are left out", async () => {
    const { url } = await serve();
    const answer = await call(`${url}/simulator/ready-nodes`);
    expect({ status: answer.status, body: answer.body.toString() }).toEqual({ status: 200, body: "" });
  });

  test("an unknown route names the known ones", async () => {
    const { url } = await serve();
    const answer = await call(`${url}/simulator/nope`);
    expect(answer.status).toBe(404);
    expect(parse(answer)).toEqual({
      error: "no GET nope; there are GET log, GET ready-nodes, GET summary, POST faults",
    });
  });
});
