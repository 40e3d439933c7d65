import { openApi } from "../client/api.ts";
import { readExplanation, readState } from "../client/readers.ts";
import type { Arguments } from "./arguments.ts";
import { INTERRUPTED, untilAborted } from "./interruption.ts";
import { keepRunning } from "./keep-running.ts";
import type { JobOutput } from "./play/progress.ts";
import { createBars } from "./play/bars.ts";
import type { PlayedCluster } from "./play/cluster.ts";
import { clusterFor, simulatorOptions } from "./play/cluster.ts";
import type { Play, Played } from "./play/play.ts";
import { hoursAndMinutes } from "./play/progress.ts";
import { playOn } from "./play/real.ts";
import { figuresOf, isClean, renderAlwaysOn, renderSummary } from "./play/summary.ts";
import { playVirtually } from "./play/virtual.ts";
import { pageAddress } from "./serve.ts";
import type { LocalSystem } from "./system.ts";
import { startSystem } from "./system.ts";
import { compressWorkload, dayOfWork, SECOND_BURST_MS, twoBursts } from "./workload/compressed-workload.ts";
import type { Milliseconds } from "../domain/units.ts";

/** `npm start` without a workload of one's own: a day on the virtual clock, and then the real parts at work. */

const CORES_PER_NODE = 16;
const BAR_EVERY_MS: Milliseconds = 2 * 3_600_000;
/** Real seconds between two lines of the live run. */
const LINE_EVERY_SECONDS = 5;

type Told = Pick<JobOutput, "say"> & { readonly signal: AbortSignal };
/** `time` is the line that says how long all of it has taken so far. */
type Timed = Told & { readonly time: () => string };

/** Returns the exit code: 0 if both runs are without fault. Leaves no process behind. */
export async function playFirstMinute(
  options: Arguments,
  signal: AbortSignal,
  { say, complain }: JobOutput,
): Promise<number> {
  const began = performance.now();
  const time = () => `time          ${((performance.now() - began) / 1000).toFixed(0)} s since the start`;
  say(
    `Starting a storage emulator, the function app and a simulated CycleCloud, all on this machine (Node ${process.versions.node}).`,
  );
  // Only the node array's limit binds, so that a remedy names one thing.
  const cluster = { ...clusterFor(16 * CORES_PER_NODE, CORES_PER_NODE), roomForNodes: 100 };
  const system = await startSystem({
    simulator: simulatorOptions(cluster, options.seed),
    speed: options.speed,
    onHostLine: options.verbose ? complain : () => undefined,
  });
  const kept = keepHost(system, say);
  try {
    say(`page of the live run: ${pageAddress(system)}`);
    const day = await playDay(options, { say, signal, time });
    if (day === INTERRUPTED) return day;
    const live = await playLive(system, cluster, options, { say, signal, time });
    if (live === INTERRUPTED) return live;
    if (options.stay) await stay(system, cluster, options, { say, signal });
    return Math.max(day, live);
  } finally {
    await kept.stop();
    await system.close();
  }
}

/** Starts the function host again at the same address whenever it ends. */
function keepHost(system: LocalSystem, say: Told["say"]) {
  const port = Number(new URL(system.url).port);
  const [first] = system.hosts;
  return keepRunning({
    name: "the function app",
    say: (line) => say(`          ${line}`),
    start: () => system.startHost({ port }),
    ...(first === undefined ? {} : { first }),
  });
}

async function playDay({ seed, verbose }: Arguments, { say, signal, time }: Timed): Promise<number> {
  const cluster = clusterFor(64 * CORES_PER_NODE, CORES_PER_NODE, 24);
  // Jobs of at most 16 nodes.
  const jobs = dayOfWork({ jobs: 120, seed, maxProcessors: 16 * CORES_PER_NODE, load: 0.6 });
  const play: Play = { cluster, seed, jobs };
  say(
    `\nA day on a virtual clock: ${jobs.length} jobs by day, a quiet night, ${cluster.nodes} nodes in two arrays.`,
  );
  say("nodes: # ready, - on the way or leaving, . not there; jobs: # running, - waiting");
  const progress = createBars(cluster.nodes, BAR_EVERY_MS, say);
  const played = await playVirtually(play, { progress, signal });
  if (signal.aborted) return tellInterrupted(play, played, say);
  return tellResult(play, played, { say, time, verbose, money: true });
}

/** Which of the figures are said. `money`: node-hours and cost, too. */
interface Shown {
  readonly verbose: boolean;
  readonly money: boolean;
  readonly json?: boolean;
}

