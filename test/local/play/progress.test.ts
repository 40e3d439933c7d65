import { describe, expect, test } from "vitest";
import { createProgress, hoursAndMinutes } from "../../../src/local/play/progress.ts";
import { SchedulerModel } from "../../../src/local/workload/scheduler-model.ts";
import type { Progress } from "../../../src/local/play/progress.ts";

type ProgressOutput = Parameters<typeof createProgress>[0];
type Moment = ReturnType<Parameters<Progress["show"]>[0]>;

const CLEAR = "\r\u001B[2K";

/** Two jobs submitted of five: one runs on the only host, one waits. */
function momentAt(minutes: number): Moment {
  const scheduler = new SchedulerModel({ maxSlots: 2 });
  scheduler.hostUp({ hostname: "h", instanceId: "i", cores: 2 }, 0);
  for (const name of ["a", "b"])
    scheduler.submit({ name, submitMs: 0, processors: 2, runMs: 60_000, walltimeMs: undefined }, 0);
  scheduler.advance(0);
  const summary = { nodesByStatus: { Ready: 1, Preparing: 3, Terminating: 0 }, cost: 1.005 };
  return { now: minutes * 60_000, startedAt: 0, jobs: 5, scheduler, summary };
}

/** A progress on a clock that the test sets, and what it wrote. */
function open(output: Omit<ProgressOutput, "write">) {
  const written: string[] = [];
  let real = 0;
  const progress = createProgress({ ...output, write: (text) => written.push(text) }, () => real);
  return { progress, written, at: (milliseconds: number) => (real = milliseconds) };
}

const line = "1:05 h  jobs: 1 waiting, 1 running, 0 of 5 done  nodes: 1 Ready, 3 Preparing  cost: 1.00 USD";

describe("progress", () => {
  test("away from a terminal: a plain line at once, the next ten seconds later", () => {
    const { progress, written, at } = open({});
    progress.show(() => momentAt(65));
    at(9_999);
    progress.show(() => {
      throw new Error("nobody asked");
    });
    expect(written).toEqual([`${line}\n`]);
    at(10_000);
    progress.show(() => momentAt(65));
    progress.end();
    expect(written).toEqual([`${line}\n`, `${line}\n`]);
  });

  test("on a terminal: one line, rewritten five times a second, cut to the width, cleared at the end", () => {
    const { progress, written, at } = open({ isTTY: true, columns: 31 });
    progress.show(() => momentAt(65));
    at(199);
    progress.show(() => momentAt(66));
    at(200);
    progress.show(() => momentAt(67));
    progress.end();
    expect(written).toEqual([
      `${CLEAR}1:05 h  jobs: 1 waiting, 1 run`,
      `${CLEAR}1:07 h  jobs: 1 waiting, 1 run`,
      CLEAR,
    ]);
  });

  test("an empty cluster has no nodes", () => {
    const { progress, written } = open({});
    progress.show(() => ({ ...momentAt(0), summary: { nodesByStatus: { Ready: 0 }, cost: 0 } }));
    expect(written[0]).toContain("nodes: none  cost: 0.00 USD");
  });
});

test.each([
  { milliseconds: 0, expected: "0:00 h" },
  { milliseconds: 59_999, expected: "0:00 h" },
  { milliseconds: 3_600_000 + 9 * 60_000, expected: "1:09 h" },
  { milliseconds: 100 * 3_600_000, expected: "100:00 h" },
])("$milliseconds ms are $expected", ({ milliseconds, expected }) => {
  expect(hoursAndMinutes(milliseconds)).toBe(expected);
});
