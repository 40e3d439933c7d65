import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import type { Timeouts } from "../../../src/adapters/cyclecloud/http-transport.ts";
import { createHttpTransport } from "../../../src/adapters/cyclecloud/http-transport.ts";
import type { TransportRequest } from "../../../src/adapters/cyclecloud/transport.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { serve } from "./local-server.ts";
import type { Behaviour } from "./local-server.ts";
import {
  answerJson,
  change,
  closeAll,
  credentials,
  failureOf,
  open,
  read,
  start,
} from "./started-transport.ts";

afterEach(closeAll);

describe("timeouts", () => {
  const silent: Behaviour = () => undefined;
  const dripping: Behaviour = (outgoing) => {
    outgoing.write("[");
    const timer = setInterval(() => outgoing.write("1,"), 20);
    outgoing.on("close", () => clearInterval(timer));
  };

  /** Sends with longer and longer limits, until the request reaches the server within its limit: a busy machine needs more than the first. */
  async function timeOut(
    behave: Behaviour,
    request: TransportRequest,
    timeouts: (limitMs: number) => Partial<Timeouts>,
  ) {
    for (let limitMs = 150; ; limitMs *= 3) {
      const { server, transport } = await start(behave, { timeouts: timeouts(limitMs) });
      const failure = await failureOf(transport.send(request));
      if (server.seen.length > 0 || limitMs > PATIENCE_MS)
        return { failure, limit: `${limitMs / 1000} s`, sent: server.seen.length };
    }
  }

  test.each([
    { name: "no headers", behave: silent },
    { name: "a body that drips without end", behave: dripping },
  ])("a read: $name", async ({ behave }) => {
    const { failure, limit, sent } = await timeOut(behave, read, (readMs) => ({
      readMs,
      changeMs: 3_600_000,
    }));
    expect(failure).toMatchObject({
      kind: "unreachable",
      message: `GET /clusters/a%20b/status: no full answer within ${limit}`,
    });
    expect(sent).toBe(1);
  });

  test("a change has its own", async () => {
    const { failure, limit } = await timeOut(silent, change, (changeMs) => ({ readMs: 3_600_000, changeMs }));
    expect(failure).toMatchObject({
      kind: "unreachable",
      message: `POST /clusters/a/nodes/create: no full answer within ${limit}`,
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
