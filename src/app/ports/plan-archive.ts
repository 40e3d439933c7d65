import type { ClusterName } from "../../domain/ids.ts";
import type { KeptPlan, KeptPlanRow } from "../../domain/kept-plan.ts";
import type { Instant } from "../../domain/units.ts";

/** Plans that changed something. They can be explained while they are kept. */
export interface PlanArchive {
  /** Replaces a plan with the same number. A plan that is too large for a row is kept in part: see {@link lesserPlans}. */
  keep(cluster: ClusterName, kept: KeptPlan): Promise<void>;
  /** Undefined if the plan changed nothing, or is no longer kept. */
  read(cluster: ClusterName, number: number): Promise<KeptPlan | undefined>;
  /** Kept plans with numbers from `from` to `to`, ascending, the first `limit`. */
  list(cluster: ClusterName, from: number, to: number, limit: number): Promise<readonly KeptPlanRow[]>;
  /** Removes plans made before `before`, at most a few hundred per call. Returns their number. */
  prune(cluster: ClusterName, before: Instant): Promise<number>;
}
