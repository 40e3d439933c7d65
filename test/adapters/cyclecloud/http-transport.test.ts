import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { createHttpTransport } from "../../../src/adapters/cyclecloud/http-transport.ts";
import type { HttpTransport, HttpTransportOptions } from "../../../src/adapters/cyclecloud/http-transport.ts";
import type { TransportRequest } from "../../../src/adapters/cyclecloud/transport.ts";
import { PortError } from "../../../src/app/ports/port-error.ts";
import { serve } from "./local-server.ts";
import type { Behaviour, LocalServer } from "./local-server.ts";

const read: TransportRequest = {
  method: "GET",
  path: "/clusters/a%20b/status",
  query: { nodes: "true" },
  idempotent: true,
};
const change: TransportRequest = {
  method: "POST",
  path: "/clusters/a/nodes/create",
  query: {},
  body: { n: 1 },
  idempotent: false,
};
const password = "s3cret: with colon ü";
const credentials: HttpTransportOptions["credentials"] = () =>
  Promise.resolve({ kind: "basic", username: "cc_admin", password });

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function start(
  behave: Behaviour,
  options: Partial<HttpTransportOptions> = {},
  prefix = "",
): Promise<{ server: LocalServer; transport: HttpTransport; pauses: number[] }> {
  const server = await serve(behave);
  const pauses: number[] = [];
  const transport = createHttpTransport({
    baseUrl: server.url + prefix,
    credentials,
    fraction: () => 0,
    sleep: (milliseconds) => {
      pauses.push(milliseconds);
      return Promise.resolve();
    },
    ...options,
  });
  open.push(server, transport);
  return { server, transport, pauses };
}

const answerJson =
  (body: unknown): Behaviour =>
  (outgoing) =>
    void outgoing.end(JSON.stringify(body));

async function failureOf(sending: Promise<unknown>): Promise<PortError> {
  const error = await sending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PortError)) throw new Error(`expected a PortError, not ${String(error)}`);
  return error;
}

describe("what goes out", () => {
  test("a read carries credentials at once, accepts gzip and says who we are", async () => {
    const { server, transport } = await start(answerJson({ ok: true }));
    expect(await transport.send(read)).toMatchObject({ status: 200, body: { ok: true } });
    expect(server.seen).toHaveLength(1);
    expect(server.seen[0]).toMatchObject({
      method: "GET",
      url: "/clusters/a%20b/status?nodes=true",
      body: "",
      headers: {
        // base64 of the UTF-8 text "cc_admin:s3cret: with colon ü"
        authorization: "Basic Y2NfYWRtaW46czNjcmV0OiB3aXRoIGNvbG9uIMO8",
        "accept-encoding": "gzip",
        "x-cycle-client-version": "cyclecloud-autoscaler:0.1.0",
      },
    });
    expect(server.seen[0]?.headers["content-type"]).toBeUndefined();
  });

  test("a change is sent as JSON", async () => {
    const { server, transport } = await start(answerJson({}));
    await transport.send(change);
    expect(server.seen[0]).toMatchObject({
      method: "POST",
      url: "/clusters/a/nodes/create",
      body: '{"n":1}',
      headers: { "content-type": "application/json" },
    });
  });

  test("a base URL with a path keeps it", async () => {
    const { server, transport } = await start(answerJson({}), {}, "/cycle/");
    await transport.send(read);
    expect(server.seen[0]?.url).toBe("/cycle/clusters/a%20b/status?nodes=true");
  });

  test("what is in the query is encoded", async () => {
    const { server, transport } = await start(answerJson([]));
    await transport.send({
      method: "GET",
      path: "/operations/",
      query: { request_id: "a&b=c d" },
      idempotent: true,
    });
    expect(server.seen[0]?.url).toBe("/operations/?request_id=a%26b%3Dc%20d");
  });

  test("a bearer token", async () => {
    const token: HttpTransportOptions["credentials"] = () =>
      Promise.resolve({ kind: "bearer", token: "ey.x" });
    const { server, transport } = await start(answerJson({}), { credentials: token });
    await transport.send(read);
    expect(server.seen[0]?.headers.authorization).toBe("Bearer ey.x");
  });

  test("without credentials nothing is sent, and the reason shows no secret", async () => {
    const refuse = (): Promise<never> => Promise.reject(new Error(`cannot decrypt ${password}`));
    const { server, transport } = await start(answerJson({}), { credentials: refuse });
    const error = await failureOf(transport.send(read));
    expect(error).toMatchObject({
      kind: "unreachable",
      message: "GET /clusters/a%20b/status: no credentials to send (Error)",
    });
    expect(server.seen).toHaveLength(0);
  });
});

