import type { ClusterName, ProcessId } from "../../domain/ids.ts";
import { processId } from "../../domain/ids.ts";
import type { Bytes, MemoryBudget } from "../../domain/memory-budget.ts";
import { budgetOf, DEFAULT_HEAP } from "../../domain/memory-budget.ts";
import type { Instant } from "../../domain/units.ts";
import { Gate } from "./gate.ts";
import { KnownPlans } from "./known-plans.ts";
import { OpenQuestions } from "./open-questions.ts";
import { CallMeter } from "./call-meter.ts";
import type { Recalls } from "../../decide/need/recalls.ts";
import { noRecalls } from "../../decide/need/recalls.ts";

/**
 * Callers in one process that change the same cluster's record take turns, so that they do not cause conflicts for each other. Between
 * processes the ETag decides (architecture.md, Storage).
 */
export interface Lanes {
  /** Runs `work` when all earlier work in the cluster's lane has finished. For short work: accepts of demand wait for it. */
  run<T>(cluster: ClusterName, work: () => Promise<T>): Promise<T>;
  /** The same in a separate lane, for work that writes large bodies: plans and stops. It takes its turn in the other lane for the save. */
  runWhole<T>(cluster: ClusterName, work: () => Promise<T>): Promise<T>;
  /** What this process may do with its heap. */
  readonly budget: MemoryBudget;
  /** The heap of this process. */
  readonly heap: Bytes;
  /** This process, among all that plan the same clusters. */
  readonly process: ProcessId;
  /** Messages that are being read or recorded. */
  readonly reading: Gate;
  /** Plans that are being made, by what the demand of their clusters takes. */
  readonly planning: Gate;
  /** Clusters whose last bodies written ahead became useless: see commit.ts. */
  readonly wasted: Set<ClusterName>;
  /** When this process last sent a cluster's lost wake message again. */
  readonly revivedAt: Map<ClusterName, Instant>;
  /** When this process was first asked about a cluster that has no record yet. */
  readonly askedUnborn: Map<ClusterName, Instant>;
  /** The state of the accounts with which this process signs in. */
  readonly trials: Trials;
  /** The latest results that this process derived for a cluster. */
  recallOf(cluster: ClusterName): Recalls;
  /** Facts about a cluster that this process knows and the record does not contain. */
  memoryOf(cluster: ClusterName): ClusterMemory;
}

/** What this process knows about one cluster, beside its record. It is lost with the process. */
export interface ClusterMemory {
  readonly calls: CallMeter;
  readonly questions: OpenQuestions;
  readonly plans: KnownPlans;
  /** What a plan needs for its demand, as the record said when it was last loaded. */
  demandBytes: Bytes;
}

/** A cluster whose demand takes less than this part of the room for plans does not wait for others that take more. */
export const SMALL_PART = 0.05;

/** Credentials on trial, by name: see credentials.ts. */
export interface Trials {
  /** CycleCloud has accepted them, and not refused them since. */
  readonly accepted: Set<string>;
  /** A first call is in progress. Resolves when it has ended, never rejects. */
  readonly running: Map<string, Promise<void>>;
}

/** What a process is. */
export interface ProcessFacts {
  /** Absent: that of the default size. */
  readonly heap?: Bytes;
  /** Absent: one that no other `createLanes` of this process gets. */
  readonly process?: ProcessId;
}

let processes = 0;

export function createLanes({
  heap = DEFAULT_HEAP,
  process = processId(`process-${(processes += 1)}`),
}: ProcessFacts = {}): Lanes {
  const recalls = new Map<ClusterName, Recalls>();
  const memories = new Map<ClusterName, ClusterMemory>();
  const budget = budgetOf(heap);
  const bytesOf = (cluster: ClusterName): Bytes => memories.get(cluster)?.demandBytes ?? 0;
  return {
    heap,
    process,
    budget,
    reading: new Gate(budget),
    planning: new Gate({ small: budget.demand, large: budget.demand }),
    wasted: new Set(),
    revivedAt: new Map(),
    askedUnborn: new Map(),
    trials: { accepted: new Set(), running: new Map() },
    recallOf(cluster) {
      const known = recalls.get(cluster) ?? noRecalls();
      recalls.delete(cluster);
      recalls.set(cluster, known);
      // The last results of many large clusters would fill the heap: those that were used longest ago go.
      let bytes = [...recalls.keys()].reduce((sum, one) => sum + bytesOf(one), 0);
      for (const other of recalls.keys()) {
        if (bytes <= budget.demand || other === cluster) break;
        bytes -= bytesOf(other);
        recalls.delete(other);
      }
      return known;
    },
    memoryOf(cluster) {
      const known = memories.get(cluster) ?? {
        calls: new CallMeter(),
        questions: new OpenQuestions(),
        plans: new KnownPlans(),
        demandBytes: 0,
      };
      memories.set(cluster, known);
      return known;
    },
    run: createLane(),
    runWhole: createLane(),
  };
}

function createLane(): Lanes["run"] {
  const tails = new Map<ClusterName, Promise<void>>();
  return async (cluster, work) => {
    const before = tails.get(cluster) ?? Promise.resolve();
    const turn = Promise.withResolvers<void>();
    tails.set(cluster, turn.promise);
    await before;
    try {
      return await work();
    } finally {
      turn.resolve();
      if (tails.get(cluster) === turn.promise) tails.delete(cluster);
    }
  };
}
