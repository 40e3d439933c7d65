import { KINDS } from "./kinds.ts";
import { simulate } from "./simulate.ts";

/**
 * Plays the seeds of a mutant as a process of its own, until one moves the named number. Arguments: the name of the number; the seeds, as
 * "1,2,3" or as their count from 1 on; the weather that replaces what the seed draws, as JSON; the kind. Prints one line of JSON.
 */
const [name = "", given = "1", laid = "{}", of] = process.argv.slice(2);
const weather = readObject(laid);
const kind = KINDS.find((one) => one === of);
const seeds = given.includes(",")
  ? given.split(",").filter(Boolean).map(Number)
  : Array.from({ length: Number(given) }, (_, index) => index + 1);
const totals: Record<string, number> = {};
let seed = 0;
for (seed of seeds) {
  const { verdict } = await simulate(seed, { weather, ...(kind === undefined ? {} : { kind }) });
  for (const [kind, amount] of Object.entries(verdict)) totals[kind] = (totals[kind] ?? 0) + amount;
  if (name !== "statusReads" && (totals[name] ?? 0) > 0) break;
}

function readObject(text: string): object {
  const parsed: unknown = JSON.parse(text);
  return typeof parsed === "object" && parsed !== null ? parsed : {};
}

process.stdout.write(`${JSON.stringify({ seed, totals })}\n`);
