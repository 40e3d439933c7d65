/** `npm run bench:load`: what a start of the app costs, and what the first invocation of each trigger adds (docs/benchmarks.md, Loading). */
import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildPackage } from "../../../infra/build-package.ts";
import { readPackage } from "../../../src/local/host/load-package.ts";
import { SOURCE_APP } from "../../../src/local/system.ts";
import type { Invocations } from "./first-invocations.ts";
import { openInvoker, TRIGGERS } from "./first-invocations.ts";

const USAGE = `usage: npm run bench:load -- [--runs N] [--package FOLDER] [--help]
Prints medians of fresh processes, in milliseconds.
  --runs N          processes for each figure, 10 without it
  --package FOLDER  measures this package, such as one of another commit, and not one built of this checkout`;

const { values } = parseArgs({
  options: { runs: { type: "string" }, package: { type: "string" }, help: { type: "boolean" } },
});
const runs = Number(values.runs ?? "10");
if (values.help === true || !Number.isInteger(runs) || runs < 1) console.log(USAGE);
else await run();

async function run(): Promise<void> {
  const scratch = await mkdtemp(path.join(tmpdir(), "bench-load-"));
  try {
    const hello = await build(scratch, "hello", "test/bench/loading/hello.ts");
    const folder = values.package ?? (await build(scratch, "package"));
    console.log(`Node ${process.version}, ${runs} processes for each figure`);
    console.log(`${cpus().length} cores, load ${loadText()}\n`);
    await printLoads(hello, folder);
    await printInvocations({ package: folder, unbundled: SOURCE_APP });
    console.log(`\nload at the end ${loadText()}`);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Of the machine, of the last 1, 5 and 15 minutes. Figures of a loaded machine say little apart from their ratios. */
function loadText(): string {
  return loadavg()
    .map((load) => load.toFixed(1))
    .join(" ");
}

async function build(scratch: string, name: string, source?: string): Promise<string> {
  const folder = path.join(scratch, name);
  const places = { folder, zipFile: `${folder}.zip`, mapFolder: `${folder}-maps` };
  await buildPackage(places, source);
  return folder;
}

/** The start itself; then what the package loads later, each file alone with all that it loads in turn. */
async function printLoads(hello: string, folder: string): Promise<void> {
  const { entry } = await readPackage(folder);
  const least = measureLoad((await readPackage(hello)).entry);
  const rows = [
    ["hello world", least],
    ["package", measureLoad(entry)],
    ["unbundled", measureLoad(SOURCE_APP)],
  ] as const;
  console.log(`${"load, above bare Node".padEnd(40)} ${"wall".padStart(8)} ${"cpu".padStart(8)}`);
  for (const [name, { wallMs, cpuMs }] of rows) {
    const times = `${(wallMs / least.wallMs).toFixed(1)} times hello world`;
    console.log(`${name.padEnd(40)} ${ms(wallMs)} ${ms(cpuMs)}  ${times}`);
  }
  console.log("\neach file of the package alone");
  for (const name of (await readdir(folder)).filter((file) => file.endsWith(".cjs"))) {
    const { wallMs, cpuMs } = measureLoad(path.join(folder, name));
    console.log(`${name.padEnd(40)} ${ms(wallMs)} ${ms(cpuMs)}`);
  }
}

async function printInvocations(apps: Readonly<Record<string, string>>): Promise<void> {
  console.log(`\n${"invocations, wall".padEnd(40)} ${"first".padStart(8)} ${"second".padStart(8)}`);
  const invoker = await openInvoker();
  try {
    for (const trigger of TRIGGERS)
      for (const [name, app] of Object.entries(apps)) {
        const all: Invocations[] = [];
        for (let count = 0; count < runs; count += 1) all.push(await invoker.measure(app, trigger));
        const [first, second] = [median(all.map((one) => one.first)), median(all.map((one) => one.second))];
        console.log(`${`${name}, ${trigger}`.padEnd(40)} ${ms(first)} ${ms(second)}`);
      }
  } finally {
    await invoker.close();
  }
}

interface Load {
  readonly wallMs: number;
  readonly cpuMs: number;
}

function measureLoad(file: string): Load {
  const script = fileURLToPath(new URL("load-once.ts", import.meta.url));
  const loads = Array.from({ length: runs }, (): Load => {
    // No compile cache: a new instance has none.
    const env = { ...process.env, NODE_COMPILE_CACHE: undefined };
    return JSON.parse(execFileSync(process.execPath, [script, file], { encoding: "utf8", env }));
  });
  return {
    wallMs: median(loads.map((load) => load.wallMs)),
    cpuMs: median(loads.map((load) => load.cpuMs)),
  };
}

function median(all: readonly number[]): number {
  const sorted = all.toSorted((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

function ms(value: number): string {
  return value.toFixed(1).padStart(8);
}
