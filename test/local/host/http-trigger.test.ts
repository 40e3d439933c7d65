import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startAzurite } from "../../../src/local/azurite.ts";
import { journal, seenBy } from "../../support/toy-app/journal.ts";
import { hostJson, startToyHost } from "../../support/toy-app/start.ts";
import type { startHost } from "../../../src/local/host/host.ts";
import type { Log } from "../../../src/local/host/runtime.ts";

type LogEntry = Parameters<Log>[0];
type Host = Awaited<ReturnType<typeof startHost>>;

type Azurite = Awaited<ReturnType<typeof startAzurite>>;

let azurite: Azurite;
let host: Host;
const log: LogEntry[] = [];
const keys = {
  master: "master-key",
  host: "host-key",
  functions: { "with-function-key": ["own-key"], echo: ["echo-key"] },
};

beforeAll(async () => {
  azurite = await startAzurite();
  host = await startToyHost({
    connectionString: azurite.connectionString,
    keys,
    settings: { FUNCTIONS_REQUEST_BODY_SIZE_LIMIT: "100000" },
    hostJson: hostJson({}, "00:00:30"),
    log: (entry) => log.push(entry),
  });
});
afterAll(async () => {
  await host.stop();
  await azurite.close();
});
beforeEach(() => {
  log.length = 0;
});

describe("which function answers", () => {
  test.each([
    { name: "a route's function", method: "GET", path: "/api/echo/prod", status: 200 },
    { name: "a wrong method is not found", method: "PUT", path: "/api/echo/prod", status: 404 },
    { name: "an unknown path is not found", method: "GET", path: "/api/nowhere", status: 404 },
    { name: "without the prefix nothing is found", method: "GET", path: "/echo/prod", status: 404 },
    { name: "a disabled function is not found", method: "GET", path: "/api/switched-off", status: 404 },
    {
      name: "a function that answers nothing",
      method: "GET",
      path: "/api/says-nothing",
      status: 204,
      body: "",
    },
    { name: "a function that throws", method: "GET", path: "/api/throws", status: 500, body: "" },
  ])("$name: $method $path is $status", async ({ method, path, status, body }) => {
    const response = await fetch(host.url + path, { method });
    const text = await response.text();
    expect(response.status).toBe(status);
    if (body !== undefined) expect(text).toBe(body);
  });
});

describe("who may call", () => {
  test.each([
    {
      name: "a function of level function, without a key",
      path: "/api/with-function-key",
      key: undefined,
      status: 401,
    },
    { name: "with a wrong key", path: "/api/with-function-key", key: "wrong", status: 401 },
    { name: "with the host's key", path: "/api/with-function-key", key: "host-key", status: 200 },
    { name: "with its own key", path: "/api/with-function-key", key: "own-key", status: 200 },
    { name: "with another function's key", path: "/api/with-function-key", key: "echo-key", status: 401 },
    { name: "with the master key", path: "/api/with-function-key", key: "master-key", status: 200 },
    { name: "an anonymous function, with a wrong key", path: "/api/special", key: "wrong", status: 200 },
  ])("$name: $status", async ({ path, key, status }) => {
    const byHeader = await fetch(host.url + path, {
      headers: key === undefined ? {} : { "x-functions-key": key },
    });
    const byQuery = await fetch(`${host.url}${path}${key === undefined ? "" : `?code=${key}`}`);
    expect([byHeader.status, byQuery.status]).toEqual([status, status]);
  });
});

test("a function sees method, parameters, headers, the bytes of the body, and one value per query name", async () => {
  const response = await fetch(`${host.url}/api/echo/a%20b?x=1&y=&x=2`, {
    method: "POST",
    body: new Uint8Array([0, 255, 10, 13, 128]),
    headers: { "x-custom": "kept" },
  });
  expect(response.headers.get("x-seen-method")).toBe("POST");
  expect(await response.json()).toEqual({
    params: { cluster: "a b" },
    query: [
      ["x", "1,2"],
      ["y", ""],
    ],
    bytes: [0, 255, 10, 13, 128],
    custom: "kept",
  });
});

