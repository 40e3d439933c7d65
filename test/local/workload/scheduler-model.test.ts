import { describe, expect, test } from "vitest";
import { SchedulerModel } from "../../../src/local/workload/scheduler-model.ts";
import { job, schedulerWith, startedNames } from "./small-scheduler.ts";

describe("first come, first served", () => {
  test("jobs start in order as room appears, ends take effect at their own time", () => {
    const model = schedulerWith([2]);
    model.submit(job("a", 2, 10), 0);
    model.submit(job("b", 1, 5), 0);
    model.submit(job("c", 1, 5), 0);
    expect(startedNames(model, 0)).toEqual(["a"]);
    expect(model.nextEventAt()).toBe(10_000);
    expect(model.advance(12_000)).toEqual({
      ended: [
        {
          name: "a",
          processors: 2,
          hosts: 1,
          submittedAt: 0,
          startedAt: 0,
          endedAt: 10_000,
          outcome: "completed",
        },
      ],
      started: [
        { name: "b", at: 12_000, hostnames: ["h1"] },
        { name: "c", at: 12_000, hostnames: ["h1"] },
      ],
    });
    model.advance(17_000);
    expect(model.nextEventAt()).toBeUndefined();
    expect(model.statistics()).toEqual({
      submitted: 3,
      completed: 3,
      killed: 0,
      waiting: 0,
      running: 0,
      slotsAsked: 0,
      hosts: 1,
      freeSlots: 2,
      meanWaitSeconds: 8,
      p95WaitSeconds: 12,
    });
    // (2 x 10 + 5 + 5) core seconds on nodes of 2 cores.
    expect(model.leastNodeHours(2)).toBeCloseTo(15 / 3600, 12);
  });

  test("without hosts jobs queue; they start when hosts come, also spread over several", () => {
    const model = schedulerWith([], { maxSlots: 8 });
    expect(model.submit(job("wide", 6, 10), 0)).toEqual({ kind: "queued" });
    expect(startedNames(model, 1000)).toEqual([]);
    model.hostUp({ hostname: "h1", instanceId: "i1", cores: 4 }, 2000);
    expect(startedNames(model, 2000)).toEqual([]);
    model.hostUp({ hostname: "h2", instanceId: "i2", cores: 4 }, 3000);
    expect(model.advance(3000).started).toEqual([{ name: "wide", at: 3000, hostnames: ["h1", "h2"] }]);
  });

  test("what could never start, or is already known, is not queued", () => {
    const model = schedulerWith([4]);
    expect(model.submit(job("wide", 5, 10), 0)).toEqual({ kind: "too-wide", processors: 5, maxSlots: 4 });
    model.submit(job("a", 1, 10), 0);
    expect(model.submit(job("a", 1, 10), 0)).toEqual({ kind: "name-taken", name: "a" });
    expect(model.statistics().submitted).toBe(1);
  });
});

