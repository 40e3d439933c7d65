import { expect, test } from "vitest";
import { paced, PATIENCE_MS, TIMEOUT_MS } from "../support/patience.ts";
import { lastLine, NOTHING_FOUND, startMain } from "../support/run-main.ts";

/** What a newcomer sees: `npm start -- --stay`, until Ctrl-C in the second workload. */
test("a day, then the real parts with a reason, a remedy and a kill, then a second workload", async () => {
  const speed = paced(60);
  const run = startMain(["--stay", "--json", "--speed", String(speed)]);
  await expect
    .poll(() => run.said(), { interval: 200, timeout: TIMEOUT_MS - PATIENCE_MS })
    .toContain(`\nA second workload: ${40 * speed} jobs in an hour. Ctrl-C ends it.\n`);
  run.signal("SIGINT");
  const { code, stdout } = await run.ended;
  expect(code).toBe(0);
  expect(run.anyLeft()).toBe(false);
  const inOrder = [
    /^page of the live run: http:\/\/127\.0\.0\.1:\d+\/api\/page#key=[0-9a-f]{64}$/m,
    /^A day on a virtual clock: 120 jobs by day, a quiet night, 64 nodes in two arrays\.$/m,
    /^ 4:00 h {2}nodes \.{32} {2}0 {2}jobs +0 running, 0 waiting, 0 done$/m,
    /^jobs {10}120 of 120 completed$/m,
    /^always on .* saved \d+ %; jobs waited \d+ s longer on average$/m,
    /^Now the real parts: 40 jobs in two bursts on 16 nodes/m,
    /^ {10}why jobs wait: node array execute: 16 of 16 nodes used, \d+ more needed, 0 left$/m,
    /^ {12}\| .*more nodes? of node array execute.* would place all of it$/m,
    /^ {10}killing the function app now: /m,
    /^ {10}the function app has ended \(SIGKILL\); it is started again in 1 s$/m,
    /^ {10}the function app runs again \(process \d+, started again 1 time\)$/m,
    /^killed {8}the function app, once: 0 jobs lost, 0 nodes made beyond demand$/m,
    /^stopped; nothing is left running$/m,
  ].map((line) => stdout.search(line));
  expect(inOrder).not.toContain(-1);
  expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
  expect(stdout).not.toMatch(/bound|distortion|^messages/m);
  const figures = stdout.slice(0, stdout.indexOf("\n\nA second workload"));
  expect(lastLine({ stdout: figures })).toMatchObject({
    jobsCompleted: 40,
    mostLiveNodes: 16,
    ...NOTHING_FOUND,
  });
});