describe("what comes back", () => {
  test.each([
    { name: "JSON", payload: '{"a":[1]}', body: { a: [1] } },
    { name: "no content", payload: "", body: undefined },
    { name: "a page", payload: "<html>Unauthorized</html>", body: "<html>Unauthorized</html>" },
  ])("$name, of any status", async ({ payload, body }) => {
    const { transport } = await start((outgoing) => void outgoing.writeHead(401).end(payload));
    expect(await transport.send(read)).toMatchObject({ status: 401, body });
  });

  test("a packed answer is unpacked", async () => {
    const { transport } = await start((outgoing) => {
      outgoing.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync('{"nodes":[]}'));
    });
    expect((await transport.send(read)).body).toEqual({ nodes: [] });
  });

  test("nothing, said to be packed", async () => {
    const { transport } = await start((outgoing) => {
      outgoing.writeHead(404, { "content-encoding": "gzip" }).end();
    });
    expect(await transport.send(read)).toMatchObject({ status: 404, body: undefined });
  });

  test("a packed answer that is cut short is not read as if it were whole", async () => {
    const packed = gzipSync('{"nodes":[]}');
    const { transport } = await start((outgoing) => {
      outgoing.writeHead(200, { "content-encoding": "gzip" }).end(packed.subarray(0, packed.length - 6));
    });
    expect(await failureOf(transport.send(read))).toMatchObject({ kind: "unexpected" });
  });

  test("a redirect is handed back, not followed", async () => {
    const elsewhere = await serve(answerJson({ caught: true }));
    open.push(elsewhere);
    const { transport } = await start(
      (outgoing) => void outgoing.writeHead(302, { location: `${elsewhere.url}/x` }).end(),
    );
    expect(await transport.send(read)).toMatchObject({
      status: 302,
      headers: { location: `${elsewhere.url}/x` },
    });
    expect(elsewhere.seen).toHaveLength(0);
  });

  test("an answer at the limit is read, one byte more is not", async () => {
    const { transport } = await start((outgoing, nth) => void outgoing.end(`"${"x".repeat(998 + nth)}"`), {
      maxAnswerBytes: 1000,
    });
    expect((await transport.send(read)).body).toBe("x".repeat(998));
    expect(await failureOf(transport.send(read))).toMatchObject({
      kind: "unexpected",
      message: "GET /clusters/a%20b/status: the answer is larger than 1000 bytes",
    });
  });

  test("a small answer that unpacks to a huge one is given up at the limit", async () => {
    const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024));
    const { transport } = await start(
      (outgoing) => void outgoing.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
      { maxAnswerBytes: 64 * 1024 },
    );
    expect(bomb.length).toBeLessThan(64 * 1024);
    expect(await failureOf(transport.send(read))).toMatchObject({
      kind: "unexpected",
      message: "GET /clusters/a%20b/status: the answer is larger than 65536 bytes",
    });
  });

  test.each([
    { name: "broken gzip", encoding: "gzip", message: "the answer cannot be unpacked (Z_DATA_ERROR)" },
    {
      name: "an encoding that was not asked for",
      encoding: "br",
      message: 'the answer is encoded as "br", expected gzip or none',
    },
  ])("$name", async ({ encoding, message }) => {
    const { server, transport } = await start((outgoing) => {
      outgoing.writeHead(200, { "content-encoding": encoding }).end("not packed at all");
    });
    expect(await failureOf(transport.send(read))).toMatchObject({
      kind: "unexpected",
      message: `GET /clusters/a%20b/status: ${message}`,
    });
    expect(server.seen).toHaveLength(1);
  });
});

describe("timeouts", () => {
  const silent: Behaviour = () => undefined;
  const dripping: Behaviour = (outgoing) => {
    outgoing.write("[");
    const timer = setInterval(() => outgoing.write("1,"), 20);
    outgoing.on("close", () => clearInterval(timer));
  };

  test.each([
    { name: "no headers", behave: silent },
    { name: "a body that drips without end", behave: dripping },
  ])("a read: $name", async ({ behave }) => {
    const { server, transport } = await start(behave, { timeouts: { readMs: 150, changeMs: 60_000 } });
    expect(await failureOf(transport.send(read))).toMatchObject({
      kind: "unreachable",
      message: "GET /clusters/a%20b/status: no full answer within 0.15 s",
    });
    expect(server.seen).toHaveLength(1);
  });

  test("a change has its own", async () => {
    const { transport } = await start(silent, { timeouts: { readMs: 60_000, changeMs: 150 } });
    expect(await failureOf(transport.send(change))).toMatchObject({
      kind: "unreachable",
      message: "POST /clusters/a/nodes/create: no full answer within 0.15 s",
    });
  });

  test("a connection whose TLS handshake is never answered", async () => {
    const mute = createServer((socket) => socket.on("error", () => undefined).resume());
    await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
    const address = mute.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const transport = createHttpTransport({
      baseUrl: `https://127.0.0.1:${port}`,
      credentials,
      timeouts: { connectMs: 100 },
      retry: { retries: 0 },
    });
    open.push(transport, { close: () => new Promise((resolve) => mute.close(() => resolve())) });
    expect(await failureOf(transport.send(change))).toMatchObject({
      kind: "unreachable",
      message: "POST /clusters/a/nodes/create: no connection, or it was cut (UND_ERR_CONNECT_TIMEOUT)",
    });
  });

  test("an answer within the time is not disturbed", async () => {
    const late: Behaviour = (outgoing) => void pause(50).then(() => outgoing.end("1"));
    const { transport } = await start(late, { timeouts: { readMs: 5_000 } });
    expect((await transport.send(read)).body).toBe(1);
  });
});

