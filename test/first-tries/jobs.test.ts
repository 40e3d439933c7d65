/** Every key of a job, every kind of constraint and every attribute alone, on three clusters in every mode (see judge.ts). */
import { expect, test } from "vitest";
import { JOB_KEYS } from "../../src/wire/message/job.ts";
import { JOB_TRIES, KIND_TRIES } from "./inputs.ts";
import { NODEARRAY_TRIES, PROPERTY_TRIES } from "./property-tries.ts";
import { expectNoFaults } from "./try-all.ts";

test.each(JOB_TRIES)("a job with $name", (one) => expectNoFaults(one));
test.each(KIND_TRIES)("a job with one constraint: $name", (one) => expectNoFaults(one));
test.each(PROPERTY_TRIES)("a job that asks for $name", (one) => expectNoFaults(one));
test.each(NODEARRAY_TRIES)("a target for $name", (one) => expectNoFaults(one));

test("each key that a job may have is tried", () => {
  const tried = JSON.stringify(JOB_TRIES);
  expect([...JOB_KEYS].filter((key) => !tried.includes(`"${key}"`))).toEqual([]);
});

test("with cheapest the raise that a target lacks is of the bucket that would get it", () => {
  expectNoFaults({ name: "60 cores", message: { nodearrays: [{ Name: "execute", TargetCoreCount: 60 }] } });
});
