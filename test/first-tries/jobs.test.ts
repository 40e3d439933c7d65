/** Every key of a job, every kind of constraint and every attribute alone, on three clusters (see try-all.ts and judge.ts). */
import { expect, test } from "vitest";
import { JOB_KEYS } from "../../src/wire/message/job.ts";
import { MODES } from "../support/modes.ts";
import { CLUSTERS } from "./clusters.ts";
import { JOB_TRIES, KIND_TRIES } from "./inputs.ts";
import { NODEARRAY_TRIES, PROPERTY_TRIES } from "./property-tries.ts";
import { expectNoFaults, faultsOf, numbered } from "./try-all.ts";

test.each(JOB_TRIES.map(numbered))("a job with $name", ({ one, at }) => expectNoFaults(one, at));
test.each(KIND_TRIES.map(numbered))("a job with one constraint: $name", ({ one, at }) =>
  expectNoFaults(one, at),
);
test.each(PROPERTY_TRIES.map(numbered))("a job that asks for $name", ({ one, at }) =>
  expectNoFaults(one, at),
);
test.each(NODEARRAY_TRIES.map(numbered))("a target for $name", ({ one, at }) => expectNoFaults(one, at));

test("each key that a job may have is tried", () => {
  const tried = JSON.stringify(JOB_TRIES);
  expect([...JOB_KEYS].filter((key) => !tried.includes(`"${key}"`))).toEqual([]);
});

test("with cheapest the raise that a target lacks is of the bucket that would get it", () => {
  const message = { nodearrays: [{ Name: "execute", TargetCoreCount: 60 }] };
  const cheapest = MODES.filter(({ among }) => among === "cheapest");
  expect(CLUSTERS.flatMap((cluster) => faultsOf({ name: "60 cores", message }, cluster, cheapest))).toEqual(
    [],
  );
});
