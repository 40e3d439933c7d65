import { spawn } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { validatorOf } from "../support/check-answer.ts";
import { ROOT } from "../support/run-main.ts";
import type { Staged } from "../support/staged-server.ts";
import { stagedServer } from "../support/staged-server.ts";
import { runCommand } from "./run-command.ts";

/** `top`: the view Now of the page in a terminal. */

const FIRST = { requestSet: "pbs", id: "102" };
const HPC = {
  name: "hpc",
  managed: true,
  mode: "act",
  spot: false,
  count: 3,
  nodes: { ready: 2, coming: 1 },
  inFlight: 1,
  notNeeded: 1,
  idleTimeout: 300,
  bootTimeout: 1800,
  limit: { count: 8 },
  target: { nodes: 0, cores: 0 },
  askedBy: [],
  targets: [],
  neededBy: [],
  buckets: [],
};
const STATE = {
  cluster: "prod",
  now: "2026-11-29T12:00:00.000Z",
  generation: 3,
  observedGeneration: 3,
  health: { ok: true, notes: [], warnings: [], lastLookAgeSeconds: 30 },
  demand: [],
  demandCounts: { live: 1, empty: 0, lapsed: 0 },
  groups: [],
  totals: { created: 3, terminated: 0 },
  outcomes: [],
  waiting: {
    unmet: 1,
    onTheirWay: 0,
    missing: [{ unit: "slots", amount: 2 }],
    reasons: [{ text: "family quota standardHBv3Family: 0 left", demands: 1, first: FIRST }],
    remedies: [{ text: "88 cores more of standardHBv3Family", demands: 1, first: FIRST }],
  },
  plan: {
    number: 3,
    at: "2026-11-29T11:59:50.000Z",
    mode: "act",
    demands: 3,
    creates: [],
    starts: [],
    terminates: [],
    waitingForNodes: 0,
    unmet: [],
    unmetCount: 1,
  },
  nodes: { count: 3, byPhase: { ready: 2, coming: 1 }, byVerdict: { needed: 3 }, list: [] },
  stopKeys: [],
  schedulerHosts: { count: 0, capacity: 0, list: [] },
  buckets: [],
  choice: { preference: "existing-first", among: "priority" },
  nodearrays: [HPC],
  inFlight: [],
  intents: [],
  backoffs: [],
  rejections: [],
  troubles: [],
};
const ROW = { pricePerHour: 7.2, idlePricePerHour: 3.6, currency: "USD" };

/** An app in this state. */
const app = (state: unknown = STATE, history: Staged = { body: { cluster: "prod", rows: [ROW] } }) =>
  stagedServer((request) => {
    if (request.includes("/comparison"))
      return { body: { cluster: "prod", observing: [{ nodearray: "hpc", virtualNodes: 5 }], days: [] } };
    return request.includes("/history") ? history : { body: state };
  });
const WORDS = ["top", "-c", "prod", "--key", "k", "--url"];

const PICTURE = `1 of 3 demands cannot be had in full, 2 slots missing: family quota standardHBv3Family: 0 left.

Demands: 3                      Short of something: 1           Nodes ready: 2
On the way: 1                   Leaving: 0                      Cost an hour: 7.20 USD
Of that idle: 3.60 USD          Mode: act                       Observed: 30 s ago

NODE ARRAY  MODE  READY  NOT NEEDED  ON THE WAY  LEAVING  OTHER  CAP
hpc         act       2           1           2        0      0    8

Why demand waits
- family quota standardHBv3Family: 0 left (pbs/102)

What would help
- 88 cores more of standardHBv3Family (pbs/102)`;

test("the state of these tests is one that the app would send", () => {
  const isRight = validatorOf("Cluster", "open");
  expect([isRight(STATE), isRight.errors]).toEqual([true, null]);
});

test("where the output is no terminal, it is printed once", async () => {
  const { url, seen } = await app();
  expect(await runCommand([...WORDS, url])).toEqual({ code: 0, out: PICTURE, err: "" });
  expect(seen.toSorted()).toEqual(["GET /api/clusters/prod", "GET /api/clusters/prod/history?limit=1"]);
});

