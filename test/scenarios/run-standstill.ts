import type { Standstill } from "./standstill-stage.ts";
import { playCreate, playStop } from "./standstill-stage.ts";

/**
 * Plays standstills as a process of its own. Arguments: "open" or "twice", and the standstills as JSON. Prints how often a node was stopped
 * after it had opened, or how many nodes were made twice.
 */
const [what = "open", given = "[]"] = process.argv.slice(2);
const standstills: readonly Standstill[] = JSON.parse(given);
let found = 0;
for (const one of standstills)
  found += what === "open" ? (await playStop(one)).open : Math.max(0, (await playCreate(one)) - 25);
process.stdout.write(`${found}\n`);
