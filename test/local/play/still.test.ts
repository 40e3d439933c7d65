import { describe, expect, test } from "vitest";
import { clusterFor } from "../../../src/local/play/cluster.ts";
import type { Play } from "../../../src/local/play/play.ts";
import { figuresOf } from "../../../src/local/play/summary.ts";
import { playVirtually } from "../../../src/local/play/virtual.ts";
import type { WorkloadJob } from "../../../src/local/workload/workload-job.ts";
import { seedRandom } from "../../../src/simulator/random.ts";

const QUIET = {
  progress: { show: () => undefined, end: () => undefined },
  signal: new AbortController().signal,
};

/** A job that arrives at a minute, for so many processors and minutes. It asks for `walltime` minutes. */
const job = (minute: number, processors: number, minutes: number, walltime?: number): WorkloadJob => ({
  name: `job-at-${minute}`,
  submitMs: 60_000 * minute,
  processors,
  runMs: 60_000 * minutes,
  walltimeMs: walltime === undefined ? undefined : 60_000 * walltime,
});

/** Jobs whose gaps and run times are from a minute to some hours. */
function drawJobs(seed: number): readonly WorkloadJob[] {
  const random = seedRandom(seed);
  const minutes = () => 2 ** (8 * random());
  let at = 0;
  return Array.from({ length: 9 }, () => {
    at += minutes();
    const walltime = random() < 0.5 ? undefined : minutes();
    return job(at, 1 + Math.floor(8 * random() ** 2), minutes(), walltime);
  });
}

async function outcome(play: Play, minutes: "all" | "that-change") {
  const played = await playVirtually(play, QUIET, minutes);
  const { refused } = played.agent.refusals;
  return {
    leftOut: Number(played.leftOut) / (played.endedAt - played.startedAt),
    all: { ...figuresOf(play, played), refused },
  };
}

describe("a virtual run leaves out the minutes in which nothing can change, and every result is the same", () => {
  test.each([
    { name: "all nodes are busy for half a day", jobs: [job(0, 8, 700)], coresPerNode: 1, least: 0.6 },
    {
      name: "a job that needs all nodes waits beside idle ones, which ask and are refused",
      jobs: [job(0, 3, 30), job(1, 5, 700), job(35, 8, 30)],
      coresPerNode: 1,
      least: 0.5,
    },
    {
      name: "nobody asks for anything for a day",
      jobs: [job(0, 2, 10), job(1500, 2, 10)],
      coresPerNode: 1,
      least: 0.8,
    },
    {
      name: "a job may start beside the head of the queue once others run longer than expected",
      jobs: [job(0, 4, 700, 60), job(70, 2, 600, 400), job(80, 8, 20, 20), job(90, 2, 300, 300)],
      coresPerNode: 2,
      least: 0.3,
    },
    { name: "drawn, seed 1", jobs: drawJobs(1), coresPerNode: 1, least: 0.2 },
    { name: "drawn, seed 2", jobs: drawJobs(2), coresPerNode: 4, least: 0.2 },
    { name: "drawn, seed 3", jobs: drawJobs(3), coresPerNode: 1, least: 0.2 },
  ])("$name", async ({ jobs, coresPerNode, least }) => {
    const play = { cluster: clusterFor(8, coresPerNode), jobs, seed: 1 };
    const whole = await outcome(play, "all");
    const short = await outcome(play, "that-change");
    expect(short.all).toEqual(whole.all);
    expect(whole.leftOut).toBe(0);
    expect(short.leftOut).toBeGreaterThan(least);
  });
});
