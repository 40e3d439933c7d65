import { GCProfiler } from "node:v8";
import { allocate } from "../../src/decide/search/allocate.ts";
import type { Allocation } from "../../src/domain/allocation.ts";
import type { World } from "../../src/domain/world.ts";
import type { JobDemand, RankedDemand } from "../../src/domain/demand.ts";
import { setName } from "../../src/domain/ids.ts";
import { instant } from "../../src/domain/units.ts";
import { atOnce } from "../../src/domain/sliced.ts";
import { readJobsInSlices } from "../../src/wire/message/job.ts";
import { checksumOf, tally } from "./answer.ts";
import type { Load, LoadInput } from "./load.ts";
import { lowerBounds } from "./lower-bound.ts";
import { openCluster } from "./open-cluster.ts";

/** What one load of one size comes to: one line of output. The keys are a contract. */
export interface Result {
  readonly bench: string;
  readonly size: number;
  /** Of one plan: the median of all runs. */
  readonly seconds: number;
  /** `size` by `seconds`. */
  readonly perSecond: number;
  readonly nodes: number;
  readonly nodesLowerBound: number;
  readonly cost: number;
  readonly costLowerBound: number;
  /** `JSON.parse` of the text of the same input, in the same run: median. */
  readonly parseSeconds: number;
  readonly planOverParse: number;
  /** Allocated on the heap and beside it while one plan is made, for each job of the input. */
  readonly bytesPerJob: number;
  readonly checksum: string;
}

/** How often a plan is made before and while it is timed; with `warmUpSeconds` more often before, until planning has taken so long. */
export interface Runs {
  readonly warmUps: number;
  readonly warmUpSeconds?: number;
  readonly timed: number;
}

export const RUNS: Runs = { warmUps: 5, warmUpSeconds: 1, timed: 5 };

const NOW = instant(1_763_636_400_000);

/** One planning of an input that is read afresh, so that nothing is left from the run before. */
interface Scene {
  readonly world: World;
  readonly jobs: readonly JobDemand[];
  readonly demands: readonly RankedDemand[];
  readonly parseSeconds: number;
}

/** Measures a load. Every run reads its text again. Only `allocate` is timed, and `JSON.parse` for comparison. */
export function measure(load: Load, size: number, runs: Runs = RUNS): Result {
  const text = JSON.stringify(load.input(size));
  const first = checksumOf(timePlan(text, load).allocation);
  // The text of a whole answer is much garbage: it goes before anything is timed, and no more is made.
  globalThis.gc?.();
  let warmSeconds = 0;
  for (let run = 0; run < runs.warmUps || warmSeconds < (runs.warmUpSeconds ?? 0); run += 1)
    warmSeconds += timePlan(text, load).seconds;
  const timed = Array.from({ length: runs.timed }, () => {
    const { seconds, parseSeconds } = timePlan(text, load);
    return { seconds, parseSeconds };
  });
  const scene = setScene(text);
  const { bytes, allocation } = countBytes(() => plan(scene, load));
  const checksum = checksumOf(allocation);
  if (checksum !== first) throw new Error(`${load.name} ${size}: the same input gave different answers`);
  const { nodes, cost } = tally(scene.world, allocation);
  const bounds = lowerBounds(scene.world, scene.jobs);
  const planned = median(timed.map(({ seconds }) => seconds));
  const parsed = median(timed.map(({ parseSeconds }) => parseSeconds));
  return {
    bench: load.name,
    size,
    seconds: planned,
    perSecond: Math.round(size / planned),
    nodes,
    nodesLowerBound: bounds.nodes,
    cost,
    costLowerBound: bounds.cost,
    parseSeconds: parsed,
    planOverParse: planned / parsed,
    bytesPerJob: Math.round(bytes / scene.jobs.length),
    checksum,
  };
}

/** Plans an input that is read afresh. */
function timePlan(text: string, load: Load) {
  const scene = setScene(text);
  // Only what is young: a full collection would also throw away what the engine has learnt about our objects, and no app collects so often.
  globalThis.gc?.({ type: "minor" });
  const begin = performance.now();
  const allocation = plan(scene, load);
  const seconds = (performance.now() - begin) / 1000;
  return { allocation, seconds, parseSeconds: scene.parseSeconds };
}

const plan = ({ world, demands }: Scene, { policy }: Load): Allocation =>
  allocate(world, demands, policy, NOW);

function setScene(text: string): Scene {
  const begin = performance.now();
  const input: LoadInput = JSON.parse(text);
  const parseSeconds = (performance.now() - begin) / 1000;
  const { jobs, rejected } = atOnce(readJobsInSlices(input.jobs, 0));
  const [wrong] = rejected;
  if (wrong !== undefined) throw new Error(`job ${wrong.name} is refused: ${JSON.stringify(wrong.problems)}`);
  const set = setName("bench");
  return {
    world: openCluster(input.cluster),
    jobs,
    demands: jobs.map((demand) => ({ set, demand })),
    parseSeconds,
  };
}

/**
 * Bytes that an action allocates: what memory is more by at its end, and what each garbage collection meanwhile gave back. The heap and
 * what hangs on it from outside (array buffers) count both.
 */
function countBytes(action: () => Allocation): { readonly bytes: number; readonly allocation: Allocation } {
  globalThis.gc?.();
  const profiler = new GCProfiler();
  profiler.start();
  const before = process.memoryUsage();
  const allocation = action();
  const after = process.memoryUsage();
  const freed = profiler
    .stop()
    .statistics.map(({ beforeGC, afterGC }) => [beforeGC.heapStatistics, afterGC.heapStatistics] as const)
    .reduce((sum, [full, swept]) => sum + inUse(full) - inUse(swept), 0);
  const grown = after.heapUsed + after.external - before.heapUsed - before.external;
  return { bytes: Math.max(0, grown + freed), allocation };
}

const inUse = (heap: { readonly usedHeapSize: number; readonly externalMemory: number }): number =>
  heap.usedHeapSize + heap.externalMemory;

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