describe("EASY backfilling on four cores: `long` holds three for 100 s, the head wants all four", () => {
  test.each([
    { name: "overtakes when it ends before the head can start", candidate: job("c", 1, 100), starts: true },
    { name: "not when it would end later", candidate: job("c", 1, 101), starts: false },
    { name: "not when it needs more than is free", candidate: job("c", 2, 1), starts: false },
    { name: "its walltime counts, not its run time", candidate: job("c", 1, 1, 101), starts: false },
    { name: "a walltime that is too short is believed", candidate: job("c", 1, 500, 100), starts: true },
  ])("$name", ({ candidate, starts }) => {
    const model = schedulerWith([4]);
    model.submit(job("long", 3, 100), 0);
    model.submit(job("head", 4, 10), 0);
    model.submit(candidate, 0);
    expect(startedNames(model, 0)).toEqual(starts ? ["long", "c"] : ["long"]);
  });

  test("beside the head, as many slots may be taken for long as it leaves", () => {
    const model = schedulerWith([8]);
    model.submit(job("long", 5, 100), 0);
    model.submit(job("head", 6, 10), 0);
    for (const name of ["c1", "c2", "c3"]) model.submit(job(name, 1, 1000), 0);
    // At 100 s the head takes 6 of 8; 2 are left beside it.
    expect(startedNames(model, 0)).toEqual(["long", "c1", "c2"]);
    expect(startedNames(model, 100_000)).toEqual(["head"]);
  });

  test("the reservation goes by the expected ends, not by the order of the starts", () => {
    const model = schedulerWith([4]);
    model.submit(job("late", 1, 500), 0);
    model.submit(job("soon", 1, 50), 0);
    model.submit(job("later", 1, 900), 0);
    model.submit(job("head", 2, 10), 0);
    model.submit(job("c", 1, 60), 0);
    // One is free and `soon` gives the second at 50 s: 60 s would be too long.
    expect(startedNames(model, 0)).toEqual(["late", "soon", "later"]);
    expect(startedNames(model, 50_000)).toEqual(["head"]);
  });

  test("one pass looks at so many jobs behind the head", () => {
    const model = schedulerWith([8], { backfillDepth: 2 });
    model.submit(job("long", 5, 100), 0);
    model.submit(job("head", 8, 10), 0);
    for (const name of ["c1", "c2", "c3"]) model.submit(job(name, name === "c1" ? 4 : 1, 10), 0);
    expect(startedNames(model, 0)).toEqual(["long", "c2"]);
  });

  test("slots on closed hosts do not come back for the head", () => {
    const model = schedulerWith([2, 2, 2], { patienceMs: 0 });
    model.submit(job("first", 2, 50), 0);
    model.submit(job("second", 2, 100), 0);
    model.advance(0);
    model.closeHost("h1");
    model.submit(job("head", 4, 10), 0);
    model.submit(job("c", 1, 80), 0);
    // h1 would have been free at 50 s; so the head waits for h2 at 100 s, and 80 s fit before that.
    expect(startedNames(model, 0)).toEqual(["c"]);
  });
});

describe("hosts still to come", () => {
  function waitForNodes(patienceMs: number): SchedulerModel {
    const model = schedulerWith([2], { maxSlots: 10, patienceMs });
    model.submit(job("head", 8, 100), 0);
    return model;
  }

  test("the head counts on them, so that others may use what it leaves of the whole cluster", () => {
    const model = waitForNodes(60_000);
    for (const name of ["c1", "c2", "c3"]) model.submit(job(name, 1, 1000), 0);
    expect(startedNames(model, 0)).toEqual(["c1", "c2"]);
    // The other 8 slots are the head's, however many small jobs ask.
    model.hostUp({ hostname: "h2", instanceId: "i2", cores: 4 }, 10_000);
    expect(startedNames(model, 10_000)).toEqual([]);
    model.hostUp({ hostname: "h3", instanceId: "i3", cores: 4 }, 20_000);
    expect(startedNames(model, 20_000)).toEqual(["head"]);
  });

  test("when patience ends and the hosts that are there cannot do, nobody overtakes any more", () => {
    const model = waitForNodes(60_000);
    expect(startedNames(model, 0)).toEqual([]);
    model.submit(job("c1", 1, 5), 59_999);
    expect(startedNames(model, 59_999)).toEqual(["c1"]);
    model.submit(job("c2", 1, 5), 60_000);
    expect(startedNames(model, 60_000)).toEqual([]);
    expect(startedNames(model, 3_600_000)).toEqual([]);
  });

  test("a steady stream of small jobs cannot starve a wide one on a full-size cluster", () => {
    const model = schedulerWith([4, 4]);
    let headStartedAt: number | undefined;
    for (let second = 0; second < 200 && headStartedAt === undefined; second++) {
      if (second === 10) model.submit(job("head", 8, 10), 10_000);
      model.submit(job(`small-${second}`, 1, 8), second * 1000);
      headStartedAt = model.advance(second * 1000).started.find(({ name }) => name === "head")?.at;
    }
    // The last small job that started before the head came ends at 9 + 8 s.
    expect(headStartedAt).toBe(17_000);
  });
});
