/**
 * Clusters and jobs of the vectors in new combinations, which no vector was chosen for: our whole answer is the reference engine's, which
 * shares no code with the product. Another seed for other combinations: MIX_SEED=7 npm run unit -- test/conformance/mixed
 */
import { expect, test } from "vitest";
import { answerAllocator } from "./answer-allocator.ts";
import { fieldsOf, listOf } from "./compare.ts";
import { mixCases } from "./mix.ts";
import { RECORDED_CASES, VM_SIZES } from "./recorded.ts";
import { expectedOf } from "./reference.ts";
import { allocations } from "./suites.ts";

const FIRST_SEED = Number(process.env["MIX_SEED"] ?? 1);
const MIXES = process.env["DEEP"] === undefined ? 80 : 20_000;

test(`${MIXES} mixes of vectors from seed ${FIRST_SEED}: our answer is that of the reference engine`, () => {
  let placed = 0;
  for (let seed = FIRST_SEED; seed < FIRST_SEED + MIXES; seed += 1) {
    const mixed = mixCases(RECORDED_CASES, seed);
    const answer = answerAllocator(mixed, { vmSizes: VM_SIZES });
    expect(allocations(expectedOf(mixed, { vmSizes: VM_SIZES }), answer), mixed.name).toEqual([]);
    const jobs = listOf(fieldsOf(answer)["jobs"]).map(fieldsOf);
    placed += jobs.filter((job) => job["status"] === "success").length;
  }
  // They are not about nothing: as a rule several jobs of each find their place.
  expect(placed).toBeGreaterThan(2 * MIXES);
}, 600_000);