describe("a body is taken up to a bound, and thrown away beyond it", () => {
  const send = (path: string, bytes: number, inPieces = false) => {
    const body = new Uint8Array(bytes).fill(65);
    return fetch(`${host.url}${path}`, {
      method: "POST",
      headers: { "x-functions-key": "host-key" },
      // A stream has no content-length.
      body: inPieces ? new Blob([body]).stream() : body,
      ...(inPieces ? { duplex: "half" } : {}),
    });
  };
  const KEYED = "/api/with-function-key";
  const ANONYMOUS = "/api/echo/prod";
  test.each([
    { name: "with a key, the platform's setting", path: KEYED, bytes: 100_000, status: 200 },
    { name: "one byte more", path: KEYED, bytes: 100_001, status: 413 },
    { name: "many more", path: KEYED, bytes: 20_000_000, status: 413 },
    { name: "without a key 4 KiB", path: ANONYMOUS, bytes: 4096, status: 200 },
    { name: "one byte more without a key", path: ANONYMOUS, bytes: 4097, status: 413 },
    { name: "to a path that is not there", path: "/api/nowhere", bytes: 100_001, status: 413 },
  ])("$name: $bytes bytes are $status", async ({ path, bytes, status }) => {
    expect((await send(path, bytes)).status).toBe(status);
    expect((await send(path, bytes, true)).status).toBe(status);
  });

  test("the next request on the connection is answered as ever", async () => {
    await send(KEYED, 100_001);
    expect(await (await send(KEYED, 3)).text()).toBe("3");
  });
});

test("a page is answered with its type and its bytes, and what a function logs is logged", async () => {
  const response = await fetch(`${host.url}/api/page`);
  expect(response.headers.get("content-type")).toBe("text/html");
  expect(await response.text()).toBe("<p>\u00fc</p>");
  expect(
    log.map(({ level, category, message, functionName }) => [level, category, message, functionName]),
  ).toContainEqual(["information", "user", "a page was asked for", "page"]);
});

test("fetch without a socket gives the same answer", async () => {
  const response = await host.fetch(new Request("http://localhost/api/special"));
  expect(await response.text()).toBe("literal");
});

test("a run longer than functionTimeout, 30 simulated seconds, fails", async () => {
  const response = await fetch(`${host.url}/api/never-ends`);
  expect(response.status).toBe(500);
  expect(log.map((entry) => entry.message).join("\n")).toContain("longer than functionTimeout, 30000 ms");
});

describe("running a function by hand", () => {
  const run = (name: string, body: string, key: string) =>
    fetch(`${host.url}/admin/functions/${name}`, {
      method: "POST",
      body,
      headers: { "x-functions-key": key },
    });

  test.each([
    { name: "a timer", functionName: "tick", body: '{"input":""}', key: "master-key", status: 202 },
    { name: "with the host's key", functionName: "tick", body: '{"input":""}', key: "host-key", status: 401 },
    { name: "an unknown function", functionName: "nobody", body: "{}", key: "master-key", status: 404 },
    { name: "without JSON", functionName: "tick", body: "input", key: "master-key", status: 400 },
    { name: "an HTTP function", functionName: "echo", body: "{}", key: "master-key", status: 400 },
  ])("$name: $status", async ({ functionName, body, key, status }) => {
    expect((await run(functionName, body, key)).status).toBe(status);
  });

  test("a queue function gets the input as its message, also when it is disabled", async () => {
    journal.length = 0;
    await run("orders", '{"input":"{\\"by\\":\\"hand\\"}"}', "master-key");
    await run("off", '{"input":"x"}', "master-key");
    await expect.poll(() => seenBy("orders")).toHaveLength(1);
    expect(seenBy("orders")).toMatchObject([{ message: { by: "hand" }, metadata: { dequeueCount: 1 } }]);
    await expect.poll(() => seenBy("off")).toHaveLength(1);
  });
});

describe("starting and stopping", () => {
  test("settings are in place, and stop waits for what runs", async () => {
    journal.length = 0;
    const second = await startToyHost({ connectionString: azurite.connectionString });
    expect(process.env["TOY_SETTING"]).toBe("from settings");
    const slow = fetch(`${second.url}/api/slow`);
    await expect.poll(() => seenBy("slow")).toHaveLength(1);
    await Promise.all([second.stop(), second.stop()]);
    expect(await (await slow).text()).toBe("done");
    expect((await second.fetch(new Request("http://localhost/api/special"))).status).toBe(503);
    await expect(fetch(`${second.url}/api/special`)).rejects.toThrow();
  });

  test("a host does not start on a port that is taken", async () => {
    const port = Number(new URL(host.url).port);
    await expect(startToyHost({ connectionString: azurite.connectionString, port })).rejects.toThrow(
      "EADDRINUSE",
    );
  });
});
