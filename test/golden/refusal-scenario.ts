import { expect } from "vitest";
import { allocate } from "../../src/decide/search/allocate.ts";
import type { World } from "../../src/domain/world.ts";
import { renderRemedy } from "../../src/domain/remedy.ts";
import type { JobDemand, RankedDemand } from "../../src/domain/demand.ts";
import { renderReason } from "../../src/domain/reason-text.ts";
import { readConstraints } from "../../src/wire/constraint/constraint.ts";
import { NOW } from "./small-world.ts";
import { newNotes } from "../../src/wire/json/problems.ts";

/*
 * What an operator reads about an unmet demand: the limit, its numbers, and the smallest change that helps. Worked out by hand.
 */

export const policy = {
  groupPrefix: "pg-",
  groupFillSeconds: 600,
  preference: "existing-first",
  among: "priority",
} as const;

export interface Golden {
  readonly name: string;
  readonly world: World;
  readonly demand: RankedDemand;
  readonly others?: readonly RankedDemand[];
  /** "placed of asked". */
  readonly placed: string;
  readonly reasons: readonly string[];
  readonly binding?: string;
}

/** Constraints in the JSON form of a job. */
export function asking(...json: readonly object[]): Partial<JobDemand> {
  return { constraints: readConstraints(json, "", newNotes()) };
}

/** Expects exactly the texts of the golden case. */
export function check(golden: Golden): void {
  const { demand, others = [] } = golden;
  const answer = allocate(golden.world, [demand, ...others], policy, NOW);
  const outcome = answer.outcomes.find(({ id }) => id === demand.demand.id);
  expect({
    placed: `${outcome?.placed} of ${outcome?.asked}`,
    reasons: outcome?.reasons.map(renderReason),
    binding: outcome?.binding === undefined ? undefined : renderRemedy(outcome.binding),
  }).toEqual({ placed: golden.placed, reasons: golden.reasons, binding: golden.binding });
}
