import { expect } from "vitest";
import type { Cluster, Fields } from "./clusters.ts";
import { CLUSTERS } from "./clusters.ts";
import type { Try } from "./inputs.ts";
import { judge } from "./judge.ts";
import type { Mode } from "../support/modes.ts";
import { MODES } from "../support/modes.ts";
import { tryOut } from "./try-out.ts";

/** Maximum number of faults that are shown of one try. More of them add nothing. */
const SHOWN = 8;

/** Tries one message on every cluster in every mode, and expects that no rule is broken. */
export function expectNoFaults(
  one: Try & { readonly config?: Fields },
  clusters: readonly Cluster[] = CLUSTERS,
): void {
  expect(faultsOf(one, clusters).slice(0, SHOWN)).toEqual([]);
}

export function faultsOf(
  { message, config = {}, refused = false }: Try & { readonly config?: Fields },
  clusters: readonly Cluster[] = CLUSTERS,
  modes: readonly Mode[] = MODES,
): readonly string[] {
  return clusters.flatMap((cluster) =>
    modes.flatMap((mode) => {
      const tried = tryOut(cluster, mode, message, config);
      const where = `${cluster.name}, ${mode.preference}, ${mode.among}`;
      const isRefused = tried.problems.length > 0;
      const door = isRefused === refused ? [] : [`refused: ${JSON.stringify(tried.problems)}`];
      return [...door, ...judge(tried, mode)].map((fault) => `${where}: ${fault}`);
    }),
  );
}
