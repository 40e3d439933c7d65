/**
 * Clusters and jobs of the vectors in new combinations, which no vector was chosen for. The naive first fit, which shares no code with the
 * engine, says how many slots each job gets of which bucket. Another seed for other combinations: MIX_SEED=7 npm run unit --
 * test/conformance/mixed
 */
import { describe, expect, test } from "vitest";
import { DATA, readText } from "../support/data.ts";
import { fieldsOf, listOf, readFacts, readOutcome } from "./allocator-case.ts";
import { answerAllocator } from "./answer-allocator.ts";
import { findFaults } from "./checkers.ts";
import type { Json } from "./compare.ts";
import { textOf } from "./compare.ts";
import { mixCases } from "./mix.ts";
import { naiveFirstFit } from "./naive-first-fit.ts";
import { readNaiveWorld } from "./naive-world.ts";
import { readCases, SUITES } from "./suites.ts";
import type { VectorCase } from "./vector-case.ts";

const readJson = (path: string): Json => JSON.parse(readText(`${DATA}vectors/${path}.gz`));

const FIRST_SEED = Number(process.env["MIX_SEED"] ?? 1);
const MIXES = process.env["DEEP"] === undefined ? 80 : 20_000;

describe("mixed vectors", () => {
  test(`${MIXES} mixes from seed ${FIRST_SEED}: every job gets of each bucket what a naive first fit gives it`, () => {
    const vmSizes = readJson("vm_sizes.json");
    const cases = SUITES.filter(({ name }) => /^allocator\/(?!raises)/.test(name)).flatMap(({ name }) =>
      readCases(readJson(`${name}.json`)),
    );
    let placed = 0;
    for (let seed = FIRST_SEED; seed < FIRST_SEED + MIXES; seed += 1) {
      const mixed = mixCases(cases, seed);
      const answer = answerAllocator(mixed, { vmSizes });
      expect(findFaults(mixed, answer, { vmSizes }), mixed.name).toEqual([]);
      const [ours, naive] = [slotsIn(answer), naively(mixed, answer, vmSizes)];
      if (naive === undefined) continue;
      expect(ours, mixed.name).toEqual(naive);
      placed += ours.flatMap((job) => Object.values(job)).length;
    }
    // They are not about nothing: as a rule several jobs of each find their place.
    expect(placed).toBeGreaterThan(2 * MIXES);
  }, 600_000);
});

type Slots = Readonly<Record<string, number>>;

/** Of each job: slots (or nodes) by bucket. */
function slotsIn(answer: Json): readonly Slots[] {
  return listOf(fieldsOf(answer)["jobs"]).map((job) =>
    sum(
      listOf(fieldsOf(job)["by_bucket"]).map((row) => [
        textOf(fieldsOf(row)["bucket"]),
        Number(fieldsOf(row)["slots"]),
      ]),
    ),
  );
}

/** Undefined: the library would not read the configuration. */
function naively(mixed: VectorCase, answer: Json, vmSizes: Json): readonly Slots[] | undefined {
  const facts = readFacts(mixed);
  const world = readNaiveWorld(mixed, facts, { vmSizes });
  if (world === undefined) return undefined;
  const outcome = readOutcome(answer);
  const readable = facts.jobs.map((_, i) => outcome.jobs[i]?.refused !== true);
  // A host that only the scheduler knows has a bucket of its own there, and all of them one name in the answer.
  const named = (bucket: string): string => (bucket.startsWith("host ") ? "unknown/unknown" : bucket);
  return naiveFirstFit(world, readable).map((job) =>
    sum([...job].map(([bucket, slots]) => [named(bucket), slots])),
  );
}

function sum(rows: readonly (readonly [bucket: string, slots: number])[]): Slots {
  const slots: Record<string, number> = {};
  for (const [bucket, more] of rows) slots[bucket] = (slots[bucket] ?? 0) + more;
  return slots;
}
