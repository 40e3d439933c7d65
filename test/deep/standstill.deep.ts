import { expect, test } from "vitest";
import { MUTANTS, playMutant } from "../scenarios/mutants-standstill.ts";
import type { Standstill } from "../scenarios/standstill-stage.ts";
import { playCreate, playStop } from "../scenarios/standstill-stage.ts";

/** CycleCloud stands still for 60 to 600 s and goes on (docs/protocol.md, Standstills), and a mutant for each rule. */

const PHASES = [0, 12, 24, 36, 48];
const LENGTHS = [60, 110, 140, 200, 300, 600];

const cases: readonly (Omit<Standstill, "seconds" | "phase"> & { readonly name: string })[] = [
  { name: "a limit of 60 s" },
  { name: "a limit of 10 s", callLimitSeconds: 10 },
  { name: "a limit of 90 s", callLimitSeconds: 90 },
  { name: "changes 40 s late", lateSeconds: 40 },
  { name: "a CycleCloud that always takes 40 s", callSeconds: 40 },
];

test.each(cases)(
  "$name: no open node is stopped, none stays closed, none is made twice",
  async (how) => {
    const seen: unknown[] = [];
    for (const seconds of LENGTHS)
      for (const phase of PHASES) {
        const standstill = { ...how, seconds, phase };
        const created = await playCreate(standstill);
        seen.push({ seconds, phase, ...(await playStop(standstill)), created });
      }
    const wanted = { open: 0, closed: 0, created: 25 };
    expect(seen).toEqual(
      LENGTHS.flatMap((seconds) => PHASES.map((phase) => ({ seconds, phase, ...wanted }))),
    );
  },
  1_800_000,
);

test.each(MUTANTS)(
  "found out: $name",
  async (mutant) => {
    expect(await playMutant(mutant)).toBeGreaterThan(0);
  },
  1_800_000,
);
