import { expect } from "vitest";
import { IS_DEEP } from "../property/runs.ts";
import type { Cluster, Fields } from "./clusters.ts";
import { CLUSTERS } from "./clusters.ts";
import type { Try } from "./inputs.ts";
import { judge } from "./judge.ts";
import type { Mode } from "../support/modes.ts";
import { MODES } from "../support/modes.ts";
import { tryOut } from "./try-out.ts";

/** Maximum number of faults that are shown of one try. More of them add nothing. */
const SHOWN = 8;

/**
 * Expects that one message breaks no rule on any cluster. In `npm test` on every second cluster, on each in another mode, by its position
 * among the tries; in `npm run test:deep` on all of them in every mode.
 */
export function expectNoFaults(
  one: Try & { readonly config?: Fields },
  at: number,
  clusters: readonly Cluster[] = CLUSTERS,
): void {
  const faults = clusters.flatMap((cluster, index) =>
    IS_DEEP || (at + index) % 2 === 0 ? faultsOf(one, cluster, modesAt(Math.floor(at / 2) + index)) : [],
  );
  expect(faults.slice(0, SHOWN)).toEqual([]);
}

/** A try and its position, so that one after the other is made in another mode. */
export const numbered = <T extends { readonly name: string }>(one: T, at: number) => ({
  name: one.name,
  one,
  at,
});

/** All modes in `npm run test:deep`, else one of them. */
export const modesAt = (at: number): readonly Mode[] =>
  MODES.filter((_, mode) => IS_DEEP || mode === at % MODES.length);

export function faultsOf(
  { message, config = {}, refused = false }: Try & { readonly config?: Fields },
  cluster: Cluster,
  modes: readonly Mode[],
): readonly string[] {
  return modes.flatMap((mode) => {
    const tried = tryOut(cluster, mode, message, config);
    const where = `${cluster.name}, ${mode.preference}, ${mode.among}`;
    const isRefused = tried.problems.length > 0;
    const door = isRefused === refused ? [] : [`refused: ${JSON.stringify(tried.problems)}`];
    return [...door, ...judge(tried, mode)].map((fault) => `${where}: ${fault}`);
  });
}