describe("trying again", () => {
  const cut: Behaviour = (outgoing) => void outgoing.destroy();
  const say =
    (status: number, headers: Readonly<Record<string, string>> = {}): Behaviour =>
    (outgoing) =>
      void outgoing.writeHead(status, headers).end();
  const inTurn =
    (...behaviours: readonly Behaviour[]): Behaviour =>
    (outgoing, nth, incoming) =>
      behaviours[Math.min(nth, behaviours.length - 1)]?.(outgoing, nth, incoming);
  const cutInBody: Behaviour = (outgoing) => {
    outgoing.writeHead(200, { "content-length": "100" });
    outgoing.write("{");
    setTimeout(() => outgoing.destroy(), 20);
  };

  test.each([
    { name: "a cut connection", first: cut },
    { name: "a connection cut within the body", first: cutInBody },
    { name: "429", first: say(429) },
    { name: "502", first: say(502) },
    { name: "503", first: say(503) },
    { name: "504", first: say(504) },
  ])("a read after $name", async ({ first }) => {
    const { server, transport, pauses } = await start(inTurn(first, first, answerJson({ ok: true })));
    expect(await transport.send(read)).toMatchObject({ status: 200, body: { ok: true } });
    expect(server.seen).toHaveLength(3);
    // Half of 500 ms, then half of 1,000 ms: chance adds nothing here.
    expect(pauses).toEqual([250, 500]);
  });

  test.each([
    { name: "a cut connection", first: cut },
    { name: "a connection cut within the body", first: cutInBody },
  ])("a change is sent exactly once: $name", async ({ first }) => {
    const { server, transport, pauses } = await start(first);
    expect((await failureOf(transport.send(change))).kind).toBe("unreachable");
    expect([server.seen.length, pauses.length]).toEqual([1, 0]);
  });

  test.each([429, 502, 503, 504])("a change is sent exactly once: %i", async (status) => {
    const { server, transport, pauses } = await start(say(status));
    expect((await transport.send(change)).status).toBe(status);
    expect([server.seen.length, pauses.length]).toEqual([1, 0]);
  });

  test.each([400, 401, 403, 404, 409, 500])("a read is not repeated after %i", async (status) => {
    const { server, transport } = await start(say(status));
    expect((await transport.send(read)).status).toBe(status);
    expect(server.seen).toHaveLength(1);
  });

  test("twice and no more; the last answer is the answer", async () => {
    const { server, transport } = await start(say(503));
    expect((await transport.send(read)).status).toBe(503);
    expect(server.seen).toHaveLength(3);
  });

  test("nobody listens", async () => {
    const gone = await serve(cut);
    await gone.close();
    const transport = createHttpTransport({ baseUrl: gone.url, credentials, sleep: () => Promise.resolve() });
    open.push(transport);
    const error = await failureOf(transport.send(read));
    expect(error).toMatchObject({
      kind: "unreachable",
      message: "GET /clusters/a%20b/status: no connection, or it was cut (ECONNREFUSED)",
    });
  });

  test.each([
    { name: "seconds", value: () => "3", pauses: [3000], requests: 2 },
    { name: "shorter than our own pause", value: () => "0", pauses: [250], requests: 2 },
    { name: "a date in the past", value: () => "Wed, 21 Oct 2015 07:28:00 GMT", pauses: [250], requests: 2 },
    { name: "nonsense", value: () => "soon", pauses: [250], requests: 2 },
    { name: "longer than we wait", value: () => "11", pauses: [], requests: 1 },
    {
      name: "a date too far away",
      value: () => new Date(Date.now() + 3_600_000).toUTCString(),
      pauses: [],
      requests: 1,
    },
  ])("Retry-After: $name", async ({ value, pauses, requests }) => {
    const later = inTurn(say(503, { "retry-after": value() }), answerJson({}));
    const { server, transport, pauses: waited } = await start(later);
    await transport.send(read);
    expect(waited).toEqual(pauses);
    expect(server.seen).toHaveLength(requests);
  });

  test("chance lengthens the pause by up to as much again", async () => {
    const { transport, pauses } = await start(inTurn(say(502), answerJson({})), { fraction: () => 0.5 });
    await transport.send(read);
    expect(pauses).toEqual([375]);
  });

  test("no error shows the password", async () => {
    const { transport } = await start(cut);
    const error = await failureOf(transport.send(read));
    expect(`${error.message} ${error.stack ?? ""}`).not.toMatch(/s3cret|Y2NfYWRtaW46/);
  });
});
