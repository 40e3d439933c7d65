import type { ClusterName } from "../domain/ids.ts";
import type { Instant } from "../domain/units.ts";
import { KnownPlans } from "./known-plans.ts";
import { OpenQuestions } from "./open-questions.ts";
import { CallMeter } from "./call-meter.ts";
import type { Recalls } from "../decide/recalls.ts";
import { noRecalls } from "../decide/recalls.ts";

/**
 * Callers in one process that want to change one cluster's record take turns, so that they do not spoil each other's compare-and-set;
 * across processes the ETag decides (architecture.md, Storage).
 */
export interface Lanes {
  /** Runs `work` when everybody before it in the cluster's lane has finished. Short work: accepts of demand wait for it. */
  run<T>(cluster: ClusterName, work: () => Promise<T>): Promise<T>;
  /** The same in a lane of its own, for work that writes large bodies: plans and stops. It takes its turn in the other lane for the save. */
  runWhole<T>(cluster: ClusterName, work: () => Promise<T>): Promise<T>;
  /** Clusters whose last bodies were written ahead in vain: see commit.ts. */
  readonly wasted: Set<ClusterName>;
  /** When this process last sent a cluster's lost wake message again. */
  readonly revivedAt: Map<ClusterName, Instant>;
  /** What this process knows of the accounts it signs in with. */
  readonly trials: Trials;
  /** What this process has worked out for a cluster last. */
  recallOf(cluster: ClusterName): Recalls;
  /** What this process knows of a cluster, and the record does not. */
  memoryOf(cluster: ClusterName): ClusterMemory;
}

export interface ClusterMemory {
  readonly calls: CallMeter;
  readonly questions: OpenQuestions;
  readonly plans: KnownPlans;
}

/** Credentials on trial, by name: see credentials.ts. */
export interface Trials {
  /** CycleCloud has let them in, and not refused them since. */
  readonly accepted: Set<string>;
  /** A first call is under way; resolves, never rejects, when it has ended. */
  readonly running: Map<string, Promise<void>>;
}

export function createLanes(): Lanes {
  const recalls = new Map<ClusterName, Recalls>();
  const memories = new Map<ClusterName, ClusterMemory>();
  return {
    wasted: new Set(),
    revivedAt: new Map(),
    trials: { accepted: new Set(), running: new Map() },
    recallOf(cluster) {
      const known = recalls.get(cluster) ?? noRecalls();
      recalls.set(cluster, known);
      return known;
    },
    memoryOf(cluster) {
      const known = memories.get(cluster) ?? {
        calls: new CallMeter(),
        questions: new OpenQuestions(),
        plans: new KnownPlans(),
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
