import type { AllocationPolicy } from "../../domain/allocation.ts";
import type { Policy } from "../../domain/policy.ts";

/** How generated placement groups are called. */
const GROUP_PREFIX = "group-";

/** How the allocator is to choose, by a cluster's configuration. */
export function allocationPolicyOf(policy: Policy): AllocationPolicy {
  const { preference, among, groupFillTimeoutSeconds: groupFillSeconds, planSteps: steps } = policy;
  return {
    groupPrefix: GROUP_PREFIX,
    groupFillSeconds,
    preference,
    among,
    ...(steps === undefined ? {} : { steps }),
  };
}
