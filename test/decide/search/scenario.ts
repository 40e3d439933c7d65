import { expect } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import type { Allocation, AllocationPolicy } from "../../../src/domain/allocation.ts";
import type { BucketOffer, World } from "../../../src/domain/world.ts";
import type { Constraint } from "../../../src/domain/constraint.ts";
import type { RankedDemand } from "../../../src/domain/demand.ts";
import { arrayName } from "../../../src/domain/ids.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import { bucketText } from "../../../src/domain/bucket.ts";
import { inArrays, needing } from "../../support/build-constraints.ts";
import { limit, now, offer, plenty, policy, world } from "../../support/build-world.ts";

/** An allocation in a readable form. */
export function shown(answer: Allocation) {
  return {
    creates: answer.creates.map((create) => `${create.count} x ${bucketText(create.bucket)}`),
    needed: [...answer.needed].map(([id, by]) => `${id}: ${by.join(" ")}`).sort(),
    placed: answer.outcomes.map(
      ({ id, placed, pending, asked }) => `${id} ${placed}/${asked} (${pending} pending)`,
    ),
    reasons: answer.outcomes.flatMap(({ reasons }) => reasons.map(renderReason)),
  };
}

export const hb = (more: Partial<BucketOffer> = {}) =>
  offer("mpi/HB120", 120, { 0: 1, 1: 120 }, { maxPlacementGroupSize: 4, ...more });
export const mpiArrays: World["arrays"] = new Map([[arrayName("mpi"), "managed"]]);
export const mpi = (more: Partial<World> = {}): World =>
  world({
    buckets: [hb()],
    limits: [plenty, limit("family-quota", "standardHBv3Family", "cores", 0, 1200)],
    arrays: mpiArrays,
    ...more,
  });
export const inMpi = { constraints: [...needing({ ncpus: 1 }), inArrays("mpi")] };

export interface Scenario {
  readonly name: string;
  readonly world: World;
  readonly demands: readonly RankedDemand[];
  readonly creates?: readonly string[];
  readonly needed?: readonly string[];
  readonly placed: readonly string[];
  readonly reasons?: readonly string[];
  readonly among?: AllocationPolicy["among"];
}

export function check(scenario: Scenario): void {
  const { world, demands, creates = [], needed = [], placed, reasons = [], among = "priority" } = scenario;
  expect(shown(allocate(world, demands, { ...policy, among }, now))).toEqual({
    creates,
    needed,
    placed,
    reasons,
  });
}

export const cpus = (amount: number): Constraint => ({ kind: "amount", resource: "ncpus", amount });
export const inAGroup: Constraint = { kind: "in-a-placement-group", wanted: true };
