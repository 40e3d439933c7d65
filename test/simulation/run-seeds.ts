import { simulate } from "./simulate.ts";

/**
 * Plays seeds one after the other until one moves the named number, as a process of its own: how a mutant is run.
 * Arguments: the number's name, how many seeds at most, and the weather that is not left to them, as JSON. Prints one line of JSON.
 */
const [name = "", count = "1", given = "{}"] = process.argv.slice(2);
const weather = readObject(given);
const totals: Record<string, number> = {};
let seed = 1;
const last = Number(count);
for (; seed <= last; seed += 1) {
  const { verdict } = await simulate(seed, { weather });
  for (const [kind, amount] of Object.entries(verdict)) totals[kind] = (totals[kind] ?? 0) + amount;
  if (name !== "statusReads" && (totals[name] ?? 0) > 0) break;
}

function readObject(text: string): object {
  const parsed: unknown = JSON.parse(text);
  return typeof parsed === "object" && parsed !== null ? parsed : {};
}

process.stdout.write(`${JSON.stringify({ seed: Math.min(seed, last), totals })}\n`);
