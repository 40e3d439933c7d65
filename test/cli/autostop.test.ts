import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { alone } from "../../src/cli/alone.ts";
import { stagedServer } from "../support/staged-server.ts";
import { runCommand } from "./run-command.ts";

type Staged = { readonly status: number; readonly body?: unknown };

/** A node that asks again and again: each run at the second that is given, with the answer that is given. */
async function askSeries(runs: readonly (Staged & { readonly at: number })[], words: readonly string[] = []) {
  let answer: Staged = { status: 500 };
  const { url, seen } = await stagedServer(() => ({ status: answer.status, body: answer.body ?? {} }));
  const codes: number[] = [];
  for (const { at, ...next } of runs) {
    answer = next;
    const command = ["autostop", "--callback", url, "--instance", "vm", ...words];
    codes.push((await runCommand(command, {}, { now: () => 1_000_000 + at * 1000 })).code);
  }
  return { codes, questions: seen.map((request) => request.slice(request.indexOf("?"))) };
}

const UNSURE = { status: 503, body: { undrain: false } };

test("a node without a verdict: it asks for a stop for a minute, then only what has become of it, and opens 180 s after the last", async () => {
  const { codes, questions } = await askSeries([
    { at: 0, ...UNSURE },
    { at: 30, ...UNSURE },
    { at: 60, ...UNSURE },
    { at: 209, ...UNSURE },
    { at: 210, ...UNSURE },
    { at: 240, ...UNSURE },
  ]);
  expect(codes).toEqual([3, 3, 3, 3, 1, 3]);
  expect(questions).toEqual([
    "?instance=vm&asked=1000000",
    "?instance=vm&asked=1030000",
    "?instance=vm&asked=1060000&begin=no",
    "?instance=vm&asked=1209000&begin=no",
    "?instance=vm&asked=1240000",
  ]);
});

test.each([
  { name: "409 and undrain true", answer: { status: 409, body: { undrain: true } }, code: 1 },
  { name: "409 of an older release", answer: { status: 409 }, code: 1 },
  { name: "409 and undrain false", answer: { status: 409, body: { undrain: false } }, code: 3 },
  { name: "503 and undrain true", answer: { status: 503, body: { undrain: true } }, code: 1 },
  { name: "404 and undrain true", answer: { status: 404, body: { undrain: true } }, code: 1 },
  { name: "404 of something else", answer: { status: 404 }, code: 3 },
  { name: "403 of something else", answer: { status: 403 }, code: 3 },
  { name: "200", answer: { status: 200, body: { stop: true } }, code: 0 },
])("after a question without a verdict, $name: $code", async ({ answer, code }) => {
  const { codes } = await askSeries([
    { at: 0, ...UNSURE },
    { at: 30, ...answer },
  ]);
  expect(codes).toEqual([3, code]);
});

test("after an answer that named a stop under way, no other but a verdict opens the node for 20 minutes", async () => {
  const { codes } = await askSeries([
    { at: 0, status: 503, body: { undrain: false, stopUnderWay: true } },
    { at: 30, ...UNSURE },
    { at: 600, status: 502 },
    { at: 1229, ...UNSURE },
    { at: 1230, ...UNSURE },
  ]);
  expect(codes).toEqual([3, 3, 3, 3, 1]);
});

test("a node that is being stopped stays closed however long nobody answers, and may ask for a stop again", async () => {
  const { codes, questions } = await askSeries([
    { at: 0, status: 200, body: { stop: true } },
    { at: 600, status: 404 },
    { at: 660, status: 409, body: { undrain: true } },
  ]);
  expect(codes).toEqual([0, 3, 1]);
  expect(questions[1]).toBe("?instance=vm&asked=1600000");
});

test("a node that asked as unhealthy never opens by itself, and each of its questions may begin its stop", async () => {
  const { codes, questions } = await askSeries(
    [
      { at: 0, ...UNSURE },
      { at: 600, ...UNSURE },
    ],
    ["--unhealthy"],
  );
  expect(codes).toEqual([3, 3]);
  expect(questions).toEqual([
    "?instance=vm&reason=unhealthy&asked=1000000",
    "?instance=vm&reason=unhealthy&asked=1600000",
  ]);
});

test("the text is kept in the home directory under a name that shows nothing, and one run keeps out another", async () => {
  const home = mkdtempSync(join(tmpdir(), "home-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  vi.stubEnv("HOME", home);
  vi.stubEnv("USERPROFILE", home);
  onTestFinished(() => void vi.unstubAllEnvs());
  const name = "autostop https://app.invalid/token-secret vm";
  const first = await alone(name, async (kept, keep) => {
    await keep("one");
    return [kept, await alone(name, async () => "another run")];
  });
  expect(first).toEqual([undefined, "busy"]);
  expect(await alone(name, async (kept) => kept)).toBe("one");
  const [file = ""] = readdirSync(join(home, ".cyclecloud-autoscaler"));
  expect(file).toMatch(/^[0-9a-f]{32}$/);
  // A run that died a minute ago has left its lock.
  const lock = join(home, ".cyclecloud-autoscaler", `${file}.lock`);
  writeFileSync(lock, "");
  expect(await alone(name, async (kept) => kept)).toBe("busy");
  const before = Date.now() / 1000 - 61;
  utimesSync(lock, before, before);
  expect(await alone(name, async (_kept, keep) => keep(undefined))).toBeUndefined();
  expect(readdirSync(join(home, ".cyclecloud-autoscaler"))).toEqual([]);
});
