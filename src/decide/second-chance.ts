import type { Entry } from "./allocate.ts";
import type { Attempt, Problem } from "./attempt.ts";
import { hardestFirst } from "./hardest-first.ts";

/** So many unmet demands get a chance, and no more work is done for them than settling so many demands. */
const MOST_CHANCES = 8;
const MOST_SETTLED = 4000;

/**
 * Ranks of demands that the plan leaves unmet and that are tried once more, each with those that could be had, the hardest first: nodes
 * that were made for a group are otherwise taken, at the next look, by smaller demands that would do with what was made for them, and the
 * group would be unmet among its own nodes (P6 of design.md section 6). First what is had whole or not at all, then the others, by rank.
 */
export function worthAChance({ outcomes }: Attempt, entries: readonly Entry[]): readonly number[] {
  const most = Math.min(MOST_CHANCES, Math.floor(MOST_SETTLED / Math.max(1, entries.length)));
  const whole: number[] = [];
  const others: number[] = [];
  for (const entry of entries) {
    const outcome = outcomes[entry.rank];
    if (whole.length >= most) break;
    if (outcome === undefined || outcome.placed >= outcome.asked) continue;
    const list = isWhole(entry) ? whole : others;
    if (list.length < most) list.push(entry.rank);
  }
  return [...whole, ...others].slice(0, most);
}

/** The orders in which such a demand is tried: before all others, and in its place among them. */
export function* ordersWith(
  rank: number,
  entries: readonly Entry[],
  best: Attempt,
  problem: Pick<Problem, "ground" | "scopes">,
): Generator<readonly Entry[]> {
  const first = entries.filter((entry) => entry.rank === rank);
  const others = entries.filter((entry) => entry.rank !== rank);
  yield [...first, ...hardestFirst(others, best, problem)];
  yield hardestFirst(entries, best, problem, rank);
}

/** All of it, or nothing. */
function isWhole(entry: Entry): boolean {
  return entry.kind === "groups" || (entry.kind === "job" && entry.ask.together !== "anywhere");
}
