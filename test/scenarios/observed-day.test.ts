import { expect, test } from "vitest";
import { nodeSecondsByLook } from "./count-real.ts";
import { judgeObserved } from "./judge-observed.ts";
import { looksOf, observeFor, twoArrays } from "./observed-time.ts";
import { OtherAutoscaler } from "./other-autoscaler.ts";
import { Stage } from "./stage.ts";

const HOUR = 3600;

test("eight hours beside another autoscaler: nothing is changed by us, and both fleets' totals are what the events say", async () => {
  const stage = new Stage({ simulator: twoArrays(), policy: { mode: "observe" } });
  const waves = [
    { atMinute: 10, jobs: 5, minutes: 60 },
    { atMinute: 240, jobs: 12, minutes: 30 },
  ];
  stage.join(new OtherAutoscaler(stage, { array: "execute", set: "other", waves, keepMinutes: 90 }));
  await stage.pass(8 * HOUR);
  expect(stage.sent.filter(({ method }) => method !== "GET")).toEqual([]);

  const { days, observing } = await stage.comparison("demo");
  expect(observing.map(({ nodearray }) => nodearray)).toEqual(["execute", "second"]);
  const [execute, second] = days[0]?.nodearrays ?? [];
  expect(days).toHaveLength(1);
  expect(second).toMatchObject({ real: { nodeHours: 0, boots: 0 }, virtual: { nodeHours: 0, boots: 0 } });
  // Counted from the simulator's events, at the times of the app's observations.
  const real = nodeSecondsByLook(stage.simulator.log, "execute", looksOf(stage)) / HOUR;
  expect(execute?.real.nodeHours).toBeCloseTo(real, 2);
  expect(execute?.real).toMatchObject({ peakNodes: 12, boots: 17 });
  expect(execute?.virtual).toMatchObject({ peakNodes: 12, boots: 17 });
  // By hand: 5 nodes from 00:10:30 to 01:18 and 12 from 04:00:30 to 04:38, when the idle timeout is over: 787.5 minutes.
  expect(execute?.virtual.nodeHours).toBe(13.13);
  expect(execute?.differences[0]?.text).toBe(
    "12 nodes idle for 1.4 h from 04:38 (16.6 node-hours). They would have been stopped at 04:38: no job needed them",
  );
});

// A week of three other seeds: test/deep/observed-week.deep.ts.
test("nine and a half hours beside another autoscaler, with one array switched to act in the middle: both fleets' totals equal an independent count, and only that array is ours", async () => {
  await judgeObserved(await observeFor(0.4, 5));
});
