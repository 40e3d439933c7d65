import type { Constraint } from "../../src/domain/constraint.ts";
import type { JobDemand, Pool } from "../../src/domain/demand.ts";
import type { Policy } from "../../src/domain/policy.ts";
import type { SetScenario } from "./build-record.ts";
import { buildJob } from "./build-record.ts";

/*
 * Short forms for the jobs and constraints of hostile clusters.
 */

/** Demand within the bounds of the doors that is as expensive to plan as any: a hostile or a broken sender may send it. */
export interface HostileCluster {
  readonly name: string;
  readonly sets: () => Readonly<Record<string, SetScenario>>;
  readonly pools?: readonly Pool[];
  /** Keys that differ from the default policy. */
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

/** A shell pattern of about this length with as many wildcards as fit. No name matches its end. */
export const pattern = (index: number, length: number): string => `*${"a*".repeat(length / 2)}${index}zz`;
