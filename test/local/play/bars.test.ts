import { expect, test } from "vitest";
import { createBars } from "../../../src/local/play/bars.ts";
import { SchedulerModel } from "../../../src/local/workload/scheduler-model.ts";
import { job } from "./bench.ts";

/** Two jobs submitted of five: one runs on the only host, one waits. */
function momentAt(minutes: number, nodesByStatus: Readonly<Record<string, number>>) {
  const scheduler = new SchedulerModel({ maxSlots: 2 });
  scheduler.hostUp({ hostname: "h", instanceId: "i", cores: 2 }, 0);
  for (const name of ["a", "b"]) scheduler.submit(job(name, 0, 2, 60), 0);
  scheduler.advance(0);
  return { now: minutes * 60_000, startedAt: 0, jobs: 5, scheduler, summary: { nodesByStatus, cost: 0 } };
}

test("a line at the beginning and in each hour; a small cluster has a sign for each node", () => {
  const lines: string[] = [];
  const bars = createBars(4, 3_600_000, (line) => lines.push(line));
  for (const minutes of [0, 59, 65, 119]) bars.show(() => momentAt(minutes, { Ready: 1, Preparing: 2 }));
  bars.end();
  expect(lines).toEqual([
    " 0:00 h  nodes #--.  3  jobs #-                   1 running, 1 waiting, 0 done",
    " 1:05 h  nodes #--.  3  jobs #-                   1 running, 1 waiting, 0 done",
  ]);
});

test.each([
  { nodesByStatus: {}, expected: "nodes ................................  0 " },
  { nodesByStatus: { Ready: 1 }, expected: "nodes #...............................  1 " },
  { nodesByStatus: { Ready: 63, Terminating: 1 }, expected: "nodes ################################ 64 " },
])("64 nodes have 32 signs: $nodesByStatus", ({ nodesByStatus, expected }) => {
  const lines: string[] = [];
  createBars(64, 3_600_000, (line) => lines.push(line)).show(() => momentAt(0, nodesByStatus));
  expect(lines[0]).toContain(expected);
});
