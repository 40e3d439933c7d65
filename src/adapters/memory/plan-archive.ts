import type { PlanArchive } from "../../app/ports/record-store.ts";
import type { ClusterName } from "../../domain/ids.ts";
import type { KeptPlan } from "../../domain/kept-plan.ts";

/** Plans in memory. */
export function memoryPlanArchive(): PlanArchive {
  const clusters = new Map<ClusterName, Map<number, KeptPlan>>();
  const plansOf = (cluster: ClusterName): Map<number, KeptPlan> => {
    const plans = clusters.get(cluster) ?? new Map<number, KeptPlan>();
    clusters.set(cluster, plans);
    return plans;
  };
  return {
    async keep(cluster, kept) {
      plansOf(cluster).set(kept.plan.number, kept);
    },
    read: async (cluster, number) => plansOf(cluster).get(number),
    async list(cluster, from, to, limit) {
      return [...plansOf(cluster).values()]
        .map(({ plan, counts }) => ({ number: plan.number, at: plan.at, counts }))
        .filter(({ number }) => from <= number && number <= to)
        .toSorted((a, b) => a.number - b.number)
        .slice(0, limit);
    },
    async prune(cluster, before) {
      const plans = plansOf(cluster);
      let pruned = 0;
      for (const { plan } of plans.values()) {
        if (plan.at >= before) continue;
        plans.delete(plan.number);
        pruned += 1;
      }
      return pruned;
    },
  };
}
