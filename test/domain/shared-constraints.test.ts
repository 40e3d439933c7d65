import { expect, test } from "vitest";
import type { Constraint } from "../../src/domain/constraint.ts";
import type { JobDemand, SetDemand } from "../../src/domain/demand.ts";
import { memoryOf } from "../../src/domain/demand-memory.ts";
import { shareConstraints } from "../../src/domain/shared-constraints.ts";
import { buildJob } from "../support/build-record.ts";

const cores = (amount: number): Constraint => ({ kind: "amount", resource: "ncpus", amount });
const either = (): Constraint => ({
  kind: "or",
  of: [cores(1), { kind: "property-choice", property: "vm_size", choices: ["a*"] }],
});

const asking = (...lists: readonly (readonly Constraint[])[]): SetDemand => ({
  demands: lists.map((constraints, at) => buildJob(`j${at}`, 1, { constraints })),
  pools: [],
  rejectedJobs: [],
});

const listsOf = ({ demands }: SetDemand) =>
  demands.filter((one): one is JobDemand => one.kind === "job").map(({ constraints }) => constraints);

test("jobs that ask the same share one list, and lists share their constraints", () => {
  const demand = asking([cores(2), either()], [cores(2), either()], [cores(3), either()]);
  const shared = shareConstraints(demand);
  expect(shared).toEqual(demand);
  const [first, second, third] = listsOf(shared);
  expect(second).toBe(first);
  expect(third).not.toBe(first);
  expect(third?.[1]).toBe(first?.[1]);
});

test("what a set needs of memory grows with its distinct constraints, and little with jobs that ask the same", () => {
  const one = memoryOf(shareConstraints(asking([cores(2), either()])));
  const same = memoryOf(shareConstraints(asking(...Array.from({ length: 100 }, () => [cores(2), either()]))));
  const distinct = memoryOf(
    shareConstraints(asking(...Array.from({ length: 100 }, (_, at) => [cores(at + 1), either()]))),
  );
  // Each further job costs 950 bytes and its name; each further list 300, and 250 for its amount.
  expect(same - one).toBeLessThan(99 * 1000);
  expect(distinct - same).toBeGreaterThan(99 * 500);
});
