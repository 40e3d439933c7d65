import { expect } from "vitest";
import { nodeSecondsByLook } from "./count-real.ts";
import type { Judged, ObservedTime } from "./observed-time.ts";
import { looksOf } from "./observed-time.ts";
import type { Stage } from "./stage.ts";

/** Fails unless no node of an observed array was changed, and the totals of both fleets agree with the independent counts. */
export async function judgeObserved(observed: ObservedTime): Promise<void> {
  const { stage, switchedAt, waiting, execute, second } = observed;
  judgeChanges(stage, switchedAt);
  judgeTotals(execute, looksOf(stage), "execute", stage);
  const before = looksOf(stage).filter((at) => at <= switchedAt);
  judgeTotals(second, before, "second", stage);
  const { said, real, virtual } = waiting;
  expect(real.waitingSeconds).toBeGreaterThan(0);
  expect(Math.abs(said.real - real.waitingSeconds)).toBeLessThanOrEqual(real.allowed.waitingSeconds);
  expect(Math.abs(said.virtual - virtual)).toBeLessThanOrEqual(waiting.rounding);
  const { observing } = await stage.comparison("demo");
  expect(observing.map(({ nodearray }) => nodearray)).toEqual(["execute"]);
}

/** The app's requests to the simulator: only reads until the switch, and after it creates and stops in "second" only. */
function judgeChanges(stage: Stage, switchedAt: number): void {
  const changes = stage.sent.filter(({ method }) => method !== "GET");
  expect(changes.filter(({ at }) => at <= switchedAt)).toEqual([]);
  expect(changes.length).toBeGreaterThan(0);
  const { created, stopped } = splitNodes(stage);
  expect(new Set(created.map(({ array }) => array))).toEqual(new Set(["second"]));
  expect(new Set(stopped.map(({ array }) => array))).toEqual(new Set(["second"]));
  expect(Math.min(...[...created, ...stopped].map(({ at }) => at))).toBeGreaterThan(switchedAt);
  expect(stage.eventsOf("start-accepted")).toEqual([]);
  // Each node of "second" that is created after the switch is ours, because the other autoscaler has given the array up.
  const later = stage
    .eventsOf("node-created")
    .filter((node) => node.array === "second" && node.at > switchedAt);
  expect(later).toEqual(created);
}

/** Nodes that our requests made and stopped. The other autoscaler's creates carry its own ids, and its stops carry none. */
function splitNodes(stage: Stage) {
  return {
    created: stage.eventsOf("node-created").filter(({ requestId = "" }) => !/^(one|two)-/.test(requestId)),
    stopped: stage.eventsOf("terminate-accepted").filter(({ requestId }) => requestId !== undefined),
  };
}

function judgeTotals(
  { said, real, virtual }: Judged,
  looks: readonly number[],
  array: string,
  stage: Stage,
): void {
  // Counted exactly, at the simulator's own times. Each change may differ by the time between two observations.
  expect(said.real.boots).toBe(real.boots);
  expect(Math.abs(said.real.nodeSeconds - real.nodeSeconds)).toBeLessThanOrEqual(real.allowed.nodeSeconds);
  expect(Math.abs(said.real.idleSeconds - real.idleSeconds)).toBeLessThanOrEqual(real.allowed.idleSeconds);
  expect(real.allowed.nodeSeconds).toBeLessThan(0.03 * real.nodeSeconds);
  // Counted as observations do, and by the rules of the virtual fleet. They differ by the rounding of each day's answer, and by
  // which of several idle nodes took a job.
  const byLook = nodeSecondsByLook(stage.simulator.log, array, looks);
  expect(Math.abs(said.real.nodeSeconds - byLook)).toBeLessThanOrEqual(said.rounding);
  const allowed = said.rounding + virtual.byChoice;
  expect(allowed).toBeLessThan(0.001 * virtual.nodeSeconds);
  expect(said.virtual.boots).toBe(virtual.boots);
  expect(said.virtual.peak).toBe(virtual.peak);
  expect(Math.abs(said.virtual.nodeSeconds - virtual.nodeSeconds)).toBeLessThanOrEqual(allowed);
  expect(Math.abs(said.virtual.idleSeconds - virtual.idleSeconds)).toBeLessThanOrEqual(allowed);
  expect(virtual.boots).toBeGreaterThan(10);
}
