import type { Arguments } from "./arguments.ts";
import { readArguments, USAGE } from "./arguments.ts";
import { playFirstMinute, tellInterrupted } from "./first-minute.ts";
import { heedInterrupts } from "./interruption.ts";
import { clusterFor } from "./play/cluster.ts";
import type { Play } from "./play/play.ts";
import type { JobOutput } from "./play/progress.ts";
import { createProgress } from "./play/progress.ts";
import { playReally } from "./play/real.ts";
import { figuresOf, isClean, isWithinBound, renderSummary } from "./play/summary.ts";
import { playVirtually } from "./play/virtual.ts";
import { pageAddress, serve } from "./serve.ts";
import { serveSettings } from "./serve-settings.ts";
import type { LocalSystem } from "./system.ts";
import { compressWorkload } from "./workload/compressed-workload.ts";
import { readSwfTrace } from "./workload/swf.ts";

const DEFAULT_JOBS = 200;
const DEFAULT_HOURS = 2;
const DEFAULT_PROCESSORS = 256;
const DEFAULT_CORES_PER_NODE = 16;

/** What `npm start` does with these arguments. Returns the exit code: 0, 1 for a run with a fault, 2 for arguments that make no sense. */
export async function runMainJob(argv: readonly string[], output: JobOutput): Promise<number> {
  const { say, complain } = output;
  const read = readArguments(argv);
  if (read.kind === "help") {
    say(USAGE);
    return 0;
  }
  if (read.kind === "wrong") {
    for (const problem of read.problems) complain(problem);
    complain(`\n${USAGE}`);
    return 2;
  }
  const options = read.arguments;
  if (options.settings !== undefined) return serveSettings({ ...options, settings: options.settings });
  if (options.serve) return serve(options);
  const play = isFirstMinute(options) ? "first-minute" : await preparePlay(options, output);
  if (play === undefined) return 2;
  const interruption = heedInterrupts();
  try {
    if (play === "first-minute") return await playFirstMinute(options, interruption.signal, output);
    return await run(play, options, interruption.signal, output);
  } catch (error) {
    complain(`The run failed: ${error instanceof Error ? error.message : String(error)}`);
    complain("Nothing is left running. --verbose shows the function app's log.");
    return 1;
  } finally {
    interruption.forget();
  }
}

/** Nothing says which workload to play. */
function isFirstMinute({ virtual, trace, jobs, coresPerNode }: Arguments): boolean {
  return !virtual && trace === undefined && jobs === undefined && coresPerNode === undefined;
}

/** The first line of a play. */
function introduce(virtual: boolean): string {
  const parts = virtual
    ? "the use cases and a simulated CycleCloud, on a virtual clock"
    : "a storage emulator, the function app and a simulated CycleCloud";
  return `Playing a workload against ${parts}, all on this machine (Node ${process.versions.node}).`;
}

/** The workload and the cluster that it needs. Undefined if the trace cannot be read. */
async function preparePlay(options: Arguments, { say, complain }: JobOutput): Promise<Play | undefined> {
  if (options.trace === undefined) return generatedPlay(options, say);
  const trace = await readSwfTrace(options.trace, options.jobs === undefined ? {} : { jobs: options.jobs });
  if (trace.kind === "unreadable") {
    complain(`${trace.path}: found ${trace.reason}, expected a readable file in Standard Workload Format`);
    return undefined;
  }
  for (const bad of trace.badLines.slice(0, 10))
    complain(`line ${bad.line}: found ${bad.found}, expected ${bad.expected}`);
  if (trace.badLines.length > 10)
    complain(`... and ${trace.badLines.length - 10} more lines that could not be read`);
  if (trace.jobs.length === 0) {
    complain(`${options.trace}: found no job that can be played, expected at least one`);
    return undefined;
  }
  const cluster = clusterFor(trace.maxProcessors, options.coresPerNode ?? 1);
  say(introduce(options.virtual));
  say(
    `${trace.jobs.length} jobs of ${options.trace} (${trace.jobsWithoutProcessors} without processors left out); ` +
      `${cluster.nodes} nodes of ${cluster.coresPerNode} for ${trace.maxProcessors} processors (${trace.maxProcessorsFrom})`,
  );
  return { cluster, jobs: trace.jobs, seed: options.seed };
}

function generatedPlay(options: Arguments, say: JobOutput["say"]): Play {
  say(introduce(options.virtual));
  const jobs = options.jobs ?? DEFAULT_JOBS;
  const hours = (DEFAULT_HOURS * jobs) / DEFAULT_JOBS;
  const workload = compressWorkload({ jobs, seed: options.seed, hours, maxProcessors: DEFAULT_PROCESSORS });
  const cluster = clusterFor(DEFAULT_PROCESSORS, options.coresPerNode ?? DEFAULT_CORES_PER_NODE);
  say(
    `${jobs} jobs after Lublin and Feitelson (2003), seed ${options.seed}: arrivals compressed ${workload.arrivalDivisor.toFixed(1)} times into ` +
      `${hours} simulated hours, run times cut at ${Math.round(workload.longestRunMs / 1000)} s (${workload.jobsCutShort} jobs); ` +
      `${cluster.nodes} nodes of ${cluster.coresPerNode}`,
  );
  return { cluster, jobs: workload.jobs, seed: options.seed };
}

async function run(
  play: Play,
  options: Arguments,
  signal: AbortSignal,
  { say, complain, progress }: JobOutput,
): Promise<number> {
  const began = performance.now();
  const audience = { progress: createProgress(progress), signal };
  const played = options.virtual
    ? await playVirtually(play, audience)
    : await playReally(play, {
        ...audience,
        speed: options.speed,
        onStarted: (system) => say(whereToLook(system, options.speed)),
        onHostLine: options.verbose ? complain : () => undefined,
      });
  if (signal.aborted) return tellInterrupted(play, played, say);
  const { figures, audit } = figuresOf(play, played);
  say(renderSummary(play, played, { figures, audit, verbose: options.verbose, money: true }));
  const seconds = (performance.now() - began) / 1000;
  say(`time          ${figures.simulatedHours} simulated hours in ${seconds.toFixed(1)} s`);
  if (options.json) say(JSON.stringify(figures));
  // On a fast clock the app's own latency takes node-hours, too.
  const isDear = options.virtual && !isWithinBound(figures);
  if (isDear) complain(`node-hours: found ${figures.nodeHours}, expected at most ${figures.nodeHoursBound}`);
  return isClean(figures, played.finished) && !isDear ? 0 : 1;
}

function whereToLook(system: LocalSystem, speed: number): string {
  return `${speed} simulated seconds per real second; page of the run: ${pageAddress(system)}`;
}
