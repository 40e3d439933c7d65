import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { ROOT } from "../support/run-main.ts";
import { stagedServer } from "../support/staged-server.ts";
import { runCommand } from "./run-command.ts";

/** status --watch. */

const STATE = {
  cluster: "prod",
  health: { ok: true, notes: [] },
  nodes: { count: 1, byPhase: { coming: 1 }, list: [] },
};
const WORDS = ["status", "-c", "prod", "--key", "k"];

/** Notes each sleep, and sends Ctrl-C after this many. */
function sleepTimes(count: number) {
  const slept: number[] = [];
  const sleep = (milliseconds: number) => {
    slept.push(milliseconds);
    return Promise.resolve(slept.length < count);
  };
  return { slept, sleep };
}

test("shows the status again and again; Ctrl-C is a good end", async () => {
  const { url } = await stagedServer((_request, before) => ({
    body: { ...STATE, nodes: { ...STATE.nodes, byPhase: { [before === 0 ? "coming" : "ready"]: 1 } } },
  }));
  const { slept, sleep } = sleepTimes(2);
  const { code, out } = await runCommand([...WORDS, "--url", url, "--watch"], {}, { sleep });
  expect(code).toBe(0);
  expect(out.match(/^nodes .*$/gm)).toEqual(["nodes      1 coming", "nodes      1 ready"]);
  expect(slept).toEqual([5000, 5000]);
  // No terminal: nothing that moves a cursor.
  expect(out).not.toContain("\u001B");
});

test("on a terminal each picture replaces the one before; an app that does not answer for a moment does not end it", async () => {
  const { url } = await stagedServer((_request, before) =>
    before === 1 ? { status: 503, body: {} } : { body: STATE },
  );
  const { slept, sleep } = sleepTimes(3);
  const said = await runCommand([...WORDS, "--url", url, "--watch", "2"], {}, { sleep, columns: 80 });
  expect(said.out.split("\u001B[H\u001B[J")).toHaveLength(3);
  expect(said.err).toBe("503 unexpected answer");
  expect(slept).toEqual([2000, 2000, 2000]);
});

test("a refusal ends it", async () => {
  const { url } = await stagedServer(() => ({ status: 401, body: "" }));
  expect(await runCommand([...WORDS, "--url", url, "--watch"])).toMatchObject({ code: 1 });
});

test("a time that is none", async () => {
  expect((await runCommand([...WORDS, "--url", "http://127.0.0.1:2", "--watch", "0"])).code).toBe(2);
});

test("Ctrl-C ends the process itself with 0", async () => {
  const { url } = await stagedServer(() => ({ body: STATE }));
  const words = ["src/cli/main.ts", ...WORDS, "--url", url, "--watch", "0.2"];
  const child = spawn(process.execPath, words, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  let shown = 0;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text.split("demands").length - 1;
    // It sleeps, or asks: both end well.
    if (shown === 2) child.kill("SIGINT");
  });
  const ended = await new Promise((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  expect(ended).toEqual({ code: 0, signal: null });
});
