import type { AllocationPolicy } from "../../domain/allocation.ts";
import type { Policy } from "../../domain/policy.ts";

/** Prefix of the names of generated placement groups. */
const GROUP_PREFIX = "group-";

/** The allocator's policy, from the configuration of a cluster. */
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