test("on a terminal it is refreshed in place until the user ends it, with q too", async () => {
  const { url } = await app();
  const slept: unknown[] = [];
  const sleep = (milliseconds: number, endKey?: string) => {
    slept.push([milliseconds, endKey]);
    return Promise.resolve(slept.length < 2);
  };
  const { code, out } = await runCommand([...WORDS, url, "--interval", "9"], {}, { sleep, columns: 100 });
  const picture = `\u001B[H\u001B[J\n${PICTURE}\n\nas of 2026-11-29 12:00:00 UTC, every 9 s; q ends`;
  expect([code, out]).toEqual([0, `${picture}\n${picture}`]);
  expect(slept).toEqual([
    [9000, "q"],
    [9000, "q"],
  ]);
});

test("no line is longer than the terminal, and there are no more than it has room for", async () => {
  const { url } = await app();
  const sleep = () => Promise.resolve(false);
  const { out } = await runCommand([...WORDS, url], {}, { sleep, columns: 40, rows: 12 });
  const lines = out.split("\n").slice(1);
  expect(lines.filter((line) => line.length > 40)).toEqual([]);
  expect(lines).toHaveLength(11);
  expect(lines.slice(0, 4)).toEqual([
    "1 of 3 demands cannot be had in full, 2",
    "slots missing: family quota",
    "standardHBv3Family: 0 left.",
    "",
  ]);
  expect(lines.slice(-3)).toEqual([
    expect.stringMatching(/^and \d+ more lines$/),
    "",
    "as of 2026-11-29 12:00:00 UTC, every 5 …",
  ]);
});

test("texts of others do not act on the terminal, and begin no line", async () => {
  const text = "a\u001B[2Jb\nc\u202Ed";
  const reasons = [{ text, demands: 1, first: FIRST }];
  const nodearrays = [{ ...HPC, name: text }];
  const troubles = [{ kind: "health", text, count: 1 }];
  const { url } = await app({ ...STATE, nodearrays, troubles, waiting: { ...STATE.waiting, reasons } });
  const { out } = await runCommand([...WORDS, url]);
  expect(out.match(/a\\u\{1b\}\[2Jb\\u\{a\}c\\u\{202e\}d/g)).toHaveLength(4);
  expect(out).not.toContain("\u001B");
  expect(out).not.toContain("\u202E");
});

test("in mode observe it says what there would be", async () => {
  const { url } = await app({ ...STATE, observing: "observing only" });
  expect((await runCommand([...WORDS, url])).out).toContain(
    "Observed only\n- The autoscaler would have now: hpc: 5 nodes.",
  );
});

test("without prices, and with a cluster that is not well", async () => {
  const health = { ...STATE.health, ok: false, notes: ["CycleCloud cannot be reached"] };
  const { url } = await app({ ...STATE, health }, { body: { cluster: "prod", rows: [] } });
  const { code, out } = await runCommand([...WORDS, url]);
  expect(code).toBe(1);
  expect(out).toMatch(/^prod is not well: CycleCloud cannot be reached\./);
  expect(out).toContain("Cost an hour: no prices");
});

test.each([
  { name: "the app refuses", state: STATE, history: { status: 401, body: "" }, code: 1, err: "401 " },
  { name: "it cannot tell now", state: STATE, history: { status: 503, body: {} }, code: 3, err: "503 " },
  { name: "an answer of another kind", state: { cluster: "prod" }, code: 1, err: "cannot be read" },
])("no picture: $name", async ({ state, history, code, err }) => {
  const { url } = await app(state, history);
  const ended = await runCommand([...WORDS, url]);
  expect([ended.code, ended.out]).toEqual([code, ""]);
  expect(ended.err).toContain(err);
});

/** Runs a command on a terminal of its own, and types these keys once it has drawn twice. */
const ON_TERMINAL = `
import os, pty, sys
keys, words = sys.argv[1], sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.execv(words[0], words)
drawn = b""
typed = False
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:
        break
    if not part:
        break
    drawn += part
    if not typed and drawn.count(b"\\x1b[H\\x1b[J") >= 2:
        typed = True
        os.write(terminal, keys.encode())
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
`;

test.each([
  { name: "q", keys: "q" },
  { name: "Ctrl-C", keys: "\u0003" },
])("$name ends the process with 0", async ({ keys }) => {
  const { url } = await app();
  const words = ["-c", ON_TERMINAL, keys, process.execPath, "src/cli/main.ts", ...WORDS, url];
  const child = spawn("python3", [...words, "--interval", "0.2"], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill());
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  await new Promise((resolve) => child.once("close", resolve));
  expect(out).toBe("0\n");
});
