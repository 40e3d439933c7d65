import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { tableOf } from "./figures.ts";
import type { LoopLoad, Sizes } from "./loads.ts";
import { LOOP_LOADS, SIZES } from "./loads.ts";

const USAGE = `usage: npm run bench:loop -- [options]
Measures the whole loop in real processes on this machine: storage emulator, CycleCloud simulator, function hosts.
  --only NAME         only this load; may be given several times: ${LOOP_LOADS.map(({ name }) => name).join(", ")}
  --checkout DIR      the folder whose host and function app are measured (default: this checkout); it needs node_modules
  --json              one JSON object a line for each load instead of a table
  --seed N            of everything that is drawn (${SIZES.seed})
  --tries N           main-path: of each way in (${SIZES.tries})
  --gap SECONDS       main-path: least time between two tries (${SIZES.gapSeconds})
  --readers N         main-path: people who look at the page meanwhile (${SIZES.readers})
  --minutes N         renewals, changes: measured for so long (${SIZES.minutes})
  --sets N            renewals, changes: request sets (${SIZES.sets})
  --interval SECONDS  renewals, changes: each set is sent once in this time (${SIZES.intervalSeconds})
  --nodes N           renewals: nodes that run (${SIZES.nodes})
  --changing-nodes N  changes: nodes that run (${SIZES.changingNodes})
  --callbacks N       autostop: nodes that ask (${SIZES.callbacks})
  --hosts N           autostop: function hosts (${SIZES.hosts})
  --storm SECONDS     autostop: how long the storm lasts (${SIZES.stormSeconds})
  --help              this text
test/bench/README.md says what each figure means.`;

const HERE = fileURLToPath(new URL("../../..", import.meta.url));

async function main(): Promise<void> {
  const read = readArguments();
  if ("complaint" in read) {
    process.stderr.write(`${read.complaint}\n${USAGE}\n`);
    process.exitCode = 2;
    return;
  }
  if (read.help) return void process.stdout.write(`${USAGE}\n`);
  for (const load of read.loads) await runLoad(load, read.sizes, read.json);
}

/** A load that fails says why, and the next one runs. */
async function runLoad(load: LoopLoad, sizes: Sizes, json: boolean): Promise<void> {
  const { checkout } = sizes;
  const commit = commitOf(checkout);
  process.stderr.write(`${load.name}, ${checkout} (${commit ?? "no git checkout"}) ...\n`);
  const before = loadavg();
  const begun = Date.now();
  try {
    const figures = await load.run(sizes);
    const machine = { cores: cpus().length, before, after: loadavg() };
    const seconds = Math.round((Date.now() - begun) / 1000);
    process.stdout.write(
      json
        ? `${JSON.stringify({ load: load.name, commit, seconds, machine, sizes, figures })}\n`
        : `\n${load.name} (${commit ?? checkout}), ${seconds} s; load of the machine (${machine.cores} cores) before ${shown(before)}, after ${shown(machine.after)}\n${tableOf(figures)}\n`,
    );
  } catch (error) {
    process.stderr.write(`${load.name} failed: ${error instanceof Error ? error.stack : String(error)}\n`);
    process.exitCode = 1;
  }
}

const shown = (averages: readonly number[]): string => averages.map((value) => value.toFixed(2)).join(" ");

/** Undefined: not a git checkout. A name that ends in "-dirty" has changes that are not committed. */
function commitOf(checkout: string): string | undefined {
  try {
    const args = ["-C", checkout, "describe", "--always", "--dirty", "--exclude", "*"];
    return execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined;
  }
}

type Read =
  | {
      readonly help: boolean;
      readonly json: boolean;
      readonly loads: readonly LoopLoad[];
      readonly sizes: Sizes;
    }
  | { readonly complaint: string };

function readArguments(): Read {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: "string", multiple: true },
        checkout: { type: "string", default: HERE },
        json: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
        ...Object.fromEntries(Object.keys(NUMBERS).map((name) => [name, { type: "string" as const }])),
      },
    });
    const names = LOOP_LOADS.map(({ name }) => name);
    const unknown = values.only?.find((name) => !names.includes(name));
    if (unknown !== undefined)
      return { complaint: `--only: found ${unknown}, expected one of ${names.join(", ")}` };
    const checkout = resolve(values.checkout);
    const missing = values.help ? undefined : NEEDED.find((file) => !existsSync(join(checkout, file)));
    if (missing !== undefined)
      return {
        complaint: `--checkout: found no ${missing} in ${checkout}, expected a checkout after npm ci`,
      };
    const { only } = values;
    return {
      help: values.help,
      json: values.json,
      loads: LOOP_LOADS.filter(({ name }) => only?.includes(name) ?? true),
      sizes: { ...SIZES, checkout, ...readNumbers(new Map(Object.entries(values))) },
    };
  } catch (error) {
    return { complaint: error instanceof Error ? error.message : String(error) };
  }
}

const NEEDED = ["src/local/host/main.ts", "functions/main.ts", "host.json", "node_modules"];

const NUMBERS = {
  seed: "seed",
  tries: "tries",
  gap: "gapSeconds",
  readers: "readers",
  minutes: "minutes",
  sets: "sets",
  interval: "intervalSeconds",
  nodes: "nodes",
  "changing-nodes": "changingNodes",
  callbacks: "callbacks",
  hosts: "hosts",
  storm: "stormSeconds",
} as const;

/** Throws, naming the option, if one is no number above 0. */
function readNumbers(values: ReadonlyMap<string, unknown>): Partial<Sizes> {
  const numbers = Object.entries(NUMBERS).flatMap(([option, size]) => {
    const text = values.get(option);
    if (text === undefined) return [];
    const value = Number(text);
    if (!(value > 0) || !Number.isFinite(value))
      throw new Error(`--${option}: found ${JSON.stringify(text)}, expected a number above 0`);
    return [[size, value]];
  });
  return Object.fromEntries(numbers);
}

await main();
