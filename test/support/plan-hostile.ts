import { decide } from "../../src/decide/reconcile/reconcile.ts";
import type { Plan } from "../../src/domain/plan.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import { NOW } from "./build-node.ts";
import { OURS } from "./build-record.ts";
import type { HostileCluster } from "./hostile-jobs.ts";
import { clusterOf } from "./open-hostile.ts";

/** One plan of a hostile cluster, and its cost. */
export interface Planned {
  readonly plan: Plan;
  readonly processorSeconds: number;
  /** Memory of the process after the plan, less that before it. */
  readonly mebibytes: number;
}

export function planHostile(hostile: HostileCluster, nodeCount: number): Planned {
  const { record, bodies, observation } = clusterOf(hostile, nodeCount);
  const policy = { ...DEFAULT_POLICY, ...hostile.policy };
  const [before, held] = [process.cpuUsage(), process.memoryUsage().rss];
  const { plan } = decide(record, bodies, observation, policy, NOW, OURS);
  const { user, system } = process.cpuUsage(before);
  return {
    plan,
    processorSeconds: (user + system) / 1e6,
    mebibytes: (process.memoryUsage().rss - held) / 2 ** 20,
  };
}
