import { expect, test } from "vitest";
import { lastLine, NOTHING_FOUND, runMain } from "../support/run-main.ts";
import { paced } from "../support/patience.ts";

test("three jobs run through host, queue, tables and HTTP", async () => {
  // At twice the speed the limits of calls to storage are too short, and the nodes ask in vain to stop.
  const speed = paced(120);
  const ended = await runMain("--jobs", "3", "--speed", String(speed), "--json", "--verbose");
  expect(ended).toMatchObject({ code: 0 });
  expect(lastLine(ended)).toMatchObject({ jobsSubmitted: 3, jobsCompleted: 3, ...NOTHING_FOUND });
  expect(ended.stdout).toMatch(/^distortion {4}from a push to the create it led to, 95 % within \d+ ms x /m);
  expect(ended.stdout).toContain(` ms x ${speed} = `);
  // Not on a terminal: plain lines, the first at once.
  expect(ended.stderr).toMatch(/^0:00 h {2}jobs: .* of 3 done {2}nodes: none {2}cost: 0\.00 USD$/m);
});
