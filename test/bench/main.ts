import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { LOADS } from "./loads.ts";
import { measure, RUNS } from "./measure.ts";

const USAGE = `usage: npm run bench -- [--only NAME]... [--size N] [--runs N] [--list] [--help]
Plans seeded loads and prints one JSON object a line for each load and size; progress goes to stderr.
  --only NAME  only this load; may be given several times
  --size N     of this size instead of the load's own sizes
  --runs N     timed runs of each, ${RUNS.timed} without it
  --list       the names of the loads with their sizes`;

const values = readOptions();
const names = LOADS.map(({ name }) => name);
const unknown = values.only?.filter((name) => !names.includes(name)) ?? [];
const [size, timed] = [values.size, values.runs].map((text) =>
  text === undefined ? undefined : Number(text),
);
if (values.help === true) console.log(USAGE);
else if (unknown.length > 0) refuse(`no such load: ${unknown.join(", ")}; there are ${names.join(", ")}`);
else if (![size, timed].every(isCount)) refuse("--size and --runs want a whole number, 1 or more");
else if (values.list === true)
  for (const { name, unit, sizes } of LOADS) console.log(`${name}: ${sizes.join(", ")} ${unit}`);
else run();

function readOptions() {
  try {
    return parseArgs({
      options: {
        only: { type: "string", multiple: true },
        size: { type: "string" },
        runs: { type: "string" },
        list: { type: "boolean" },
        help: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    refuse(error instanceof Error ? error.message : String(error));
    return process.exit();
  }
}

function isCount(value: number | undefined): boolean {
  return value === undefined || (Number.isInteger(value) && value > 0);
}

function refuse(why: string): void {
  console.error(`${why}\n${USAGE}`);
  process.exitCode = 2;
}

/** Each load of each size has a process of its own: what the engine learnt from the others, and their garbage, change nothing. */
function run(): void {
  const chosen = LOADS.filter(({ name }) => values.only?.includes(name) ?? true);
  const pairs = chosen.flatMap((load) =>
    (size === undefined ? load.sizes : [size]).map((each) => ({ load, each })),
  );
  for (const { load, each } of pairs) {
    if (pairs.length === 1) {
      console.error(`${load.name}: ${each} ${load.unit} ...`);
      console.log(JSON.stringify(measure(load, each, { ...RUNS, timed: timed ?? RUNS.timed })));
      return;
    }
    const runs = values.runs === undefined ? [] : ["--runs", values.runs];
    const options = ["--only", load.name, "--size", String(each), ...runs];
    const main = fileURLToPath(import.meta.url);
    const { status } = spawnSync(process.execPath, [...process.execArgv, main, ...options], {
      stdio: "inherit",
    });
    if (status !== 0) process.exitCode = 1;
  }
}
