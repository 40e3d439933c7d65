import type { Kind } from "./kinds.ts";
import { runInCopy } from "../support/product-copy.ts";
import type { Weather } from "./weather.ts";
import type { Mutant } from "./mutants.ts";

/*
 * Plays a mutant of the product in a copy of the repository.
 */

export interface Played {
  /** The seed that moved the number, or the last one that was played. */
  readonly seed: number;
  readonly totals: Readonly<Record<string, number>>;
}

/** Plays a mutant in a copy of the product, in a process of its own. Throws if a text to replace is not there exactly once. */
export async function playMutant({ edits, moves, seeds, weather, kind }: Mutant): Promise<Played> {
  const tried = typeof seeds === "number" ? String(seeds) : `${seeds.join(",")},`;
  const args = [moves, tried, JSON.stringify(weather ?? {}), ...(kind === undefined ? [] : [kind])];
  const { stdout } = await runInCopy(edits, ["simulation", "support"], "test/simulation/run-seeds.ts", args);
  return readPlayed(stdout);
}

function readPlayed(line: string): Played {
  const parsed: unknown = JSON.parse(line);
  if (typeof parsed !== "object" || parsed === null || !("seed" in parsed) || !("totals" in parsed)) {
    throw new Error(`the mutant's process said ${line}`);
  }
  const totals = typeof parsed.totals === "object" && parsed.totals !== null ? parsed.totals : {};
  return {
    seed: Number(parsed.seed),
    totals: Object.fromEntries(Object.entries(totals).map(([name, value]) => [name, Number(value)])),
  };
}

/** The weather and kind that a mutant is played in. */
export function playedIn({ weather, kind }: Mutant): { weather: Partial<Weather>; kind?: Kind } {
  return { weather: weather ?? {}, ...(kind === undefined ? {} : { kind }) };
}
