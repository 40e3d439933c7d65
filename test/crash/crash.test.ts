import { describe, expect, test, vi } from "vitest";
import { runCrash } from "./run-crash.ts";
import type { Crash } from "./scene.ts";
import type { UseCase } from "./use-cases.ts";
import { callback, demandMessage, tick } from "./use-cases.ts";

// Most of a run is waiting for leases, ticks and messages that come back, so all run side by side.
vi.setConfig({ maxConcurrency: 3 });

interface Case extends Crash {
  readonly useCase: UseCase;
}

/** A call of each use case at which most is at stake; test/deep/crash.deep.ts has every one. */
describe.concurrent("the process dies, another takes over, and the cluster is as if nothing had been", () => {
  test.each<Case>([
    { useCase: demandMessage, at: "cyclecloud.create", when: "after" },
    { useCase: tick, at: "cyclecloud.terminate", when: "after" },
    { useCase: callback, at: "cyclecloud.terminate", when: "before" },
  ])("$useCase.name, $when $at", async ({ useCase, at, when }) => {
    const run = await runCrash(useCase, { at, when });
    expect(run.died).toBe(true);
    // On a busy machine what hands the observation on may run beside it, so it need not be the last one.
    expect(run.calls).toContain(at);
    expect(run.outcome).toEqual(useCase.outcome);
  });
});
