/** Every key of a job, every kind of constraint and every attribute alone, on three clusters in every mode (see judge.ts). */
import { expect, test } from "vitest";
import { JOB_KEYS } from "../../src/wire/job.ts";
import { judge } from "./judge.ts";
import { KNOWN_FAULTS } from "./known-faults.ts";
import { JOB_TRIES, KIND_TRIES } from "./inputs.ts";
import { NODEARRAY_TRIES, PROPERTY_TRIES } from "./property-tries.ts";
import { expectNoFaults } from "./try-all.ts";
import { tryOut } from "./try-out.ts";

test.each(JOB_TRIES)("a job with $name", (one) => expectNoFaults(one));
test.each(KIND_TRIES)("a job with one constraint: $name", (one) => expectNoFaults(one));
test.each(PROPERTY_TRIES)("a job that asks for $name", (one) => expectNoFaults(one));
test.each(NODEARRAY_TRIES)("a target for $name", (one) => expectNoFaults(one));

test("each key that a job may have is tried", () => {
  const tried = JSON.stringify(JOB_TRIES);
  expect([...JOB_KEYS].filter((key) => !tried.includes(`"${key}"`))).toEqual([]);
});

test.each(KNOWN_FAULTS)("known, and still there: $what", ({ example: { cluster, mode, message }, isIt }) => {
  if (cluster === undefined) throw new Error("there is no such cluster");
  const faults = judge(tryOut(cluster, mode, message), mode);
  expect(faults.filter((fault) => isIt(fault, cluster, mode))).not.toEqual([]);
});
