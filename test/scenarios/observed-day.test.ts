import { expect, test } from "vitest";
import { arrayName } from "../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import { MACHINE_TYPES, QUICK } from "./clusters.ts";
import { nodeSecondsAt, OtherAutoscaler } from "./other-autoscaler.ts";
import { Stage } from "./stage.ts";

const HOUR = 3600;
const EXECUTE = arrayName("execute");
const SECOND = arrayName("second");

function twoArrays(): SimulatorOptions {
  const array = { region: "westeurope", machineTypes: ["Standard_F4s_v2"], maxCount: 100 };
  return {
    clusters: [
      {
        name: "demo",
        maxCount: 1000,
        maxCoreCount: 4000,
        arrays: [
          { name: "execute", ...array },
          { name: "second", ...array },
        ],
      },
    ],
    machineTypes: MACHINE_TYPES,
    timings: QUICK,
  };
}

/** Moments of our looks: the other autoscaler asks for no status. */
const looksOf = (stage: Stage): readonly number[] => stage.eventsOf("status-read").map(({ at }) => at);

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
  // Counted from the simulator's events, at the moments of our looks.
  const real = nodeSecondsAt(stage, "execute", looksOf(stage)) / HOUR;
  expect(execute?.real.nodeHours).toBeCloseTo(real, 2);
  expect(execute?.real).toMatchObject({ peakNodes: 12, boots: 17 });
  expect(execute?.virtual).toMatchObject({ peakNodes: 12, boots: 17 });
  // By hand: 5 nodes from 00:10:30 to 01:18 and 12 from 04:00:30 to 04:38, when the idle timeout is over: 787.5 minutes.
  expect(execute?.virtual.nodeHours).toBe(13.13);
  expect(execute?.differences[0]?.text).toBe(
    "12 nodes idle for 1.4 h (16.6 node-hours) from 04:38 on that would have been stopped at 04:38: nobody needed them",
  );
});

test("an array that is switched to act in the middle is ours from then on, and only that one", async () => {
  const stage = new Stage({ simulator: twoArrays(), policy: { mode: "observe" } });
  const waves = [
    { atMinute: 10, jobs: 4, minutes: 30 },
    { atMinute: 150, jobs: 4, minutes: 30 },
  ];
  const ofExecute = new OtherAutoscaler(stage, { array: "execute", set: "one", waves, keepMinutes: 60 });
  const ofSecond = new OtherAutoscaler(stage, { array: "second", set: "two", waves, keepMinutes: 60 });
  stage.join(ofExecute);
  stage.join(ofSecond);
  await stage.pass(2 * HOUR);
  const ours = () =>
    stage.sent.flatMap(({ method, body }) => (method === "GET" ? [] : [JSON.stringify(body)]));
  expect(ours()).toEqual([]);
  ofSecond.retire();
  stage.configure({ ...DEFAULT_POLICY, mode: "observe", arrayModes: new Map([[SECOND, "act"]]) });
  await stage.pass(2 * HOUR);
  expect(ours().length).toBeGreaterThan(0);
  const created = stage.eventsOf("create-accepted").map(({ requestId }) => requestId ?? "");
  const nodes = stage.eventsOf("node-created").filter(({ requestId = "" }) => !/^(one|two)-/.test(requestId));
  expect(created.length).toBeGreaterThan(0);
  expect(nodes.map(({ array }) => array)).toEqual(["second", "second", "second", "second"]);
  const { observing } = await stage.comparison("demo");
  expect(observing.map(({ nodearray }) => nodearray)).toEqual([EXECUTE]);
});
