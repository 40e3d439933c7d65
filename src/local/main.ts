import type { Arguments } from "./arguments.ts";
import { readArguments, USAGE } from "./arguments.ts";
import { bootSeconds, clusterFor } from "./play/cluster.ts";
import type { Play, Played } from "./play/play.ts";
import { createProgress } from "./play/progress.ts";
import { playReally } from "./play/real.ts";
import { figuresOf, isClean, renderSummary } from "./play/summary.ts";
import { playVirtually } from "./play/virtual.ts";
import { serve } from "./serve.ts";
import { compressWorkload } from "./workload/compressed-workload.ts";
import { readSwfTrace } from "./workload/swf.ts";

const DEFAULT_JOBS = 200;
const DEFAULT_HOURS = 2;
const DEFAULT_PROCESSORS = 256;
const DEFAULT_CORES_PER_NODE = 16;

const say = (line: string) => process.stdout.write(`${line}\n`);
const complain = (line: string) => process.stderr.write(`${line}\n`);

async function main(): Promise<number> {
  const read = readArguments(process.argv.slice(2));
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
  if (options.serve) return serve(options.speed, options.seed, options.verbose);
  const play = await preparePlay(options);
  return play === undefined ? 2 : run(play, options);
}

/** The workload and the cluster that it needs; undefined if the trace cannot be read. */
async function preparePlay(options: Arguments): Promise<Play | undefined> {
  if (options.trace === undefined) return generatedPlay(options);
  const trace = await readSwfTrace(options.trace, options.jobs === undefined ? {} : { jobs: options.jobs });
  if (trace.kind === "unreadable") {
    complain(`${trace.path}: found ${trace.reason}, expected a readable file in Standard Workload Format`);
    return undefined;
  }
  for (const bad of trace.badLines.slice(0, 10))
    complain(`line ${bad.line}: found ${bad.found}, expected ${bad.expected}`);
  if (trace.badLines.length > 10)
    complain(`... and ${trace.badLines.length - 10} more lines that could not be read`);
  const cluster = clusterFor(trace.maxProcessors, options.coresPerNode ?? 1);
  say(
    `${trace.jobs.length} jobs of ${options.trace} (${trace.jobsWithoutProcessors} without processors left out); ` +
      `${cluster.nodes} nodes of ${cluster.coresPerNode} for ${trace.maxProcessors} processors (${trace.maxProcessorsFrom})`,
  );
  return { cluster, jobs: trace.jobs, seed: options.seed };
}

function generatedPlay(options: Arguments): Play {
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

async function run(play: Play, options: Arguments): Promise<number> {
  const began = performance.now();
  const played = options.virtual ? await playVirtually(play) : await playAndMeasure(play, options);
  const { figures, audit } = figuresOf(play, played);
  say(renderSummary(play, played, figures, audit));
  const seconds = (performance.now() - began) / 1000;
  say(`time          ${figures.simulatedHours} simulated hours in ${seconds.toFixed(1)} s`);
  if (options.json) say(JSON.stringify(figures));
  return isClean(figures, played.finished) ? 0 : 1;
}

async function playAndMeasure(play: Play, options: Arguments): Promise<Played> {
  const played = await playReally(
    play,
    options.speed,
    createProgress(process.stderr),
    options.verbose ? complain : () => undefined,
  );
  if (played.latencySeconds !== undefined) {
    const boot = bootSeconds(play.cluster);
    const share = (100 * played.latencySeconds) / boot;
    const real = (1000 * played.latencySeconds) / options.speed;
    say(
      `distortion    from a push to the create it led to, 95 %: ${real.toFixed(0)} ms x ${options.speed} = ` +
        `${played.latencySeconds.toFixed(1)} simulated s, ${share.toFixed(1)} % of the boot time of ${boot} s`,
    );
  }
  return played;
}

process.exitCode = await main();
