import { simulate } from "./simulate.ts";

/**
 * Plays seeds one after the other until one moves the named number, as a process of its own: how a mutant is run.
 * Arguments: the number's name, the first seed, how many at most. Prints one line of JSON.
 */
const [name = "", first = "1", count = "1"] = process.argv.slice(2);
const totals: Record<string, number> = {};
let seed = Number(first);
const last = seed + Number(count) - 1;
for (; seed <= last; seed += 1) {
  const { verdict } = await simulate(seed);
  for (const [kind, amount] of Object.entries(verdict)) totals[kind] = (totals[kind] ?? 0) + amount;
  if (name !== "statusReads" && (totals[name] ?? 0) > 0) break;
}
process.stdout.write(`${JSON.stringify({ seed: Math.min(seed, last), totals })}\n`);
