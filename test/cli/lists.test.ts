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
        countsFor: "licensed",
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

async function list(words: string, columns?: number, body: object = STATE): Promise<readonly string[]> {
  const { url } = await stagedServer(() => ({ body }));
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
    "gpu-1       licensed   F4    ready   2d4h   -         stays: not needed",
  ]);
});

test.each([
  { words: "nodes --nodearray gpu", names: ["gpu-1"] },
  { words: "nodes --nodearray licensed", names: ["gpu-1"] },
  { words: "nodes --phase coming", names: ["execute-3"] },
  { words: "nodes --unneeded", names: ["execute-10", "gpu-1"] },
  { words: "nodes --why IDLE", names: ["execute-10"] },
  { words: "nodes --sort name", names: ["execute-2", "execute-3", "execute-10", "gpu-1"] },
  { words: "nodes --sort age", names: ["gpu-1", "execute-10", "execute-3", "execute-2"] },
])("$words", async ({ words, names }) => {
  expect(first(await list(words))).toEqual(names);
});

test.each([
  { words: "nodes --phase coming --json", keys: ["execute-3"] },
  { words: "nodes --nodearray licensed --json", keys: ["gpu-1"] },
  { words: "jobs --unmet --json", keys: ["j10"] },
])("$words has only those, as the app tells them", async ({ words, keys }) => {
  const { nodes, outcomes } = JSON.parse((await list(words)).join("\n"));
  expect(
    (words.startsWith("nodes") ? nodes.list : outcomes).map(
      (one: { name?: string; id?: string }) => one.name ?? one.id,
    ),
  ).toEqual(keys);
  expect(nodes.count).toBe(4);
});

test("nodes --unneeded: lines that differ in name and age alone are one", async () => {
  const idle = (name: string, more: object = {}) =>
    node(name, { verdict: "busyness-unknown", why: "stays: not needed", ...more });
  const many = Array.from({ length: 194 }, (_, at) => idle(`e-${at}`, { hostname: `ip-${at}` }));
  const old = idle("e-old", { firstSeenAt: "2026-01-01T07:00:00.000Z" });
  const state = { ...STATE, nodes: { count: 196, list: [...many, old, idle("f", { machineType: "F8" })] } };
  expect(await list("nodes --unneeded", undefined, state)).toEqual([
    "NODE              NODEARRAY  SIZE  PHASE  AGE    WHY",
    "195 x execute/F4  execute    F4    ready  3h00m  stays: not needed",
    "f                 execute    F8    ready  2h00m  stays: not needed",
  ]);
  expect(await list("nodes", undefined, state)).toHaveLength(197);
  const { nodes } = JSON.parse((await list("nodes --unneeded --json", undefined, state)).join("\n"));
  expect(nodes.list).toHaveLength(196);
});

test("jobs that wait for nodes, and jobs that have no place", async () => {
  const [head, ...lines] = await list("jobs");
  expect(head).toMatch(/PLACED +BOOTING +UNPLACED/);
  expect(lines.map((line) => line.split(/ +/).slice(3, 7))).toEqual([
    ["9", "2", "0", "7"],
    ["10", "10", "4", "0"],
    ["1", "1", "0", "0"],
  ]);
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

test("hosts that only a scheduler knows, with what is left of each", async () => {
  const free = { hostname: "login-1", requestSets: ["pbs"], resources: { ncpus: 8, mem: "memory::8g" } };
  const hosts = [
    { ...free, available: { ncpus: 6 }, jobs: ["7"], moreJobs: 1, why: "takes jobs of pbs" },
    { hostname: "old-2", requestSets: ["pbs"], resources: { ncpus: 4 }, why: "no capacity: closed" },
  ];
  expect(await list("hosts", undefined, { ...STATE, schedulerHosts: { list: hosts } })).toEqual([
    "HOST     SETS  RESOURCES                AVAILABLE  JOBS  WHY",
    "login-1  pbs   ncpus 8, mem memory::8g  ncpus 6       2  takes jobs of pbs",
    "old-2    pbs   ncpus 4                  -             0  no capacity: closed",
  ]);
  expect(await list("hosts")).toEqual(["no hosts beside the nodes"]);
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
