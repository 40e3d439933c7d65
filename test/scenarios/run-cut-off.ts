import type { Play } from "./mutants-cut-off.ts";
import { playWorst } from "./mutants-cut-off.ts";

/** Plays scenes as a process of its own, until one number is beyond its bound. Arguments: its name, its bound, and the scenes as JSON. Prints the number. */
const [shows = "", bound = "0", given = "[]"] = process.argv.slice(2);
const plays: readonly Play[] = JSON.parse(given);
let worst = 0;
for (const play of plays)
  if (worst <= Number(bound)) worst = Math.max(worst, (await playWorst(play))[shows] ?? 0);
process.stdout.write(`${worst}\n`);
