import type { ClusterName } from "../../domain/ids.ts";
import type { Instant } from "../../domain/units.ts";
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
}

/** Credentials on trial, by name: see credentials.ts. */
export interface Trials {
  /** CycleCloud has accepted them, and not refused them since. */
  readonly accepted: Set<string>;
  /** A first call is in progress. Resolves when it has ended, never rejects. */
  readonly running: Map<string, Promise<void>>;
}

export function createLanes(): Lanes {
  const recalls = new Map<ClusterName, Recalls>();
  const memories = new Map<ClusterName, ClusterMemory>();
  return {
    wasted: new Set(),
    revivedAt: new Map(),
    askedUnborn: new Map(),
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
