import type { Entry } from "../bins/entry.ts";
import type { Problem } from "./attempt.ts";
import { hardestFirst } from "./hardest-first.ts";
import type { Attempt } from "./better.ts";

/** So many unmet demands get a chance, in so many tries, and no more is done for them than settling so many demands. */
const MOST_CHANCES = 8;
const MOST_TRIES = 36;
const MOST_SETTLED = 8000;

/**
 * Demands that the plan leaves unmet are tried once more, each before all others and among those that are as hard to place. Else nodes
 * that were made for a group would be taken, at the next observation, by smaller demands that would do with what was made for them, and the group
 * would be unmet among its own nodes (P6 of architecture.md, Properties). `bySize` is the best plan so far; `tryOut` answers a better one, if there
 * is one in that order. This goes on until there is none.
 */
export function giveChances(
  byRank: Attempt,
  bySize: Attempt,
  entries: readonly Entry[],
  problem: Pick<Problem, "ground" | "scopes">,
  tryOut: (order: readonly Entry[]) => Attempt | undefined,
): void {
  let tries = Math.min(MOST_TRIES, Math.floor(MOST_SETTLED / Math.max(1, entries.length)));
  let best = bySize;
  let met = countMet(byRank);
  const helped = new Set<number>();
  const isBetterIn = (order: readonly Entry[]): boolean => {
    if (tries === 0) return false;
    tries -= 1;
    const better = tryOut(order);
    best = better ?? best;
    return better !== undefined;
  };
  for (let goesOn = true; goesOn;) {
    goesOn = false;
    // Those that can be had by now have their place among the others that can.
    if (countMet(best) > met) {
      met = countMet(best);
      goesOn = isBetterIn(hardestFirst(entries, best, problem, { also: helped }));
    }
    for (const rank of unmetFirst(best, entries)) {
      for (const order of ordersWith(rank, helped, entries, best, problem)) {
        if (!isBetterIn(order)) continue;
        helped.add(rank);
        goesOn = true;
        break;
      }
    }
  }
}

const countMet = ({ outcomes }: Attempt): number =>
  outcomes.reduce((met, { placed, asked }) => (placed >= asked ? met + 1 : met), 0);

/** Ranks of unmet demands: first what is had whole or not at all, then the others, by rank. */
function unmetFirst({ outcomes }: Attempt, entries: readonly Entry[]): readonly number[] {
  const whole: number[] = [];
  const others: number[] = [];
  for (const entry of entries) {
    const outcome = outcomes[entry.rank];
    if (whole.length >= MOST_CHANCES) break;
    if (outcome === undefined || outcome.placed >= outcome.asked) continue;
    const list = isWhole(entry) ? whole : others;
    if (list.length < MOST_CHANCES) list.push(entry.rank);
  }
  return [...whole, ...others].slice(0, MOST_CHANCES);
}

/** All of it, or nothing. */
function isWhole(entry: Entry): boolean {
  return entry.kind === "groups" || (entry.kind === "job" && entry.together !== "anywhere");
}

/** The orders in which such a demand is tried; those that were helped before stay among the others that could be had. */
function* ordersWith(
  rank: number,
  helped: ReadonlySet<number>,
  entries: readonly Entry[],
  best: Attempt,
  problem: Pick<Problem, "ground" | "scopes">,
): Generator<readonly Entry[]> {
  const [one] = entries.filter((entry) => entry.rank === rank);
  if (one === undefined) return;
  const others = entries.filter((entry) => entry.rank !== rank);
  yield [one, ...hardestFirst(others, best, problem, { also: helped })];
  yield hardestFirst(entries, best, problem, { also: helped, before: rank });
  // A target in its own place: before those that more buckets can serve.
  if (one.kind === "target") yield hardestFirst(entries, best, problem, { also: new Set([...helped, rank]) });
  // The plan before may have been one where others, that can be had by now, came last.
  yield [one, ...others];
}
