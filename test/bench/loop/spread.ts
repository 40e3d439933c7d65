/** Where a sample lies: nearest-rank percentiles, in the unit of its values. */
export interface Spread {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** Undefined: there is no value. With fewer than 100 values p99 is the largest. */
export function spreadOf(values: readonly number[]): Spread | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const max = sorted.at(-1);
  if (max === undefined) return undefined;
  const rank = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? max;
  return { count: sorted.length, p50: rank(0.5), p90: rank(0.9), p99: rank(0.99), max };
}
