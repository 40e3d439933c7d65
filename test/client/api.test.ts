import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { WAIT_SECONDS } from "../../src/client/call.ts";
import type { AnsweringApi, Answer } from "../../src/client/index.ts";
import { askToStop, AutoscalerError, openApi } from "../../src/client/index.ts";
import { answeringServer } from "../support/answering-server.ts";

test.each<{ name: string; call: (api: AnsweringApi) => Promise<Answer>; asked: string; body?: string }>([
  { name: "all clusters", call: (api) => api.clusters(), asked: "GET /api/clusters" },
  { name: "a cluster", call: (api) => api.state("two words"), asked: "GET /api/clusters/two%20words" },
  {
    name: "a request set",
    call: (api) => api.requestSet("prod", "a b"),
    asked: "GET /api/clusters/prod/request-sets/a%20b",
  },
  {
    name: "emptying a request set",
    call: (api) => api.emptyRequestSet("prod", "a"),
    asked: "DELETE /api/clusters/prod/request-sets/a",
  },
  { name: "history, all of it", call: (api) => api.history("prod"), asked: "GET /api/clusters/prod/history" },
  {
    name: "a node, by a past plan",
    call: (api) => api.explain("prod", { node: "execute-1", plan: 3 }),
    asked: "GET /api/clusters/prod/explain?node=execute-1&plan=3",
  },
  {
    name: "a configuration, as the text it is",
    call: (api) => api.putConfig("prod", "{ }"),
    asked: "PUT /api/clusters/prod/config",
    body: "{ }",
  },
])("openApi: $name", async ({ call, asked, body = "" }) => {
  const { url, seen } = await answeringServer(200, '{"fine":true}');
  expect(await call(openApi({ url: `${url}/`, key: "the-key" }, { throws: false }))).toEqual({
    kind: "answered",
    status: 200,
    body: { fine: true },
  });
  const [method, path] = asked.split(" ");
  expect(seen).toEqual([{ method, path, key: "the-key", body }]);
});

test.each(["..", ".", "team/a"])("a set %s has no address: nothing is asked", async (set) => {
  const { url, seen } = await answeringServer(200, "{}");
  const api = openApi({ url, key: "the-key" });
  expect(() => api.emptyRequestSet("prod", set)).toThrow(
    `found the name "${set}", expected text of 1 to 200`,
  );
  expect(() => api.requestSet("prod", set)).toThrow(RangeError);
  expect(() => api.state(set)).toThrow(RangeError);
  expect(seen).toEqual([]);
});

test("askToStop: asks the stop URL as it is, without a key", async () => {
  const { url, seen } = await answeringServer(503, "{}", { "retry-after": "60" });
  const callback = `${url}/api/autostop/prod/k.token`;
  expect(await askToStop(callback, "vm 1", "unhealthy")).toEqual({
    kind: "refused",
    status: 503,
    body: {},
    retryAfterSeconds: 60,
  });
  const path = "/api/autostop/prod/k.token?instance=vm+1&reason=unhealthy";
  expect(seen).toEqual([{ method: "POST", path, key: undefined, body: "" }]);
});

test("no answer: said without the path, which may hold a token", async () => {
  expect(await askToStop("http://127.0.0.1:2/api/autostop/prod/k.token", "vm")).toEqual({
    kind: "unreachable",
    message: "no answer from http://127.0.0.1:2: connect ECONNREFUSED 127.0.0.1:2",
  });
});

/** How a call fails; the test fails if it does not. */
async function failureOf(work: Promise<unknown>): Promise<AutoscalerError> {
  const error: unknown = await work.then(
    () => "no error",
    (reason: unknown) => reason,
  );
  if (error instanceof AutoscalerError) return error;
  throw new Error(`no AutoscalerError: ${String(error)}`);
}

test("openApi: a good answer is its body, typed", async () => {
  const { url } = await answeringServer(200, '{"cluster":"prod","health":{"ok":true,"notes":[]}}');
  const state = await openApi({ url, key: "k" }).state("prod");
  const ok: boolean = state.health.ok;
  expect(ok).toBe(true);
});

const PROBLEM = { type: "about:blank", title: "Unknown cluster", status: 404, detail: "it is not there" };

test.each([
  {
    name: "a refusal of the app, with its problem",
    status: 404,
    body: JSON.stringify(PROBLEM),
    expected: { message: "404 Unknown cluster: it is not there", status: 404, problem: PROBLEM },
  },
  {
    name: "a wrong key, which the platform answers without a body",
    status: 401,
    body: "",
    expected: { message: "HTTP 401", status: 401, problem: undefined },
  },
  {
    name: "a proxy's page in place of the app",
    status: 502,
    body: "<html>",
    expected: { message: "HTTP 502", status: 502, problem: undefined },
  },
  {
    name: "a login page with 200",
    status: 200,
    body: "<html>",
    expected: {
      message: "HTTP 200, but the answer is not JSON: is this the address of the function app?",
      status: 200,
      problem: undefined,
    },
  },
])("openApi fails loudly: $name", async ({ status, body, expected }) => {
  const { url } = await answeringServer(status, body);
  const { message, status: found, problem } = await failureOf(openApi({ url, key: "k" }).state("prod"));
  expect({ message, status: found, problem }).toEqual(expected);
});

test("https: for a port that speaks http: the advice, and no line of OpenSSL's source", async () => {
  const { url } = await answeringServer(200, "{}");
  const address = url.replace("http:", "https:");
  const answer = await openApi({ url: address, key: "k" }, { throws: false }).clusters();
  expect(answer).toEqual({
    kind: "unreachable",
    message: `no answer from ${address}: it does not speak TLS: does the address begin with http: instead of https:?`,
  });
});

test("openApi fails loudly: no answer", async () => {
  const error = await failureOf(openApi({ url: "http://127.0.0.1:2", key: "k" }).clusters());
  expect(error.failure.kind).toBe("unreachable");
  expect(error.message).toBe("no answer from http://127.0.0.1:2: connect ECONNREFUSED 127.0.0.1:2");
  expect(error.status).toBeUndefined();
});

test("a server that does not answer is given up after 10 s, or as long as is said", async () => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  const error = await failureOf(openApi({ url, key: "k", waitSeconds: 0.2 }).clusters());
  expect(error.message).toBe(`no answer from ${url} within 0.2 s`);
  expect(WAIT_SECONDS).toBe(10);
});
