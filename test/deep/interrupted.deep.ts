import { expect, test } from "vitest";
import { PATIENCE_MS } from "../support/patience.ts";
import { npmStart } from "../support/run-main.ts";

test("Ctrl-C under npm ends the run, says so, and leaves no process behind", async () => {
  const run = npmStart(["--jobs", "200"]);
  await expect
    .poll(() => run.said(), { interval: 50, timeout: PATIENCE_MS })
    .toContain("page of the run: http://127.0.0.1:");
  expect(run.anyLeft()).toBe(true);
  run.signal("SIGINT");
  const { stdout } = await run.ended;
  expect(stdout).toMatch(/interrupted at 0:\d\d h: \d+ of 200 jobs done; nothing is left running\n/);
  expect(run.anyLeft()).toBe(false);
});
