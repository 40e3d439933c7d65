import { isDeepStrictEqual } from "node:util";
import { expect, test, vi } from "vitest";
import { runCrash } from "../crash/run-crash.ts";
import type { Crash } from "../crash/scene.ts";
import type { UseCase } from "../crash/use-cases.ts";
import { useCases } from "../crash/use-cases.ts";

vi.setConfig({ testTimeout: 60 * 60_000 });

/** Most of a run is waiting for leases, ticks and messages that come back. */
const SIDE_BY_SIDE = 4;
/** As many port calls a run may have more than another one: another look at the record, or a message that comes in between. */
const MORE_CALLS = 2;

test.each(useCases)("$name, undisturbed", async (useCase) => {
  const run = await runCrash(useCase);
  expect(run.died).toBe(false);
  expect(run.outcome).toEqual(useCase.outcome);
});

interface Series {
  readonly useCase: UseCase;
  readonly when: Crash["when"];
}

const series: readonly Series[] = useCases.flatMap((useCase) => [
  { useCase, when: "before" },
  { useCase, when: "after" },
]);

test.each(series)("$useCase.name: dying $when any port call changes nothing", async ({ useCase, when }) => {
  const began = Date.now();
  const { calls } = await runCrash(useCase);
  const crashes = await crashEverywhere(useCase, when, calls.length);
  const died = crashes.filter((crash) => crash.died);
  const seconds = Math.round((Date.now() - began) / 1000);
  process.stdout.write(
    `${useCase.name}: died ${when} each of its ${died.length} port calls (${seconds} s)\n`,
  );
  expect(crashes.filter(({ difference }) => difference !== undefined)).toEqual([]);
  // No call was left out: it died at each of them. How many there are differs a little from run to run, and the answer may leave before the last one ends.
  const lived = crashes.filter((crash) => !crash.died).map(({ at }) => Number(at));
  expect(Math.min(...lived) - 1).toBeGreaterThanOrEqual(calls.length - MORE_CALLS);
});

interface Crashed extends Crash {
  readonly died: boolean;
  /** The call that it died at. */
  readonly call: string | undefined;
  readonly difference: unknown;
}

/** Crashes at each call, several side by side, until one is beyond the last call. `known`: how many calls there are without a crash. */
async function crashEverywhere(
  useCase: UseCase,
  when: Crash["when"],
  known: number,
): Promise<readonly Crashed[]> {
  const crashes: Crashed[] = [];
  for (let first = 1; crashes.every(({ died }) => died); first += SIDE_BY_SIDE) {
    const numbers = Array.from({ length: SIDE_BY_SIDE }, (_, index) => first + index);
    const batch = await Promise.all(numbers.map((at) => crashAt(useCase, { at, when })));
    for (const crash of batch) {
      // On a busy machine an observation can get too old to act on, and the use case is over sooner: once more, alone.
      const isEarly = !crash.died && crash.difference === undefined && Number(crash.at) <= known;
      crashes.push(isEarly ? await crashAt(useCase, crash) : crash);
    }
  }
  return crashes;
}

async function crashAt(useCase: UseCase, crash: Crash): Promise<Crashed> {
  const { died, calls, outcome, lines } = await runCrash(useCase, crash);
  const difference = isDeepStrictEqual(outcome, useCase.outcome) ? undefined : { outcome, lines };
  return { ...crash, died, call: calls.at(-1), difference };
}
