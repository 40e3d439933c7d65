import type { RequestOptions } from "node:http";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listen } from "../../src/local/host/http-server.ts";
import { isForeignOrigin } from "../../src/domain/loopback.ts";
import { defaultOptions } from "../../src/simulator/default-options.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import { serveSimulator } from "../../src/simulator/server.ts";

/** A web page in a developer's browser can send requests to this machine, and says where it comes from. */

test.each([
  { origin: undefined, host: "127.0.0.1:8080", foreign: false },
  { origin: "http://127.0.0.1:8080", host: "127.0.0.1:8080", foreign: false },
  { origin: "http://localhost:8080", host: "localhost:8080", foreign: false },
  { origin: "https://evil.example", host: "127.0.0.1:8080", foreign: true },
  { origin: "null", host: "127.0.0.1:8080", foreign: true },
  { origin: "http://127.0.0.1:3000", host: "127.0.0.1:8080", foreign: true },
  { origin: "https://127.0.0.1:8080", host: "127.0.0.1:8080", foreign: true },
  // A name of the page's own that leads to this machine.
  { origin: "http://evil.example:8080", host: "evil.example:8080", foreign: true },
  // The same page reads: a browser sends no origin then.
  { origin: undefined, host: "evil.example:8080", foreign: true },
  { origin: undefined, host: "localhost", foreign: false },
  { origin: undefined, host: "[::1]:8080", foreign: false },
  { origin: undefined, host: "x@127.0.0.1:8080", foreign: true },
  { origin: undefined, host: "x@y:z", foreign: true },
  { origin: undefined, host: undefined, foreign: false },
])("origin $origin at $host is foreign: $foreign", ({ origin, host, foreign }) => {
  expect(isForeignOrigin(origin, host)).toBe(foreign);
});

/** `fetch` sets the Host by itself. */
function statusOf(options: RequestOptions): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", ...options }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

describe("refused", () => {
  const running: { url: string; close(): Promise<void> }[] = [];
  let simulator: Simulator;
  let calls = 0;
  beforeAll(async () => {
    simulator = new Simulator(defaultOptions, { now: () => Date.UTC(2026, 0, 1) });
    running.push(
      await serveSimulator(simulator, { credentials: { username: "user", password: "password-1" } }),
      await listen(
        () => {
          calls += 1;
          return Promise.resolve(new Response("done"));
        },
        0,
        () => undefined,
      ),
    );
  });
  afterAll(() => Promise.all(running.map((one) => one.close())));

  const post = (url: string, headers: Readonly<Record<string, string>>) =>
    fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "text/plain" },
      body: '{"fault":"falseEmptyStatus","times":3}',
    });

  test("by the simulator: a page sets no fault", async () => {
    const url = `${running[0]?.url}/simulator/faults`;
    expect((await post(url, { origin: "https://evil.example" })).status).toBe(403);
    expect((await post(url, { origin: "null" })).status).toBe(403);
    expect((await post(url, {})).status).toBe(200);
  });

  test("a page that makes its own name lead here reads nothing, as it is called by that name", async () => {
    for (const [at, path] of ["/simulator/ready-nodes", "/api/clusters"].entries()) {
      const { port } = new URL(running[at]?.url ?? "");
      const statusFor = (host: string) => statusOf({ port, path, headers: { host } });
      expect(await statusFor(`evil.example:${port}`)).toBe(403);
      expect(await statusFor(`x@127.0.0.1:${port}`)).toBe(403);
      expect(await statusFor("x@y:z")).toBe(403);
      expect(await statusFor(`127.0.0.1:${port}`)).toBe(200);
      expect(await statusFor("localhost")).toBe(200);
    }
    calls = 0;
  });

  test("TRACE calls no function", async () => {
    const { port } = new URL(running[1]?.url ?? "");
    expect(await statusOf({ port, path: "/api/clusters", method: "TRACE" })).toBe(405);
    expect(calls).toBe(0);
  });

  test("by the local host: no function runs", async () => {
    const url = `${running[1]?.url}/api/clusters`;
    expect((await post(url, { origin: "https://evil.example" })).status).toBe(403);
    expect(calls).toBe(0);
    expect((await post(url, {})).status).toBe(200);
    expect(calls).toBe(1);
  });
});
