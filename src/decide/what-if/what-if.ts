import type { Bodies } from "../../domain/bodies.ts";
import type { Snapshot } from "../../domain/cluster.ts";
import type { Problem } from "../../domain/demand.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Bytes } from "../../domain/units.ts";
import type { Instant } from "../../domain/units.ts";
import type { WhatIf } from "../../domain/what-if.ts";
import { enableBuckets } from "./change-buckets.ts";
import { raiseLimits } from "./raise-limits.ts";
import { stepsForRules } from "../constraints/budget.ts";
import { accept } from "../record/accept.ts";
import { stepsToFindRules } from "../senders/sender-rule.ts";
import { NO_SENDER_RULES } from "../../domain/sender-rules.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** A cluster's state as it would be with other inputs. */
type Supposed =
  | { readonly kind: "state"; readonly record: ClusterRecord; readonly bodies: Bodies }
  /** A change names something that does not exist, or there is more demand than a cluster may hold. */
  | { readonly kind: "unknown"; readonly problems: readonly Problem[] };

/**
 * The stored state with changed inputs. Demand is accepted as if it had arrived now. Limits and buckets are changed in the last believed
 * observation. If known limits explain how many nodes CycleCloud offers in a bucket, raising them raises that number too. If CycleCloud
 * offers fewer for other reasons, the number stays.
 */
export function suppose(
  record: ClusterRecord,
  bodies: Bodies,
  seen: Snapshot,
  { policy, updates, limits, buckets }: WhatIf,
  now: Instant,
  memory?: Bytes,
): Supposed {
  const problems: Problem[] = refuseRules(record, { policy, updates });
  if (problems.length > 0) return { kind: "unknown", problems };
  const enabled = enableBuckets(record, seen, buckets, problems);
  const before = { record: enabled.record, bodies: { ...bodies, seen: enabled.snapshot } };
  const raised = raiseLimits(before.record, before.bodies, enabled.snapshot, policy, limits, now, problems);
  if (problems.length > 0) return { kind: "unknown", problems };
  const demands = new Map(bodies.demands);
  const reports = new Map(bodies.reports);
  const terms = { ...withoutAbsent({ senders: policy.senders }), memory };
  let next = enabled.record;
  for (const update of updates) {
    const accepted = accept(next, update, now, terms);
    if (accepted.kind === "too-much") {
      const path = `requestSets.${update.set}`;
      return { kind: "unknown", problems: [{ ...accepted.problem, path }] };
    }
    if (accepted.kind !== "accepted") continue;
    next = accepted.record;
    for (const [digest, body] of accepted.demands) demands.set(digest, body);
    for (const [digest, body] of accepted.reports) reports.set(digest, body);
  }
  return { kind: "state", record: next, bodies: { ...bodies, demands, reports, seen: raised } };
}

/**
 * The rules for senders, if it costs more than a quarter of a plan to compare the names of all sets with them. A plan remembers what it
 * found for the rules in force. The rules of a dry run are new each time.
 */
function refuseRules(
  { sets, separateReports, separatePools }: ClusterRecord,
  { policy, updates }: Pick<WhatIf, "policy" | "updates">,
): Problem[] {
  const { senders = NO_SENDER_RULES, planSteps } = policy;
  const held = [sets, separateReports, separatePools].flatMap((entries) => [...entries.keys()]);
  const names = new Set([...held, ...updates.map(({ set }) => set)]);
  const most = stepsForRules(planSteps);
  if (stepsToFindRules(senders, names, most) <= most) return [];
  const found = `rules that cost more than ${most} steps for ${names.size} request sets`;
  return [{ path: "config.senders", found, expected: "fewer or shorter patterns, or fewer request sets" }];
}
