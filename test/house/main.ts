import { fileURLToPath } from "node:url";
import { basename, dirname } from "node:path";
import { readFileSync } from "node:fs";
import type { FunctionId, House } from "./figures.ts";
import { Calls, GENERATED, readHouse, unusedExports } from "./figures.ts";
import { readSources, readTests } from "./imports.ts";

/** `npm run house`: how large the house is, and how far one walks in it. It limits nothing. */

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Five questions of a reader: each is a path of calls through these functions. Where a use case is a closure, the path begins again in it. */
const QUESTIONS: readonly { readonly name: string; readonly over: readonly FunctionId[] }[] = [
  {
    name: "a demand message becomes durable",
    over: [
      "functions/demand.ts#handleDemand",
      "functions/demand.ts#recordUpdate",
      "src/app/demand/record-demand.ts#createRecorder",
      "src/decide/record/accept.ts#accept",
    ],
  },
  {
    name: "a demand message becomes a request to CycleCloud",
    over: [
      "functions/demand.ts#handleDemand",
      "src/app/reconcile/reconcile-cluster.ts#reconcileCluster",
      "src/app/effects/effects.ts#send",
    ],
  },
  {
    name: "a question of a node becomes a stop",
    over: [
      "functions/autostop.ts#answerAutostop",
      "src/app/autostop/answer-autostop.ts#createStopDesk",
      "src/decide/autostop/judge-stops.ts#judgeStops",
    ],
  },
  {
    name: "a demand is unmet: where its reason is made",
    over: [
      "src/decide/reconcile/reconcile.ts#decide",
      "src/decide/search/allocate.ts#allocate",
      "src/decide/why/unmet.ts#reasonsOf",
    ],
  },
  {
    name: "a demand is unmet: where its reason is told",
    over: [
      "functions/explain.ts#answerExplain",
      "src/app/describe/explain-cluster.ts#explain",
      "src/domain/reason-text.ts#renderReason",
    ],
  },
];

const filesOf = (ids: Iterable<FunctionId>): ReadonlySet<string> =>
  new Set([...ids].map((id) => id.split("#")[0] ?? ""));

function wayOver(calls: Calls, over: readonly FunctionId[]): readonly FunctionId[] {
  return over.flatMap((id, at) => {
    const next = over[at + 1];
    const way = next === undefined ? undefined : calls.way(id, next);
    const isBuilt = way?.some((one) => one.startsWith("src/compose")) === true;
    return way === undefined || isBuilt ? [id] : way.slice(0, -1);
  });
}

/** Lines of code: no comments, no imports, no blank lines. */
function codeLines(text: string): number {
  const bare = text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/^import [\s\S]*?;$/gm, "");
  return bare.split("\n").filter((line) => line.trim() !== "" && !line.trim().startsWith("//")).length;
}

interface Importers {
  readonly byPath: ReadonlyMap<string, readonly string[]>;
}

function importersIn(house: House): Importers {
  const pairs = [...house.files.values()].flatMap(({ path, targets }) =>
    [...targets].map((target) => ({ path, target })),
  );
  const grouped = Map.groupBy(pairs, ({ target }) => target);
  return { byPath: new Map([...grouped].map(([target, all]) => [target, all.map(({ path }) => path)])) };
}

/** Files under 60 lines that one file of the same folder imports, and no test. */
function smallParts(house: House, { byPath }: Importers, tested: ReadonlySet<string>): readonly string[] {
  return [...house.files.values()].flatMap(({ path, text }) => {
    const importers = byPath.get(path) ?? [];
    const [one] = importers;
    const isPart = importers.length === 1 && one !== undefined && dirname(one) === dirname(path);
    return isPart && text.split("\n").length - 1 < 60 && !tested.has(path) ? [path] : [];
  });
}

const sources = readSources(root).filter(({ path }) => !path.startsWith("infra/"));
const house = readHouse(sources);
const tests = readHouse(readTests(root));
const calls = new Calls(house);
const tested = new Set([...tests.files.values()].flatMap(({ targets }) => [...targets]));
const importers = importersIn(house);
const small = smallParts(house, importers, tested);
const unused = unusedExports(house, [house, tests]);
const forTests = unusedExports(house, [house, readHouse(readSources(root))]);
const lists = process.argv.includes("--lists");

const rows: (readonly [string, number])[] = [
  ["files in src and functions", sources.length],
  [
    "lines of code in them, written by hand (no comments, imports, blanks)",
    sources.filter(({ path }) => !GENERATED.has(path)).reduce((sum, { text }) => sum + codeLines(text), 0),
  ],
];
let within = 0;
for (const { name, over } of QUESTIONS) {
  const way = wayOver(calls, over);
  const files = filesOf(calls.within(way, 2)).size;
  within += files;
  rows.push([
    `files within two calls: ${name} (way: ${way.length} functions in ${filesOf(way).size} files)`,
    files,
  ]);
  if (lists) console.log(way.map((id) => `  ${id}`).join("\n"));
}
rows.push(
  ["the five together", within],
  ["files under 60 lines with one importer in the folder and no test of their own", small.length],
  ["exports that no file uses", unused.length],
  ["exports that only tests use", forTests.length],
  ["lines of docs/decisions.md", readFileSync(`${root}/docs/decisions.md`, "utf8").split("\n").length - 1],
);
for (const [name, value] of rows) console.log(`${String(value).padStart(7)}  ${name}`);
if (lists) {
  console.log(
    `\nsmall parts:\n${small.map((path) => `  ${path} (in ${basename(importers.byPath.get(path)?.[0] ?? "")})`).join("\n")}`,
  );
  console.log(`\nexports for tests:\n${forTests.map((id) => `  ${id}`).join("\n")}`);
  console.log(`\nunused exports:\n${unused.map((id) => `  ${id}`).join("\n")}`);
}
