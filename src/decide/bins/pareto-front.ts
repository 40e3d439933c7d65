/**
 * A Pareto front: of all pairs of amounts that were added, those that no other pair equals or exceeds in both amounts. It is stored flat
 * (first, second, first, second, ...), with falling first amounts and rising second amounts.
 *
 * A block of bins keeps one for the two most used resources. The largest free amount of each resource alone is not enough: one bin may have
 * much free memory and another one many free cores, and no bin has both.
 *
 * Bench row: karpenter-pods 20,000 takes 1.2 times as long without it.
 */
export type ParetoFront = number[];

/** Whether the front has a pair that is at least as large in both amounts. */
export function reaches(front: ParetoFront, first: number, second: number): boolean {
  for (let i = 0; i < front.length; i += 2) {
    if ((front[i] ?? 0) < first) return false;
    if ((front[i + 1] ?? 0) >= second) return true;
  }
  return false;
}

/** Adds a pair, and removes the pairs that it equals or exceeds. Nothing changes if the front already reaches the pair. */
export function addPair(front: ParetoFront, first: number, second: number): void {
  let at = 0;
  while (at < front.length && (front[at] ?? 0) > first) at += 2;
  // The pair before has a larger first amount. The pair at this place has at most the same one.
  if (at > 0 && (front[at - 1] ?? 0) >= second) return;
  if (front[at] === first && (front[at + 1] ?? 0) >= second) return;
  let end = at;
  while (end < front.length && (front[end + 1] ?? 0) <= second) end += 2;
  replacePairs(front, at, end, first, second);
}

/** Replaces the pairs from `at` up to `end` by one pair. Unlike `splice` it allocates nothing: a plan may add millions of pairs. */
function replacePairs(front: ParetoFront, at: number, end: number, first: number, second: number): void {
  if (end === at) {
    front.push(0, 0);
    for (let i = front.length - 1; i > at + 1; i -= 1) front[i] = front[i - 2] ?? 0;
  } else if (end > at + 2) {
    const shorter = front.length - (end - at - 2);
    for (let i = at + 2; i < shorter; i += 1) front[i] = front[i + (end - at - 2)] ?? 0;
    front.length = shorter;
  }
  front[at] = first;
  front[at + 1] = second;
}
