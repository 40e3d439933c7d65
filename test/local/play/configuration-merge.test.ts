import { expect, test } from "vitest";
import { clusterFor } from "../../../src/local/play/cluster.ts";
import { figuresOf, isClean } from "../../../src/local/play/summary.ts";
import { playVirtually } from "../../../src/local/play/virtual.ts";
import { compressWorkload } from "../../../src/local/workload/compressed-workload.ts";
import { MERGES } from "../../support/configuration-merge.ts";

type Figures = ReturnType<typeof figuresOf>["figures"];

const QUIET = {
  progress: { show: () => undefined, end: () => undefined },
  signal: new AbortController().signal,
};

/** A workload of two hours on a cluster that merges Configuration so, as `npm start -- --virtual` plays it. */
async function playBy(configurationMerge: (typeof MERGES)[number]): Promise<Figures> {
  const { jobs } = compressWorkload({ jobs: 60, seed: 1, hours: 2, maxProcessors: 64 });
  const play = { cluster: { ...clusterFor(64, 16), quirks: { configurationMerge } }, jobs, seed: 1 };
  const played = await playVirtually(play, QUIET);
  const { figures } = figuresOf(play, played);
  expect(isClean(figures, played.finished)).toBe(true);
  return figures;
}

test("a workload runs the same however CycleCloud merges Configuration, to the last node-hour", async () => {
  const [deep, oneLevel] = await Promise.all(MERGES.map(playBy));
  expect(deep?.jobsCompleted).toBe(60);
  expect(deep?.stopsGranted).toBeGreaterThan(0);
  expect(oneLevel).toEqual(deep);
});
