import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Socket } from "node:net";
import { connect, createServer } from "node:net";
import { Worker } from "node:worker_threads";
import { z } from "zod";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { createHttpTransport } from "../../../src/adapters/cyclecloud/http-transport.ts";
import type { Credentials } from "../../../src/adapters/cyclecloud/http-transport.ts";
import { hasOpenssl, issueCertificate } from "../../support/certificate.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { serve } from "./local-server.ts";
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

type HttpTransport = ReturnType<typeof createHttpTransport>;

/** The clock is looked at in the turn in which a change is written to its connection (docs/protocol.md, Creates). */

const folder = mkdtempSync(join(tmpdir(), "cyclecloud-in-time-"));
const certificate = hasOpenssl() ? issueCertificate(folder, "own", "IP:127.0.0.1") : undefined;

afterEach(closeAll);
afterAll(() => rmSync(folder, { recursive: true }));

const TOO_LATE =
  "POST /clusters/a/nodes/create: not sent: its time was over before it could be written to a connection";

test("in time: it is written, and its clock was looked at once", async () => {
  let looks = 0;
  const { server, transport } = await start(answerJson({ ok: true }));
  const inTime = () => (looks += 1) > 0;
  expect(await transport.send({ ...change, inTime })).toMatchObject({ status: 200 });
  expect(looks).toBe(1);
  expect(server.seen).toHaveLength(1);
});

test("its time is over while a token is awaited: nothing is written, and that is certain", async () => {
  const token = Promise.withResolvers<Credentials>();
  let isInTime = true;
  const { server, transport } = await start(answerJson({}), { credentials: () => token.promise });
  const sending = failureOf(transport.send({ ...change, inTime: () => isInTime }));
  isInTime = false;
  token.resolve(await credentials());
  expect(await sending).toMatchObject({ kind: "unreachable", notSent: true, message: TOO_LATE });
  expect(server.seen).toEqual([]);
  // The connection is there, and serves the next change.
  expect(await transport.send(change)).toMatchObject({ status: 200 });
  expect(server.seen).toHaveLength(1);
});

test("nobody listens: certainly not sent", async () => {
  const { server, transport } = await start(answerJson({}));
  await server.close();
  expect(await failureOf(transport.send({ ...change, inTime: () => true }))).toMatchObject({
    kind: "unreachable",
    notSent: true,
  });
});

test("written, and the connection is cut without an answer: that it was sent is not excluded", async () => {
  const { transport } = await start((outgoing) => void outgoing.destroy());
  expect(await failureOf(transport.send(change))).toMatchObject({ kind: "unreachable", notSent: false });
});

test("its deadline passes while all connections are busy: certainly not sent, and not written afterwards", async () => {
  const timeouts = { readMs: 100, changeMs: 2000 };
  const { server, transport } = await start(() => undefined, { timeouts, retry: { retries: 0 } });
  const changes = Array.from({ length: 8 }, () => failureOf(transport.send(change)));
  const waiting = failureOf(transport.send(read));
  expect(await waiting).toMatchObject({ kind: "unreachable", notSent: true });
  await Promise.all(changes);
  expect(server.seen.filter(({ method }) => method === "GET")).toEqual([]);
});

describe.skipIf(certificate === undefined)("a connection that takes seconds to come up", () => {
  /** Accepts connections to a server, and passes nothing on until they are released. */
  async function startGate(target: string) {
    const held: Socket[] = [];
    const gate = createServer((socket) => void held.push(socket));
    await new Promise<void>((resolve) => gate.listen(0, "127.0.0.1", resolve));
    const port = z.object({ port: z.number() }).parse(gate.address()).port;
    open.push({ close: () => new Promise((resolve) => gate.close(() => resolve())) });
    const release = () => {
      for (const socket of held) {
        const onward = connect(Number(new URL(target).port), "127.0.0.1");
        socket.on("error", () => onward.destroy()).on("close", () => onward.destroy());
        onward.on("error", () => socket.destroy()).on("close", () => socket.destroy());
        socket.pipe(onward).pipe(socket);
      }
    };
    return { url: `https://127.0.0.1:${port}`, held, release };
  }

  test.each([
    { name: "its time is over by then: nothing is written", isInTime: false, seen: 0 },
    { name: "its time is not over: it is written", isInTime: true, seen: 1 },
  ])("$name", async ({ isInTime, seen }) => {
    const server = await serve(answerJson({}), certificate);
    const gate = await startGate(server.url);
    const transport = createHttpTransport({
      baseUrl: gate.url,
      credentials,
      ca: certificate?.cert ?? "",
      timeouts: { connectMs: PATIENCE_MS, changeMs: PATIENCE_MS },
    });
    open.push(transport, server);
    let looked = true;
    const sending = transport.send({ ...change, inTime: () => looked }).catch((error: unknown) => error);
    await expect.poll(() => gate.held.length, { timeout: PATIENCE_MS }).toBe(1);
    looked = isInTime;
    gate.release();
    expect(await sending).toMatchObject(isInTime ? { status: 200 } : { notSent: true, message: TOO_LATE });
    expect(server.seen).toHaveLength(seen);
  });
});

/**
 * A server in a thread of its own. It counts the requests that it has read in shared memory, so that a thread that stands still can wait for
 * them.
 */
const SERVER = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { createServer } = require(workerData.tls === undefined ? "node:http" : "node:https");
  const got = new Int32Array(workerData.got);
  const server = createServer(workerData.tls ?? {}, (incoming, outgoing) => {
    incoming.resume().on("end", () => {
      Atomics.add(got, 0, 1);
      Atomics.notify(got, 0);
      outgoing.end("{}");
    });
  });
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

describe("in the same turn", () => {
  async function standsStillAfterLook(
    transport: HttpTransport,
    got: Int32Array,
  ): Promise<string | undefined> {
    let waited: string | undefined;
    const before = Atomics.load(got, 0);
    const inTime = () => {
      // The next piece of work of this thread, whatever it may be, comes only when the server has the request.
      queueMicrotask(() => (waited = Atomics.wait(got, 0, before, PATIENCE_MS)));
      return true;
    };
    await transport.send({ ...change, inTime });
    return waited;
  }

  test.each([
    { scheme: "http", tls: undefined },
    ...(certificate === undefined ? [] : [{ scheme: "https", tls: certificate }]),
  ])("over $scheme: a host that stands still after the look has written it", async ({ scheme, tls }) => {
    const got = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(SERVER, { eval: true, workerData: { got: got.buffer, tls } });
    open.push({ close: async () => void (await worker.terminate()) });
    const port = await new Promise<unknown>((resolve) => worker.once("message", resolve));
    const transport = createHttpTransport({
      baseUrl: `${scheme}://127.0.0.1:${String(port)}`,
      credentials,
      ...(tls === undefined ? {} : { ca: tls.cert }),
    });
    open.push(transport);
    // On a new connection, and on one that is there.
    expect(["ok", "not-equal"]).toContain(await standsStillAfterLook(transport, got));
    expect(["ok", "not-equal"]).toContain(await standsStillAfterLook(transport, got));
  });
});