/** Says the summary, and returns the exit code of the run. */
function tellResult(
  play: Play,
  played: Played,
  { say, time, verbose, money, json = false }: Pick<Timed, "say" | "time"> & Shown,
): number {
  const { figures, audit } = figuresOf(play, played);
  say(renderSummary(play, played, { figures, audit, verbose, money }));
  if (money) say(renderAlwaysOn(play, figures));
  say(time());
  if (json) say(JSON.stringify(figures));
  return isClean(figures, played.finished) ? 0 : 1;
}

/** Says how far an interrupted run came. Returns the exit code. */
export function tellInterrupted(play: Play, played: Played, say: Told["say"]): number {
  const at = hoursAndMinutes(played.endedAt - played.startedAt);
  const { completed } = played.scheduler.statistics();
  say(`interrupted at ${at}: ${completed} of ${play.jobs.length} jobs done; nothing is left running`);
  return INTERRUPTED;
}

async function playLive(
  system: LocalSystem,
  cluster: PlayedCluster,
  { seed, speed, verbose, json }: Arguments,
  { say, signal, time }: Timed,
): Promise<number> {
  const jobs = twoBursts({ seed, maxProcessors: cluster.nodes * cluster.coresPerNode });
  const play: Play = { cluster, seed, jobs };
  say(
    `\nNow the real parts: ${jobs.length} jobs in two bursts on ${cluster.nodes} nodes, ${speed} simulated seconds per real second.`,
  );
  const killing = killInSecondBurst(system, say);
  const played = await playOn(system, play, {
    progress: createBars(
      cluster.nodes,
      LINE_EVERY_SECONDS * speed * 1000,
      tellWithReasons(system, cluster, say),
    ),
    signal,
    speed,
    mayRestart: true,
  }).finally(killing.stop);
  if (signal.aborted) return tellInterrupted(play, played, say);
  const { figures } = figuresOf(play, played);
  if (killing.isDone())
    say(
      `killed        the function app, once: ${figures.jobsSubmitted - figures.jobsCompleted} jobs lost, ${figures.nodesBeyondDemand} nodes made beyond demand`,
    );
  return tellResult(play, played, { say, time, verbose, json, money: verbose });
}

/**
 * Kills the host when CycleCloud accepts nodes for the second burst: the host has asked for them, and cannot note the answer any
 * more. That is the moment in which a careless program would make them again.
 */
function killInSecondBurst({ simulator, clock, hosts }: LocalSystem, say: Told["say"]) {
  const from = clock.now() + SECOND_BURST_MS;
  let done = false;
  const stop = simulator.onEvent((event) => {
    if (done || event.kind !== "create-accepted" || event.added < 2 || event.at < from) return;
    done = true;
    say(
      `          killing the function app now: CycleCloud has just accepted ${event.added} nodes, and the app has not had the answer`,
    );
    void hosts.at(-1)?.kill();
  });
  return { stop, isDone: () => done };
}

/** Says a line, and below it why jobs wait. The first job that a limit holds back is explained once, with its remedy. */
function tellWithReasons(system: LocalSystem, { name }: PlayedCluster, say: Told["say"]) {
  const api = openApi({ url: system.url, key: system.roleKeys.reader });
  let explained = false;
  const tell = async () => {
    const { waiting } = readState(await api.state(name)) ?? {};
    const [reason] = waiting?.reasons ?? [];
    const coming = waiting?.onTheirWay ?? 0;
    if (reason?.text !== undefined) say(`          why jobs wait: ${reason.text}`);
    else if (coming > 0) say(`          why jobs wait: the nodes of ${coming} boot`);
    const job = waiting?.remedies.length === 0 ? undefined : reason?.first?.id;
    if (explained || job === undefined) return;
    explained = true;
    const text = readExplanation(await api.explain(name, { job }));
    for (const line of (text ?? "").split("\n")) say(`            | ${line}`);
  };
  return (line: string) => {
    say(line);
    tell().catch(() => say("          why jobs wait: the function app does not answer"));
  };
}

/** Plays an hour of real time, and then waits for Ctrl-C. */
async function stay(
  system: LocalSystem,
  cluster: PlayedCluster,
  { seed, speed }: Arguments,
  { say, signal }: Told,
): Promise<void> {
  const maxProcessors = cluster.nodes * cluster.coresPerNode;
  const { jobs } = compressWorkload({
    jobs: Math.ceil(40 * speed),
    seed: seed + 1,
    hours: speed,
    maxProcessors,
    load: 0.4,
  });
  say(`\nA second workload: ${jobs.length} jobs in an hour. Ctrl-C ends it.\npage: ${pageAddress(system)}`);
  const progress = createBars(cluster.nodes, 60 * speed * 1000, tellWithReasons(system, cluster, say));
  await playOn(system, { cluster, seed, jobs }, { progress, signal, speed, mayRestart: true });
  await untilAborted(signal);
  say("stopped; nothing is left running");
}
