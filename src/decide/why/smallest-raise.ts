import type { Raise } from "../../domain/remedy.ts";
import type { Expansion, Raises, Search } from "./trial-limits.ts";
import { NO_RAISE, TrialLimits } from "./trial-limits.ts";

/** Maximum number of halvings in a search for one raise: enough for every whole number. */
const HALVINGS = 64;

/** Maximum number of expansions for which the raise is worked out in full. By a first estimate the others lack more. */
const EXPANSIONS_TRIED = 8;

/** Other buckets that share a limit use part of its raise. The limit is raised again for this at most this many times. */
const ROUNDS = 12;

/**
 * The smallest raises with which the expansions serve all that is wanted. Undefined if none was found. Each candidate is tried in the
 * order that the allocator uses, because other buckets may use up a raise first. Of several that serve, the one with the fewest limits
 * wins, then the one whose largest raise is smallest in proportion to its limit, then the first in the order of the expansions. None of
 * its raises can be smaller while the others stay as they are.
 */
export function smallestRaise(search: Search): readonly Raise[] | undefined {
  const limits = new TrialLimits(search);
  const rest = limits.serve(NO_RAISE);
  if (rest <= 0) return [];
  const estimates = search.expansions
    .map((expansion) => ({ expansion, raises: limits.lacking(expansion, rest) }))
    .filter(({ raises }) => isFinite(raises))
    .toSorted((a, b) => limits.compare(a.raises, b.raises));
  let best: Raises | undefined;
  for (const { expansion } of estimates.slice(0, EXPANSIONS_TRIED)) {
    const raises = enough(limits, expansion);
    if (raises !== undefined && (best === undefined || limits.compare(raises, best) < 0)) best = raises;
  }
  return best === undefined ? undefined : limits.describe(shrink(limits, best));
}

const isFinite = (raises: Raises): boolean => [...raises.values()].every(Number.isFinite);

/** Raises what one expansion lacks until everything is served. */
function enough(limits: TrialLimits, expansion: Expansion): Raises | undefined {
  const raises = new Map<number, number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const rest = limits.serve(raises);
    if (rest <= 0) return raises;
    const lacking = limits.lacking(expansion, rest, raises);
    if (lacking.size === 0 || !isFinite(lacking)) return undefined;
    for (const [at, more] of lacking) raises.set(at, (raises.get(at) ?? 0) + more);
  }
  return undefined;
}

/** Makes each raise as small as the others allow, until none can be smaller. */
function shrink(limits: TrialLimits, raises: Raises): Raises {
  let least = raises;
  for (let round = 0; round < ROUNDS; round += 1) {
    let next = least;
    for (const at of least.keys()) next = shrinkOne(limits, next, at);
    if (total(next) === total(least)) return next;
    least = next;
  }
  return least;
}

const total = (raises: Raises): number => [...raises.values()].reduce((sum, more) => sum + more, 0);

/** Makes one raise as small as possible, the others as they are. */
function shrinkOne(limits: TrialLimits, raises: Raises, at: number): Raises {
  let low = 0;
  let high = raises.get(at) ?? 0;
  // The number of rounds is bounded: beyond 2^53 a number plus one is the number itself, and the two would never meet. What is found then
  // serves, but may not be the smallest.
  for (let round = 0; round < HALVINGS && low < high && !limits.isSpent; round += 1) {
    const middle = Math.floor((low + high) / 2);
    if (limits.serve(new Map(raises).set(at, middle)) <= 0) high = middle;
    else low = middle + 1;
  }
  const least = new Map(raises).set(at, high);
  if (high === 0) least.delete(at);
  return least;
}
