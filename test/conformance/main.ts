import { appendFileSync, existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { DATA, readText } from "../support/data.ts";
import type { Json } from "./compare.ts";
import { isObject } from "./compare.ts";
import type { Suite, Verdict } from "./suites.ts";
import type { Surroundings, VectorCase } from "./vector-case.ts";

const RECORDED = `${DATA}vectors`;
const USAGE = `usage: npm run conformance -- [--actual FILE] [--help] [PATH...]
Runs the conformance vectors in the given folders or files, plain or gzip (without any: the recorded ones in test/data/vectors), in the
preference bucket-order, and prints for each file and at the end "N passed, N failed, N deviated"; test/conformance/deviations.md says
which deviations there are. Exits with 1 if a case failed or none was run, with 2 if it could not begin.
  --actual FILE  writes what was answered, one JSON object a line: folder, file, name, result, verdict`;
const MOST_SHOWN = 3;
const total = emptyCount();
const causes = new Map<string, number>();
const { values, positionals } = readArguments();
if (values.help === true) {
  console.log(USAGE);
  process.exit(0);
}
// Who only asks how it is called does not wait until the product is loaded.
const { judgeCase, readCases, SUITES } = await import("./suites.ts");
const paths = positionals.length === 0 ? [RECORDED] : positionals;
const files = paths.flatMap((path) => findFiles(resolve(path)));
if (values.actual !== undefined) writeFileSync(values.actual, "");
for (const file of files) {
  const suite = suiteOf(file);
  if (suite === undefined) console.log(`${nameOf(file)}: not run, its folder is not known here yet`);
  else runFile(file, suite);
}
for (const [cause, cases] of [...causes].sort(([, a], [, b]) => b - a))
  console.log(`${cause}: ${cases} ${cases === 1 ? "case" : "cases"}`);
console.log(countText(total));
if (total.failed > 0 || total.passed + total.deviated === 0) process.exitCode = 1;

function readArguments() {
  try {
    const read = parseArgs({
      options: { actual: { type: "string" }, help: { type: "boolean" } },
      allowPositionals: true,
    });
    for (const path of read.positionals)
      if (!existsSync(path)) throw new Error(`${path}: there is no such file or folder`);
    return read;
  } catch (error) {
    console.error(`${messageOf(error)}\n${USAGE}`);
    process.exit(2);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function emptyCount(): Record<Verdict["kind"], number> {
  return { passed: 0, failed: 0, deviated: 0 };
}

function countText(count: Readonly<Record<Verdict["kind"], number>>): string {
  return `${count.passed} passed, ${count.failed} failed, ${count.deviated} deviated`;
}

function nameOf(file: string): string {
  return `${basename(dirname(file))}/${basename(file).replace(/\.json(?:\.gz)?$/, "")}`;
}

function suiteOf(file: string): Suite | undefined {
  return SUITES.find(({ name }) => name === nameOf(file));
}

/** The cases of a file; one that cannot be read is told of by its name, and counts as a case that failed. */
function casesOf(file: string, suite: Suite): readonly VectorCase[] {
  try {
    return readCases(readJson(file));
  } catch (error) {
    total.failed += 1;
    console.log(`${suite.name}: ${file} cannot be read: ${messageOf(error)}`);
    return [];
  }
}

/** No case keeps the others from being run. */
function judge(suite: Suite, one: VectorCase, surroundings: Surroundings): Verdict {
  try {
    return judgeCase(suite, one, surroundings);
  } catch (error) {
    const thrown = { path: "(thrown)", expected: "an answer", actual: messageOf(error) };
    return { kind: "failed", actual: null, differences: [thrown], causes: [] };
  }
}

/** The files of cases below a path, in order. What stands beside them (worlds, the VM sizes) is no case. */
function findFiles(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const inside = join(path, entry.name);
      if (entry.isDirectory()) return findFiles(inside);
      return /^(?!world|vm_sizes).*\.json(?:\.gz)?$/.test(entry.name) ? [inside] : [];
    });
}

function runFile(file: string, suite: Suite): void {
  const count = emptyCount();
  const sizes = findSizes(dirname(file));
  for (const one of casesOf(file, suite)) {
    const world = worldOf(file, one.input["world"]);
    const surroundings: Surroundings = world === undefined ? { vmSizes: sizes } : { vmSizes: sizes, world };
    const verdict = judge(suite, one, surroundings);
    count[verdict.kind] += 1;
    total[verdict.kind] += 1;
    for (const cause of verdict.causes) causes.set(cause, (causes.get(cause) ?? 0) + 1);
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
  const content: Json = JSON.parse(readText(file));
  return content;
}

function worldOf(file: string, name: Json | undefined): Readonly<Record<string, Json>> | undefined {
  if (typeof name !== "string") return undefined;
  const world = readJson(plainOrPacked(join(dirname(file), name)));
  return isObject(world) ? world : undefined;
}

/** The catalogue with which the vectors were made stands above their folders; without one, the recorded one counts. */
function findSizes(folder: string): Json {
  const near = [folder, join(folder, "..")].map((one) => plainOrPacked(join(one, "vm_sizes.json")));
  return readJson(near.find((one) => existsSync(one)) ?? plainOrPacked(join(RECORDED, "vm_sizes.json")));
}

function plainOrPacked(path: string): string {
  return existsSync(path) ? path : `${path}.gz`;
}
