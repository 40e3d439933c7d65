/** `npm run conformance` as one calls it, on vectors of our own. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SUITES } from "./suites.ts";

const main = fileURLToPath(new URL("main.ts", import.meta.url));

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "vectors-"));
  for (const name of ["size", "allocator"]) mkdirSync(join(folder, name));
});
afterEach(() => rmSync(folder, { recursive: true }));

function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: "utf8" });
  return { status, lines: stdout.trimEnd().split("\n"), stderr };
}

const comparison = (name: string, value: boolean) => ({
  name,
  input: { left: "1g", op: "lt", right: "2g" },
  expected: value,
});

const write = (file: string, content: unknown): void =>
  writeFileSync(join(folder, file), typeof content === "string" ? content : JSON.stringify(content));

test("what passes and what fails is counted, and what was answered is written", () => {
  write("size/compare.json", [comparison("right", true), comparison("wrong", false)]);
  const actual = join(folder, "actual");
  const { status, lines } = run("--actual", actual, folder);
  expect(lines).toEqual([
    "size/compare wrong failed:",
    "  (all): expected false, got true",
    "size/compare: 1 passed, 1 failed, 0 deviated",
    "1 passed, 1 failed, 0 deviated",
  ]);
  expect(status).toBe(1);
  const written: unknown[] = readFileSync(actual, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const compared = { folder: "size", file: "compare.json", result: true };
  expect(written).toEqual([
    { ...compared, name: "right", verdict: "passed" },
    { ...compared, name: "wrong", verdict: "failed" },
  ]);
});

test("a case that makes no sense fails, a file that is no list of cases is named, and the others are run", () => {
  write("allocator/packing.json", [{ name: "odd", input: { jobs: 7 }, expected: { jobs: [] } }]);
  write("size/compare.json", [comparison("right", true)]);
  write("size/parse.json", "{ no JSON");
  const { status, lines } = run(folder);
  expect(lines[0]).toBe("allocator/packing odd failed:");
  expect(lines.join("\n")).toContain(`size/parse: ${join(folder, "size/parse.json")} cannot be read: `);
  expect(lines.at(-1)).toBe("1 passed, 2 failed, 0 deviated");
  expect(status).toBe(1);
});

test.each([
  { args: ["nowhere/at/all"], problem: "nowhere/at/all: there is no such file or folder" },
  { args: ["--acutal", "x", "."], problem: "Unknown option '--acutal'" },
])("$args: exit code 2, with what is wrong and how it is called", ({ args, problem }) => {
  const { status, stderr } = run(...args);
  expect(stderr).toContain(problem);
  expect(stderr).toContain("usage: npm run conformance");
  expect(status).toBe(2);
});

/** All of them, in a few seconds of processor time. */
test("without a path the recorded cases are run, and none fails", { timeout: 180_000 }, () => {
  const { status, lines } = run();
  expect(lines.filter((line) => /failed:$|cannot be read|not run/.test(line))).toEqual([]);
  expect(
    lines.flatMap((line) => /^(\w+\/\w+): \d+ passed, 0 failed, \d+ deviated$/.exec(line)?.[1] ?? []),
  ).toEqual(SUITES.map(({ name }) => name).toSorted());
  expect(lines.at(-1)).toBe("661 passed, 0 failed, 297 deviated");
  expect(status).toBe(0);
});

test("--help tells how it is called", () => {
  const { status, lines } = run("--help");
  expect(lines[0]).toContain("usage: npm run conformance");
  expect(status).toBe(0);
});
