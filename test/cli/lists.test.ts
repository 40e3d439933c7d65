import { expect, test } from "vitest";
import { stagedServer } from "../support/staged-server.ts";
import { runCommand } from "./run-command.ts";

/** nodes and jobs: chosen, sorted, with ages, and no wider than the terminal. */

const node = (name: string, more: object = {}) => ({
  name,
  array: "execute",
  machineType: "F4",
  phase: "ready",
  firstSeenAt: "2026-01-01T08:00:00.000Z",
  verdict: "needed",
  why: "needed by standard/a",
  ...more,
});

const STATE = {
  cluster: "prod",
  now: "2026-01-01T10:00:00.000Z",
  health: { ok: true, notes: [] },
  plan: { demands: 3 },
  nodes: {
    count: 4,
    byPhase: {},
    list: [
      node("execute-10", { verdict: "idle", why: "stays for now: idle for 10 of 300 s" }),
      node("execute-2", { firstSeenAt: "2026-01-01T09:59:15.000Z" }),
      node("execute-3", {
        phase: "coming",
        firstSeenAt: "2026-01-01T09:58:00.000Z",
        expectedReadyAt: "2026-01-01T10:03:30.000Z",
      }),
      node("gpu-1", {
        array: "gpu",
        firstSeenAt: "2025-12-30T06:00:00.000Z",
        verdict: "busyness-unknown",
        why: "stays: not needed",
      }),
    ],
  },
  outcomes: [
    {
      requestSet: "pbs",
      id: "j10",
      kind: "job",
      user: "ann",
      unit: "slots",
      asked: 9,
      placed: 2,
      pending: 0,
      why: "no quota",
    },
    {
      requestSet: "pbs",
      id: "j2",
      kind: "job",
      user: "bob",
      unit: "slots",
      asked: 10,
      placed: 10,
      pending: 4,
    },
    { requestSet: "slurm", id: "j3", kind: "job", unit: "slots", asked: 1, placed: 1, pending: 0 },
  ],
};

async function list(words: string, columns?: number): Promise<readonly string[]> {
  const { url } = await stagedServer(() => ({ body: STATE }));
  const { code, out } = await runCommand(
    [...words.split(" "), "--url", url, "--key", "k", "-c", "prod"],
    {},
    { columns },
  );
  expect(code).toBe(0);
  return out.split("\n");
}

const first = (lines: readonly string[]) => lines.slice(1).map((line) => line.split(/ +/)[0]);

test("nodes have ages, and those that are coming an expected time", async () => {
  expect(await list("nodes")).toEqual([
    "NODE        NODEARRAY  SIZE  PHASE   AGE    READY IN  WHY",
    "execute-10  execute    F4    ready   2h00m  -         stays for now: idle for 10 of 300 s",
    "execute-2   execute    F4    ready   45s    -         needed by standard/a",
    "execute-3   execute    F4    coming  2m     3m        needed by standard/a",
    "gpu-1       gpu        F4    ready   2d4h   -         stays: not needed",
  ]);
});

test.each([
  { words: "nodes --nodearray gpu", names: ["gpu-1"] },
  { words: "nodes --phase coming", names: ["execute-3"] },
  { words: "nodes --unneeded", names: ["execute-10", "gpu-1"] },
  { words: "nodes --why IDLE", names: ["execute-10"] },
  { words: "nodes --sort name", names: ["execute-2", "execute-3", "execute-10", "gpu-1"] },
  { words: "nodes --sort age", names: ["gpu-1", "execute-10", "execute-3", "execute-2"] },
])("$words", async ({ words, names }) => {
  expect(first(await list(words))).toEqual(names);
});

test("nothing chosen is not nothing there", async () => {
  expect(await list("nodes --phase failed")).toEqual(["no such nodes"]);
  expect(await list("jobs --user eve")).toEqual(["no such jobs"]);
});

test.each([
  { words: "jobs -s slurm", names: ["j3"] },
  { words: "jobs --unmet", names: ["j10"] },
  { words: "jobs --user bob", names: ["j2"] },
  { words: "jobs --sort name", names: ["j2", "j3", "j10"] },
  { words: "jobs --sort asked", names: ["j2", "j10", "j3"] },
])("$words", async ({ words, names }) => {
  const lines = await list(words);
  expect(lines.slice(1).map((line) => line.split(/ +/)[1])).toEqual(names);
});

test("no line is longer than the terminal", async () => {
  const lines = await list("nodes --nodearray execute", 60);
  expect(lines[1]).toBe("execute-10  execute    F4    ready   2h00m  -         stays…");
  expect(Math.max(...lines.map(({ length }) => length))).toBe(60);
});

test("a column that cannot be sorted by", async () => {
  const ended = await runCommand([
    "nodes",
    "--sort",
    "host",
    "--url",
    "http://127.0.0.1:2",
    "--key",
    "k",
    "-c",
    "prod",
  ]);
  expect(ended).toMatchObject({
    code: 2,
    err: expect.stringContaining("Allowed choices are name, nodearray, size, phase, age"),
  });
});
