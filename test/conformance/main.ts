import { appendFileSync, existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Json } from "./compare.ts";
import { isObject } from "./compare.ts";
import type { Suite, Verdict } from "./suites.ts";
import { judgeCase, readCases, SUITES } from "./suites.ts";
import type { Surroundings } from "./vector-case.ts";

/**
 * npm run conformance -- [--actual FILE] PATH...
 * Runs the conformance vectors in the given folders or files; exits with 1 if a case failed. --actual writes our answers, one a line.
 */
const { values, positionals } = parseArgs({
  options: { actual: { type: "string" } },
  allowPositionals: true,
});
if (positionals.length === 0) {
  console.error("usage: npm run conformance -- [--actual FILE] PATH...");
  process.exit(2);
}
if (values.actual !== undefined) writeFileSync(values.actual, "");
const MOST_SHOWN = 3;
const total = emptyCount();
const defects = new Map<number, number>();
const files = positionals.flatMap((path) => findFiles(resolve(path)));
for (const file of files) {
  const suite = suiteOf(file);
  if (suite === undefined) console.log(`${nameOf(file)}: not run, its folder is not known here yet`);
  else runFile(file, suite);
}
for (const [defect, cases] of [...defects].sort(([a], [b]) => a - b))
  console.log(`deviation ${defect}: ${cases} ${cases === 1 ? "case" : "cases"}`);
console.log(countText(total));
if (total.failed > 0 || total.passed + total.deviated === 0) process.exitCode = 1;

function emptyCount(): Record<Verdict["kind"], number> {
  return { passed: 0, failed: 0, deviated: 0 };
}

function countText(count: Readonly<Record<Verdict["kind"], number>>): string {
  return `${count.passed} passed, ${count.failed} failed, ${count.deviated} deviated`;
}

function nameOf(file: string): string {
  return `${basename(dirname(file))}/${basename(file, ".json")}`;
}

function suiteOf(file: string): Suite | undefined {
  return SUITES.find(({ name }) => name === nameOf(file));
}

/** The files of cases below a path, in order. What stands beside them (worlds, the VM sizes) is no case. */
function findFiles(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const inside = join(path, entry.name);
      if (entry.isDirectory()) return findFiles(inside);
      return /^(?!world|vm_sizes).*\.json$/.test(entry.name) ? [inside] : [];
    });
}

function runFile(file: string, suite: Suite): void {
  const count = emptyCount();
  const sizes = findSizes(dirname(file));
  for (const one of readCases(readJson(file))) {
    const world = worldOf(file, one.input["world"]);
    const surroundings: Surroundings = world === undefined ? { vmSizes: sizes } : { vmSizes: sizes, world };
    const verdict = judgeCase(suite, one, surroundings);
    count[verdict.kind] += 1;
    total[verdict.kind] += 1;
    for (const defect of verdict.defects) defects.set(defect, (defects.get(defect) ?? 0) + 1);
    if (verdict.kind === "failed") showFailure(suite, one.name, verdict);
    writeActual(file, one.name, verdict);
  }
  console.log(`${suite.name}: ${countText(count)}`);
}

function showFailure(suite: Suite, name: string, { differences }: Verdict): void {
  console.log(`${suite.name} ${name} failed:`);
  for (const { path, expected, actual } of differences.slice(0, MOST_SHOWN))
    console.log(`  ${path || "(all)"}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
}

function writeActual(file: string, name: string, verdict: Verdict): void {
  if (values.actual === undefined) return;
  const [folder, stem] = nameOf(file).split("/");
  const line = { folder, file: `${stem}.json`, name, result: verdict.actual, verdict: verdict.kind };
  appendFileSync(values.actual, `${JSON.stringify(line)}\n`);
}

function readJson(file: string): Json {
  const content: Json = JSON.parse(readFileSync(file, "utf8"));
  return content;
}

function worldOf(file: string, name: Json | undefined): Readonly<Record<string, Json>> | undefined {
  if (typeof name !== "string") return undefined;
  const world = readJson(join(dirname(file), name));
  return isObject(world) ? world : undefined;
}

/** The catalogue with which the vectors were made stands above their folders; without one, sizes are unknown. */
function findSizes(folder: string): Json {
  const shared = new URL("../../../shared/vectors/vm_sizes.json", import.meta.url).pathname;
  const file = [join(folder, "vm_sizes.json"), join(folder, "..", "vm_sizes.json"), shared].find((one) =>
    existsSync(one),
  );
  return file === undefined ? {} : readJson(file);
}
