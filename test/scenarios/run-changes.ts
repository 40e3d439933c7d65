import type { ChangesOptions } from "./changes-stage.ts";
import { playChanges, playTakenOver } from "./play-changes.ts";

/**
 * Plays seeds as a process of its own, until the named number is beyond its bound. Arguments: the number's name, its bound, how many seeds,
 * the options as JSON. Prints one line of JSON.
 */
const [name = "", bound = "0", seeds = "1", given = "{}"] = process.argv.slice(2);
const options: ChangesOptions = JSON.parse(given);
const found: Record<string, number> = {};
let seed = 0;
while (seed < Number(seeds) && (found[name] ?? 0) <= Number(bound)) {
  seed += 1;
  const seen = name === "resent" ? await playTakenOver(seed) : await playChanges(seed, options);
  Object.assign(found, seen);
}
process.stdout.write(`${JSON.stringify({ seed, found })}\n`);
