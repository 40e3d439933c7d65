import { openRandomStream } from "../../../src/local/workload/random.ts";
import type { Spread } from "./spread.ts";
import { spreadOf } from "./spread.ts";
import type { ClusterJudged, WorkingCluster } from "./working-cluster.ts";
import { countAlive, judge, storyOf, untilAsWanted, withWorkingCluster } from "./working-cluster.ts";

export interface CutOffOptions {
  readonly checkout: string;
  readonly seed: number;
  /** What is wrong with the first of two hosts, which has the timer: its calls reach CycleCloud no more, or its password never was right. */
  readonly how: "cut off" | "old password";
  readonly seconds: number;
  /** True: one job more comes again and again. False: jobs have ended, and their nodes ask to stop. */
  readonly hasNewDemand: boolean;
}

/** Times are in milliseconds. */
export interface CutOffResult extends ClusterJudged {
  /** The longest time between two answers of a status. */
  readonly longestGapMs: number;
  /** From the first message with new demand to the create that serves it. Undefined: there was no new demand. */
  readonly demandToCreateMs: Spread | undefined;
  /** From the cut until no more nodes were there than jobs. Undefined: never. */
  readonly idleGoneMs: number | undefined;
  readonly convergedSeconds: number;
}

const JOBS = 10;
const LEFT = 4;
const BETWEEN_JOBS_MS = { least: 20_000, more: 30_000 };

/** The host that is started first has the timer. */
const FIRST = 0;

/** One of two hosts has no way to CycleCloud, and the other has to do all. */
export async function runCutOff(options: CutOffOptions): Promise<CutOffResult & { readonly story: string }> {
  const { uniform } = openRandomStream(options.seed);
  const { checkout, how, seconds, hasNewDemand } = options;
  const oldPasswords = how === "old password" ? [FIRST] : [];
  return withWorkingCluster({ checkout, oldPasswords }, uniform, async (cluster) => {
    const { clock, proxies } = cluster.parts;
    cluster.work.scheduler.setJobs(JOBS);
    await untilAsWanted(cluster);
    if (how === "cut off") proxies?.cyclecloud[FIRST]?.setWeather(() => ({ kind: "swallow" }));
    const from = clock.now();
    const until = from + 1000 * seconds;
    const idleGoneMs = hasNewDemand
      ? await letJobsCome(cluster, until, uniform)
      : await letNodesGo(cluster, until);
    const to = clock.now();
    proxies?.cyclecloud[FIRST]?.setWeather(undefined);
    await untilAsWanted(cluster);
    const convergedSeconds = Math.round((clock.now() - to) / 1000);
    const demandToCreateMs = spreadOf(waitsOf(cluster, from, to));
    const measured = { longestGapMs: longestGap(cluster, from, to), demandToCreateMs, idleGoneMs };
    return { ...measured, convergedSeconds, ...judge(cluster, 0), story: storyOf(cluster) };
  });
}

async function letJobsCome(
  { parts, work }: WorkingCluster,
  until: number,
  uniform: () => number,
): Promise<undefined> {
  while (parts.clock.now() < until) {
    work.scheduler.setJobs(work.scheduler.jobs + 1);
    await parts.clock.sleep(BETWEEN_JOBS_MS.least + uniform() * BETWEEN_JOBS_MS.more);
  }
}

/** Jobs end, and no new demand comes until then. */
async function letNodesGo({ parts, work }: WorkingCluster, until: number): Promise<number | undefined> {
  const { clock } = parts;
  const from = clock.now();
  work.scheduler.setJobs(LEFT);
  let goneMs: number | undefined;
  while (clock.now() < until) {
    if (countAlive(parts) === LEFT) goneMs ??= clock.now() - from;
    await clock.sleep(1000);
  }
  return goneMs;
}

/** From each message that asks for more than ever before to the next create. */
function waitsOf({ parts, demand }: WorkingCluster, from: number, to: number): readonly number[] {
  const creates = parts.simulator.events.filter(({ kind }) => kind === "create-accepted");
  const rising = demand.pushes.filter(
    ({ count, sentAt }, index) =>
      sentAt >= from && sentAt < to && count > (demand.pushes[index - 1]?.count ?? 0),
  );
  return rising.map(({ sentAt }) => (creates.find(({ at }) => at >= sentAt)?.at ?? Infinity) - sentAt);
}

function longestGap({ parts }: WorkingCluster, from: number, to: number): number {
  const reads = parts.simulator.events.flatMap(({ kind, at }) =>
    kind === "status-read" && at >= from && at < to ? [at] : [],
  );
  return Math.max(...[...reads, to].map((at, index) => at - (reads[index - 1] ?? from)));
}
