import type { Entry } from "../bins/entry.ts";
import type { Problem } from "./problem.ts";
import { hardestFirst } from "./hardest-first.ts";
import type { Attempt } from "./better.ts";

/** Maximum number of unmet demands that get another chance, of tries for them, and of demands placed in all these tries together. */
const MOST_CHANCES = 8;
const MOST_TRIES = 36;
const MOST_PLACED = 8000;

/**
 * Tries each demand that the plan leaves unmet once more: before all others, and among those that are as hard to place. Otherwise, at the
 * next observation, smaller demands could take the nodes that were created for a group, and the group would stay unmet beside its own nodes
 * (P6 of architecture.md, Properties). `bySize` is the best plan so far. `tryOut` returns a better plan if the order leads to one. Ends when
 * no order does.
 */
export function giveChances(
  byRank: Attempt,
  bySize: Attempt,
  entries: readonly Entry[],
  problem: Pick<Problem, "ground" | "scopes">,
  tryOut: (order: readonly Entry[]) => Attempt | undefined,
): void {
  let tries = Math.min(MOST_TRIES, Math.floor(MOST_PLACED / Math.max(1, entries.length)));
  // No order is worked out that nothing is tried with: of 100,000 jobs each takes 20 ms.
  if (tries === 0) return;
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
    // Demands that the best plan places now take their position among the met ones.
    if (countMet(best) > met) {
      met = countMet(best);
      goesOn = isBetterIn(hardestFirst(entries, best, problem, { also: helped }));
    }
    for (const rank of unmetFirst(best, entries)) {
      if (tries === 0) return;
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

/** Ranks of unmet demands: first those that are placed as a whole or not at all, then the others, by rank. */
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

/** Whether a demand is placed as a whole or not at all. */
function isWhole(entry: Entry): boolean {
  return entry.kind === "groups" || (entry.kind === "job" && entry.together !== "anywhere");
}

/** The orders in which an unmet demand is tried. Demands that were helped before stay among the met ones. */
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
  // In its own position: a job after equal ones of a higher rank, a target before those that more buckets can serve.
  yield hardestFirst(entries, best, problem, { also: new Set([...helped, rank]) });
  // In rank order: the best plan may have come from an order in which demands that it places came last.
  yield [one, ...others];
}
