import { expect, test } from "vitest";
import type { Staged } from "../support/staged-server.ts";
import { stagedServer } from "../support/staged-server.ts";
import { runCommand } from "./run-command.ts";

/** set, update and push with --wait: what is said while it lasts, and how it ends. */

const ACCEPTED = {
  requestSet: "standard",
  revision: 50,
  changed: true,
  expiresAt: "2026-01-01T00:05:00.000Z",
};
const SET = { requestSet: "standard", state: "live", revision: 50, observed: true, rejectedJobs: [] };

const target = (asked: number, placed: number, pending: number, reasons: readonly string[] = []) => ({
  id: "nodearray:execute",
  kind: "target",
  unit: "nodes",
  asked,
  placed,
  pending,
  reasons,
});

const WORDS = ["set", "--name", "execute", "--instancecount", "4", "--wait", "-c", "prod", "--key", "k"];

/** The request set as it is each time that it is asked for; the last one from then on. */
async function waitThrough(sets: readonly Staged[], words: readonly string[] = [], message = ACCEPTED) {
  const { url } = await stagedServer((request, before) =>
    request.startsWith("PUT")
      ? { status: 202, body: message }
      : (sets[Math.min(before, sets.length - 1)] ?? { status: 500, body: {} }),
  );
  const { code, out, err } = await runCommand([...WORDS, "--url", url, ...words]);
  // The first line says that it was accepted.
  return { code, out, said: err.split("\n").slice(1) };
}

test("until all of it is there, with a line for each change", async () => {
  const ready = { expiresAt: "2026-01-01T00:05:00.000Z", expiresInSeconds: 300 };
  const soon = { ...ready, expectedReadyAt: "2026-01-01T00:03:00.000Z" };
  expect(
    await waitThrough([
      { body: { ...SET, observed: false, outcomes: [] } },
      { body: { ...SET, ...soon, outcomes: [target(4, 4, 4)] } },
      { body: { ...SET, ...soon, outcomes: [target(4, 4, 4)] } },
      { status: 503, body: { title: "Cannot tell now" } },
      { body: { ...SET, ...soon, expiresInSeconds: 140, outcomes: [target(4, 4, 2)] } },
      { body: { ...SET, ...soon, expiresInSeconds: 90, outcomes: [target(4, 4, 1)] } },
      { body: { ...SET, outcomes: [target(4, 4, 0)] } },
    ]),
  ).toEqual({
    code: 0,
    out: "met: 4 of 4 nodes ready",
    said: [
      "no plan has seen the demand yet",
      "0 of 4 nodes ready, 4 booting, about 3 min left",
      "503: the app cannot answer now",
      "2 of 4 nodes ready, 2 booting, about 20 s left",
      "3 of 4 nodes ready, 1 booting, longer than usual",
    ],
  });
});

test("unmet: the reasons, and 1", async () => {
  const short = target(4, 1, 1, ["node array execute: 1 of 1 nodes used", "another reason"]);
  expect(await waitThrough([{ body: { ...SET, outcomes: [short] } }])).toEqual({
    code: 1,
    out: "unmet: 0 of 4 nodes ready, 1 booting\n  nodearray:execute has 1 of 4 nodes: node array execute: 1 of 1 nodes used",
    said: [],
  });
});

test("the time limit: what there is, and 3", async () => {
  const waiting = { ...SET, outcomes: [target(4, 4, 4)] };
  expect(await waitThrough([{ body: waiting }], ["--timeout", "60"])).toEqual({
    code: 3,
    out: "",
    said: [
      "0 of 4 nodes ready, 4 booting",
      "not met within 60 s: 0 of 4 nodes ready, 4 booting; the demand remains",
    ],
  });
});

test.each([
  {
    name: "a later message",
    set: { ...SET, revision: 51, outcomes: [] },
    out: "request set standard was replaced by a later message",
  },
  {
    name: "its end",
    set: { ...SET, state: "lapsed", outcomes: [] },
    out: "request set standard has expired",
  },
])("$name ends the wait with 1", async ({ set, out }) => {
  expect(await waitThrough([{ body: set }])).toEqual({ code: 1, out, said: [] });
});

test("a message that is not there yet is waited for; what is refused is not", async () => {
  const unknown = { type: "about:blank", title: "Unknown request set", status: 404, detail: "no such set" };
  const met = { ...SET, outcomes: [target(4, 4, 0)] };
  expect(await waitThrough([{ status: 404, body: unknown }, { body: met }])).toEqual({
    code: 0,
    out: "met: 4 of 4 nodes ready",
    said: ["the message has not been read yet"],
  });
  expect(await waitThrough([{ status: 401, body: {} }])).toMatchObject({ code: 1 });
});

test("a job that was left out is a no, though all else is there", async () => {
  const message = {
    ...ACCEPTED,
    rejectedJobs: [{ name: "bad", problems: [{ path: "jobs[0]", found: "1", expected: "an object" }] }],
  };
  const met = { ...SET, outcomes: [target(4, 4, 0)] };
  expect(await waitThrough([{ body: met }], [], message)).toMatchObject({
    code: 1,
    out: "met: 4 of 4 nodes ready",
  });
});

test("--json: the request set at its end alone is on standard output", async () => {
  const met = { ...SET, outcomes: [target(4, 4, 0)] };
  const { code, out, said } = await waitThrough([{ body: met }], ["--json"]);
  expect({ code, out: JSON.parse(out), said }).toEqual({
    code: 0,
    out: met,
    said: ["met: 4 of 4 nodes ready"],
  });
});

test("Ctrl-C ends the wait, and says that the demand remains", async () => {
  const { url } = await stagedServer((request) =>
    request.startsWith("PUT")
      ? { status: 202, body: ACCEPTED }
      : { body: { ...SET, outcomes: [target(4, 4, 4)] } },
  );
  const ended = await runCommand([...WORDS, "--url", url], {}, { sleep: () => Promise.resolve(false) });
  expect(ended.code).toBe(3);
  expect(ended.err).toMatch(/\nno longer waiting; the demand remains$/);
});

test("what keeps the app from acting is said at once", async () => {
  const { url } = await stagedServer((request) => {
    if (request.startsWith("PUT")) return { status: 202, body: ACCEPTED };
    if (request.endsWith("/clusters/prod"))
      return { body: { health: { ok: true, notes: ["switched off in the configuration"] } } };
    return { body: { ...SET, outcomes: [target(4, 4, 4)] } };
  });
  const ended = await runCommand([...WORDS, "--url", url, "--timeout", "10"]);
  expect(ended.err.split("\n").slice(1)).toEqual([
    "prod: switched off in the configuration",
    "0 of 4 nodes ready, 4 booting",
    "not met within 10 s: 0 of 4 nodes ready, 4 booting; the demand remains",
  ]);
});

test("only the queue is given: nobody can be asked", async () => {
  const words = [...WORDS.slice(0, -2), "--queue", "UseDevelopmentStorage=true"];
  expect(await runCommand(words)).toMatchObject({
    code: 2,
    err: expect.stringContaining("error: --wait needs the app: expected --url and --key"),
  });
});
