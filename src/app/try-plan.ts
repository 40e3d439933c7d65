import { isActing } from "../decide/stops/reach.ts";
import { decide } from "../decide/reconcile/reconcile.ts";
import { endRest } from "../decide/senders/shares.ts";
import { suppose } from "../decide/what-if/what-if.ts";
import type { Problem } from "../domain/demand.ts";
import { memoryOf, memoryOfReport } from "../domain/demand-memory.ts";
import type { ClusterName } from "../domain/ids.ts";
import { isoTime } from "../domain/units.ts";
import { readingOnlyNamed } from "../domain/named-configuration.ts";
import type { Observation } from "../domain/record.ts";
import { modeShown } from "../domain/plan.ts";
import type { Policy } from "../domain/policy.ts";
import type { WhatIf } from "../domain/what-if.ts";
import { withRoom } from "./record/commit.ts";
import { loadWhole } from "./record/load-record.ts";
import type { TrialShown } from "../wire/api/trial-answer.ts";
import { compareTrials, countTrial, describeTrial } from "./describe/describe-trial.ts";
import type { App } from "./process/lanes.ts";

/** The plan with the changes and the plan without them. */
type Trial =
  | { readonly kind: "tried"; readonly body: TrialShown }
  /** Changes of things that the cluster does not have. */
  | { readonly kind: "unknown"; readonly problems: readonly Problem[] }
  /** There is no observation to plan on yet. */
  | { readonly kind: "not-observed" };

/**
 * Plans on the stored record unchanged and once more with other inputs, by the same rules as every plan, and saves nothing. Both plans are
 * made now, on the last accepted observation, so that their difference results from the changes alone. They wait for other plans that need
 * the memory.
 */
export async function tryPlan(app: App, cluster: ClusterName, whatIf: WhatIf): Promise<Trial> {
  const more = whatIf.updates.reduce(
    (sum, { demand, schedulerNodes = [] }) =>
      sum + (demand === undefined ? 0 : memoryOf(demand)) + memoryOfReport(schedulerNodes),
    app.lanes.memoryOf(cluster).demandBytes,
  );
  return withRoom(app, cluster, () => tryInRoom(app, cluster, whatIf), more);
}

async function tryInRoom(app: App, cluster: ClusterName, whatIf: WhatIf): Promise<Trial> {
  const { clock, entropy, policyOf } = app.ports;
  const [loaded, policy] = await Promise.all([loadWhole(app, cluster), policyOf(cluster)]);
  const { bodies } = loaded;
  const { seen } = bodies;
  if (seen === undefined) return { kind: "not-observed" };
  const now = clock.now();
  const record = endRest(loaded.record, policy, { forDemand: false }, now);
  const owner = entropy.owner();
  const supposed = suppose(record, bodies, seen, whatIf, now, app.lanes.budget.demand);
  if (supposed.kind === "unknown") return supposed;
  const requestNodes: Observation["requestNodes"] = new Map();
  const changed = { snapshot: supposed.bodies.seen ?? seen, requestNodes };
  const present = {
    ...decide(record, bodies, { snapshot: seen, requestNodes }, policy, now, owner),
    snapshot: seen,
    policy,
  };
  const supposedPolicy = onlyNamed(whatIf.policy, policy);
  const future = {
    ...decide(supposed.record, supposed.bodies, changed, supposedPolicy, now, owner),
    snapshot: changed.snapshot,
    policy: supposedPolicy,
  };
  const { mode, observed } = modeShown(future.plan);
  return {
    kind: "tried",
    body: {
      cluster,
      lookedAt: isoTime(seen.at),
      currency: whatIf.policy.prices?.currency,
      acting: isActing(changed.snapshot, whatIf.policy),
      mode,
      observed,
      plan: describeTrial(future),
      without: countTrial(present),
      difference: compareTrials(present, future),
    },
  };
}

/** A dry run reads no more of a template's Configuration than the plans do. */
function onlyNamed(policy: Policy, inForce: Policy): Policy {
  const { defaultResources } = policy;
  return defaultResources === undefined
    ? policy
    : { ...policy, defaultResources: readingOnlyNamed(defaultResources, inForce.defaultResources) };
}
