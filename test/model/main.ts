import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { spawnAzurite } from "../support/spawn-azurite.ts";
import type { Arguments } from "./arguments.ts";
import { readArguments, USAGE } from "./arguments.ts";
import { sequenceOf, shrink } from "./search.ts";
import { inMemory } from "./stores.ts";
import type { Told, Work } from "./worker.ts";

/** Maximum number of failing seeds whose sequences are shrunk. Of the others only the difference is printed. */
const MOST_SHRUNK = 3;
const PROGRESS_MS = 10_000;

const read = readArguments(process.argv.slice(2));
if (read.kind === "help") process.stdout.write(USAGE);
else if (read.kind === "invalid") {
  process.stderr.write(`${read.problem}\n\n${USAGE}`);
  process.exitCode = 2;
} else {
  process.exitCode = await run(read.args);
}

async function run(args: Arguments): Promise<number> {
  const azurite = args.azurite ? await spawnAzurite() : undefined;
  const told: Told[] = [];
  const begun = performance.now();
  const progress = setInterval(
    () => process.stderr.write(`${told.length} of ${args.sequences} sequences ...\n`),
    PROGRESS_MS,
  );
  try {
    await playAll(args, azurite?.connectionString, (one) => told.push(one));
  } finally {
    clearInterval(progress);
    await azurite?.close();
  }
  return report(args, told, (performance.now() - begun) / 1000);
}

/** Plays in one worker for each core. Each worker plays every n-th seed. */
async function playAll(
  { sequences, steps, seed }: Arguments,
  connectionString: string | undefined,
  tell: (told: Told) => void,
): Promise<void> {
  const stride = Math.min(availableParallelism(), sequences);
  const last = seed + sequences - 1;
  await Promise.all(
    Array.from({ length: stride }, (_, index) => {
      const work: Work = {
        first: seed + index,
        last,
        stride,
        steps,
        ...(connectionString === undefined ? {} : { connectionString }),
      };
      return playIn(new Worker(new URL("./worker.ts", import.meta.url), { workerData: work }), tell);
    }),
  );
}

function playIn(worker: Worker, tell: (told: Told) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.on("message", tell);
    worker.on("error", reject);
    worker.on("exit", () => resolve());
  });
}

async function report(
  { sequences, steps }: Arguments,
  told: readonly Told[],
  seconds: number,
): Promise<number> {
  const sum = (count: (one: Told["played"]) => number): number =>
    told.reduce((total, { played }) => total + count(played), 0);
  const failing = told
    .filter(({ played }) => played.differences.length > 0)
    .toSorted((a, b) => a.seed - b.seed);
  for (const [index, one] of failing.entries()) await tellFailing(one, steps, index < MOST_SHRUNK);
  const compared = sum((played) => played.compared);
  const blurred = sum((played) => played.blurred);
  const tied = sum((played) => played.tied);
  const otherwise = sum((played) => played.otherwise);
  process.stdout.write(
    `${compared} plans compared (what ${tied} of them create is left open by the rules, ${otherwise} differ and are as good), ` +
      `by name: ${sum((played) => played.namesMade)} with creates, ${sum((played) => played.namesRefused)} with refusals, ` +
      `${sum((played) => played.namesThere)} with nodes that exist, ${sum((played) => played.namedAskers)} nodes that asked; ` +
      `${blurred} more while a failure had its after-effects, ` +
      `${sum((played) => played.answers)} answers, ${sum((played) => played.stops)} stops, ${seconds.toFixed(1)} s\n`,
  );
  process.stdout.write(`${sequences} sequences, ${sequences * steps} steps, ${failing.length} differences\n`);
  return failing.length > 0 ? 1 : 0;
}

/** Shrinks in memory, because the rules are the same and it is quicker. */
async function tellFailing({ seed, played }: Told, steps: number, isShrunk: boolean): Promise<void> {
  const [difference = ""] = played.differences;
  process.stdout.write(`seed ${seed}: ${difference}\n`);
  if (!isShrunk) return;
  const shrunk = await shrink(sequenceOf(seed, steps), difference, inMemory);
  process.stdout.write(`  ${shrunk.sequence.steps.length} steps show it: ${shrunk.difference}\n`);
  process.stdout.write(`  in ${JSON.stringify(shrunk.sequence.shape)}\n`);
  for (const step of shrunk.sequence.steps) process.stdout.write(`  ${JSON.stringify(step)}\n`);
  process.stdout.write(`  replay: npm run simulate:model -- --sequences 1 --steps ${steps} --seed ${seed}\n`);
}
