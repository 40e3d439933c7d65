import type { Constraint } from "../../src/domain/constraint.ts";
import type { JobDemand, Pool } from "../../src/domain/demand.ts";
import type { Policy } from "../../src/domain/policy.ts";
import type { SetScenario } from "./build-record.ts";
import { buildJob } from "./build-record.ts";

/*
 * Jobs and amounts of hostile clusters, in few words.
 */

/** Demand within the bounds of the doors that is as dear to plan as any: what a hostile sender, or a broken one, may bring. */
export interface HostileCluster {
  readonly name: string;
  readonly sets: () => Readonly<Record<string, SetScenario>>;
  readonly pools?: readonly Pool[];
  /** What differs from the default. */
  readonly policy?: Partial<Policy>;
}

export const amount = (ncpus: number, resource = "ncpus"): Constraint => ({
  kind: "amount",
  resource,
  amount: ncpus,
});

export const choice = (
  property: "vm_size" | "nodearray" | "hostname",
  ...choices: readonly string[]
): Constraint => ({
  kind: "property-choice",
  property,
  choices,
});

export const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => make(i));

type More = Partial<JobDemand>;

export function jobs(
  count: number,
  iterations: number,
  more: (index: number) => More,
): () => Record<string, SetScenario> {
  return () => ({
    evil: { demands: times(count, (i) => buildJob(`j${i}`, iterations, { position: i, ...more(i) })) },
  });
}

/** Ends in something that no name has, after as many choices of a character as a text may have. */
export const pattern = (index: number, length: number): string => `*${"a*".repeat(length / 2)}${index}zz`;
