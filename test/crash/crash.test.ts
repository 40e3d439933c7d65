import { expect, test } from "vitest";
import { runCrash } from "./run-crash.ts";
import { demandMessage } from "./use-cases.ts";

/** The call at which most is at stake. test/deep/crash.deep.ts has every call of every use case, before and after it. */
test("the process dies after its create was sent, another takes over, and the cluster is as if nothing had been", async () => {
  const at = "cyclecloud.create";
  const run = await runCrash(demandMessage, { at, when: "after" });
  expect(run.died).toBe(true);
  // On a busy machine what hands the observation on may run beside it, so it need not be the last one.
  expect(run.calls).toContain(at);
  expect(run.outcome).toEqual(demandMessage.outcome);
});
