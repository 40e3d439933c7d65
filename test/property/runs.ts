import { TIMEOUT_MS } from "../support/patience.ts";

/**
 * How often a property is tried, and with which seed. `npm test` always tries the same 25 worlds, so that it does not depend on luck.
 * `npm run test:deep` (it sets DEEP) tries 10,000 others each time and prints its seed.
 *
 * To replay a failure, give the seed that was printed:        PROPERTY_SEED=123 npm run unit -- test/property/allocate.test.ts
 * and, to see only the world that failed, fast-check's path:  PROPERTY_SEED=123 PROPERTY_PATH=14:0:2 npm run unit -- ... -t "P3"
 * With DEEP=1 in front where the failure is beyond the 25th world.
 */
export interface Runs {
  readonly numRuns: number;
  readonly seed: number;
  readonly path?: string;
}

/** The long runs are on. */
export const IS_DEEP = process.env["DEEP"] !== undefined;

/** Ten thousand worlds take minutes. */
export const TIMEOUT = IS_DEEP ? 3_600_000 : TIMEOUT_MS;

/** How often, and from which seed: `fixed` in `npm test`, another one each time in the deep runs, or the one that is to be replayed. */
export function runsOf(
  fixed: number,
  numbers: { readonly usual?: number; readonly deep?: number } = {},
): Runs {
  const { usual = 25, deep = 10_000 } = numbers;
  const replayed = process.env["PROPERTY_SEED"];
  const path = process.env["PROPERTY_PATH"];
  const drawn = IS_DEEP ? Date.now() % 2 ** 31 : fixed;
  const seed = replayed === undefined ? drawn : Number(replayed);
  if (IS_DEEP) process.stdout.write(`property: seed ${seed}, replay with PROPERTY_SEED=${seed}\n`);
  return { numRuns: IS_DEEP ? deep : usual, seed, ...(path === undefined ? {} : { path }) };
}
