import http from "node:http";
import { once } from "node:events";
import { afterEach, expect, test, vi } from "vitest";
import { listen } from "../../../src/local/host/http-server.ts";
import { PATIENCE_MS } from "../../support/patience.ts";

type HttpServer = Awaited<ReturnType<typeof listen>>;

/* How the local host takes in bodies (docs/protocol.md, Memory). A body without a length takes as much room as the largest: 34 of 100 MiB. */

let server: HttpServer;
afterEach(() => server.close());

async function open(arrivesWithin?: number): Promise<void> {
  const answer = async (request: Request) => new Response(await request.text());
  const unbounded = () => Number.POSITIVE_INFINITY;
  server = await listen(answer, 0, () => undefined, unbounded, arrivesWithin);
}

interface Sent {
  readonly request: http.ClientRequest;
  readonly answered: Promise<http.IncomingMessage>;
}

/** A body in pieces of which the first is sent. `end` sends the rest. */
function begin(): Sent {
  const request = http.request(server.url, { method: "PUT", agent: false });
  // The test itself breaks it off.
  request.on("error", () => undefined);
  request.write("begun");
  const answered = once(request, "response").then(([response]) => response);
  answered.catch(() => undefined);
  return { request, answered };
}

/** Sends a whole body in pieces. Resolves to its status. */
async function send(): Promise<number | undefined> {
  const { request, answered } = begin();
  request.end();
  return (await answered).statusCode;
}

const patiently = { timeout: PATIENCE_MS, interval: 20 };

test("a body that does not arrive in time is refused, and its connection ends", async () => {
  await open(50);
  const slow = begin();
  expect((await slow.answered).statusCode).toBe(408);
  await vi.waitUntil(() => slow.request.closed, patiently);
});

test("slow large bodies keep other large ones out, and no small one; what is broken off leaves its room", async () => {
  await open();
  const slow = [begin(), begin()];
  await vi.waitUntil(async () => (await send()) === 503, patiently);
  const refused = begin();
  expect((await refused.answered).headers["retry-after"]).toBe("10");
  const small = await fetch(server.url, { method: "PUT", body: "small" });
  expect(await small.text()).toBe("small");

  for (const { request } of slow) request.destroy();
  await vi.waitUntil(async () => (await send()) === 200, patiently);
});
