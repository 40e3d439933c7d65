import { describe, expect, test } from "vitest";
import { clusterFor } from "../../../src/local/play/cluster.ts";
import type { Play, Played } from "../../../src/local/play/play.ts";
import { SchedulerAgent } from "../../../src/local/play/scheduler-agent.ts";
import { figuresOf, isClean, renderAlwaysOn, renderSummary } from "../../../src/local/play/summary.ts";
import type { WorkloadJob } from "../../../src/local/workload/workload-job.ts";
import { eventsOf, job, openFeed, seconds } from "./bench.ts";

type Figures = ReturnType<typeof figuresOf>["figures"];

const OPTIONS = {
  cluster: "demo",
  requestSet: "standard",
  expirationSeconds: 300,
  renewSeconds: 120,
  pushApartSeconds: 15,
  idleSeconds: 300,
};

/** A run in which one node of four cores boots in 300 s, runs jobs and, if told so, is stopped at a moment that may be wrong. */
async function playOneNode(jobs: readonly WorkloadJob[], stopAt: number | undefined) {
  const { feed, scheduler } = openFeed();
  const doors = {
    push: () => Promise.resolve(),
    askStop: () => Promise.resolve({ status: 409, why: "needed" }),
  };
  const agent = new SchedulerAgent(scheduler, jobs, doors, OPTIONS, 0, (at, slots, expiresAt) =>
    feed.auditor.demand({ at, slots, expiresAt }),
  );
  const play: Play = { cluster: clusterFor(8, 4), jobs, seed: 1 };
  await agent.step(0);
  feed.handle(eventsOf(1).created(10), scheduler);
  feed.handle(eventsOf(1).ready(310), scheduler);
  await agent.step(seconds(310));
  await agent.step(seconds(910));
  if (stopAt !== undefined) {
    feed.handle(eventsOf(1).stopped(stopAt), scheduler);
    feed.handle(eventsOf(1).gone(stopAt + 60), scheduler);
  }
  const played: Played = {
    scheduler,
    agent,
    feed,
    startedAt: 0,
    endedAt: seconds(3600),
    messagesRejected: 0,
    finished: agent.finished,
  };
  return { play, played, ...figuresOf(play, played) };
}

describe("the figures of a run", () => {
  test("one job of 2 cores for 600 s on one node that lives from 10 s to 1270 s", async () => {
    const { figures, played } = await playOneNode([job("a", 0, 2, 600)], 1210);
    expect(figures).toMatchObject({
      jobsSubmitted: 1,
      jobsCompleted: 1,
      nodesCreated: 1,
      nodeHours: 0.35, // 1260 s
      bootNodeHours: 0.08, // 300 s
      idleNodeHours: 0.1, // 910 s to 1270 s
      leastNodeHours: 0.08, // 2 cores x 600 s / 4
      nodeHoursBound: 0.29, // 1.5 x 300 s + one node x (300 + 300) s = 1050 s
      cost: 0.06, // 0.35 h x 4 x 0.045
      meanWaitSeconds: 310,
      p95WaitSeconds: 310,
      scaleUps: 1,
      scaleDowns: 1,
      mostLiveNodes: 1,
      simulatedHours: 1,
    });
    expect(isClean(figures, played.finished)).toBe(true);
  });

  test("a busy node that is stopped makes the run unclean, though its job is there to run again", async () => {
    const { figures, audit, play, played } = await playOneNode([job("a", 0, 2, 6000)], 1000);
    expect(figures).toMatchObject({ busyNodesStopped: 1, jobsKilled: 1, jobsCompleted: 0 });
    expect(isClean(figures, played.finished)).toBe(false);
    const text = renderSummary(play, played, { figures, audit, verbose: false, money: true }).split("\n");
    expect(text).toContain("jobs          0 of 1 completed, 1 killed and run again; given up");
    expect(text).toContain("audit         1 busy nodes stopped, 0 limits exceeded, 0 nodes beyond demand");
    expect(text).toContain("              1000.0 s: node n1 was stopped with a job on it since 310.0 s");
  });

  test("a job that no cluster of this size can run makes the run unclean", async () => {
    const { figures, played } = await playOneNode([job("wide", 0, 9, 60), job("a", 0, 1, 60)], 1210);
    expect(figures).toMatchObject({ jobsSubmitted: 1, jobsCompleted: 1, jobsTooWide: 1 });
    expect(isClean(figures, played.finished)).toBe(false);
  });

  test("refusals are counted by their reason, and a run in real time says how much it was distorted", async () => {
    // Its job ended at 410 s; at 910 s it asks, and is to stay.
    const { figures, audit, play, played } = await playOneNode([job("a", 0, 2, 100)], undefined);
    expect(figures).toMatchObject({ stopsGranted: 0, stopsRefused: 1 });
    const distorted = { ...played, distortion: { latencySeconds: 6, speed: 60 } };
    const text = renderSummary(play, distorted, { figures, audit, verbose: true, money: true }).split("\n");
    expect(text).toContain("autostop      0 granted, 1 refused");
    expect(text).toContain("              1 x 409 needed");
    expect(text.at(-1)).toBe(
      "distortion    from a push to the create it led to, 95 % within 100 ms x 60 = 6.0 simulated s: 2.0 % of the boot time of 300 s",
    );
  });
});

test("always on: two nodes until the job's end, and no wait for a boot", async () => {
  const { figures, play } = await playOneNode([job("a", 0, 2, 600)], 1210);
  // 2 nodes x 600 s = 0.33 h, at 4 x 0.045 USD an hour; used were 0.35 h, and the job waited 310 s.
  expect(renderAlwaysOn(play, figures)).toBe(
    "always on     0.3 node-hours, 0.06 USD; the autoscaler took 5 % more; jobs waited 310 s longer on average",
  );
});

const clean = {
  jobsSubmitted: 3,
  jobsCompleted: 3,
  jobsTooWide: 0,
  busyNodesStopped: 0,
  limitsExceeded: 0,
  nodesBeyondDemand: 0,
};

/** The exit code of the main job is 0 for exactly these. */
test.each<{ name: string; change: Partial<Figures>; finished: boolean; expected: boolean }>([
  { name: "every job ran and the audit found nothing", change: {}, finished: true, expected: true },
  {
    name: "refused stops and rejected messages are figures, not faults",
    change: { stopsRefused: 9, messagesRejected: 1 },
    finished: true,
    expected: true,
  },
  { name: "a job that did not end", change: { jobsCompleted: 2 }, finished: true, expected: false },
  { name: "jobs that were never submitted", change: {}, finished: false, expected: false },
  { name: "a job too wide", change: { jobsTooWide: 1 }, finished: true, expected: false },
  { name: "a busy node stopped", change: { busyNodesStopped: 1 }, finished: true, expected: false },
  { name: "a limit exceeded", change: { limitsExceeded: 1 }, finished: true, expected: false },
  { name: "a node beyond demand", change: { nodesBeyondDemand: 1 }, finished: true, expected: false },
])("$name: clean is $expected", async ({ change, finished, expected }) => {
  const { figures } = await playOneNode([job("a", 0, 2, 600)], 1210);
  expect(isClean({ ...figures, ...clean, ...change }, finished)).toBe(expected);
});
