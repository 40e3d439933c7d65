import http from "node:http";
import { once } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { HttpServer } from "../../../src/local/host/http-server.ts";
import { listen } from "../../../src/local/host/http-server.ts";
import { HeldClock } from "../../support/held-clock.ts";
import { PATIENCE_MS } from "../../support/patience.ts";

/* How the local host takes in bodies (docs/protocol.md, Memory). A body without a length takes as much room as the largest: 34 of 100 MiB. */

let server: HttpServer;
let clock: HeldClock;
beforeEach(async () => {
  clock = new HeldClock();
  const answer = async (request: Request) => new Response(await request.text());
  server = await listen(
    answer,
    0,
    () => undefined,
    () => Number.POSITIVE_INFINITY,
    clock,
  );
});
afterEach(() => server.close());

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

async function answerTo(
  sent: Sent,
): Promise<{ readonly status: number | undefined; readonly retryAfter: string | undefined }> {
  const { statusCode, headers } = await sent.answered;
  return { status: statusCode, retryAfter: headers["retry-after"] };
}

const sleeps = (milliseconds: number): number =>
  clock.sleeping.filter((one) => one.milliseconds === milliseconds).length;
const wait = (holds: () => boolean) => vi.waitUntil(holds, { timeout: PATIENCE_MS });
const ARRIVING = 20_000;
const WAITING = 10_000;

test("a body that does not arrive in 20 s is refused, and its connection ends", async () => {
  const slow = begin();
  await wait(() => sleeps(ARRIVING) === 1);
  clock.end(ARRIVING);
  expect((await answerTo(slow)).status).toBe(408);
  await wait(() => slow.request.destroyed || slow.request.closed);
});

test("slow large bodies keep another large one out for 10 s at most, and small ones not at all", async () => {
  const slow = [begin(), begin()];
  await wait(() => sleeps(ARRIVING) === 2);
  const third = begin();
  await wait(() => sleeps(WAITING) === 1);
  const small = await fetch(server.url, { method: "PUT", body: "small" });
  expect(await small.text()).toBe("small");
  clock.end(WAITING);
  expect(await answerTo(third)).toEqual({ status: 503, retryAfter: "10" });
  for (const { request } of slow) request.destroy();
});

test("a body that is broken off leaves its room to one that waits", async () => {
  const [first, second] = [begin(), begin()];
  await wait(() => sleeps(ARRIVING) === 2);
  const third = begin();
  third.request.end();
  await wait(() => sleeps(WAITING) === 1);
  first.request.destroy();
  expect((await answerTo(third)).status).toBe(200);
  second.request.destroy();
});
