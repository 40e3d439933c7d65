import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { serve } from "./local-server.ts";
import { answerJson, change, closeAll, failureOf, open, password, read, start } from "./started-transport.ts";
import type { createHttpTransport } from "../../../src/adapters/cyclecloud/http-transport.ts";

type HttpTransportOptions = Parameters<typeof createHttpTransport>[0];

afterEach(closeAll);

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
