import { bindReported, readReports } from "../world/scheduler-only.ts";
import type { Owner } from "../../domain/ids.ts";
import type { Snapshot } from "../../domain/cluster.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { Ledger } from "../../domain/ledger.ts";
import type { ClusterRecord, Observation } from "../../domain/record.ts";
import type { PoolOwners } from "../../domain/request-sets.ts";
import type { Outage } from "../../domain/troubles.ts";
import { NO_QUESTIONS } from "../../domain/questions.ts";
import type { Instant } from "../../domain/units.ts";
import { admitToPlan } from "../senders/admit.ts";
import { forgetOldBackoffs } from "../intents/back-off.ts";
import { reportedHosts } from "../world/reported-hosts.ts";
import { dynamicsOf } from "../world/dynamic-arrays.ts";
import { recogniseByName } from "../world/existing-dynamics.ts";
import { withCreatesWait } from "../record/epoch.ts";
import { followInFlight } from "../intents/in-flight.ts";
import { withMissing } from "../nodes/missing.ts";
import { followDown } from "../nodes/down-clock.ts";
import { updateLedger } from "../nodes/ledger.ts";
import { isMemoryOld, nextOutage } from "../pace/outage.ts";
import { endStarts } from "../intents/node-starts.ts";
import { withQuestions } from "../stops/questions.ts";
import type { Lacking } from "../nodes/doubt.ts";
import { asideIn } from "../../domain/aside.ts";
import { findLacking } from "../nodes/doubt.ts";
import type { Decision } from "../../domain/decision.ts";
import { withoutEnded } from "../senders/foreign-claims.ts";
import { ownedPools } from "../senders/owned-pools.ts";
import { managedArrays } from "../../domain/managed-arrays.ts";
import type { HostFacts } from "../senders/host-facts.ts";
import { factsAndClaims } from "../senders/host-facts.ts";
import { lastPlanOf, weigh } from "../need/weigh.ts";
import { surveyDown } from "../stops/end-down.ts";
import { pauseBuckets } from "../stops/pause-buckets.ts";
import { conclude } from "./conclude.ts";
import { lapseParts } from "../record/lapse.ts";

/**
 * Decides from the demand and one believed observation what to create, start and stop (architecture.md, The decision model). Equal inputs
 * give equal decisions. A second decision on the result of the first has nothing to do.
 */
export function decide(
  record: ClusterRecord,
  bodies: Bodies,
  newest: Observation,
  policy: Policy,
  now: Instant,
  owner: Owner,
): Decision {
  const snapshot = withMissing(newest.snapshot, bodies.seen, bodies.ledger, record.intents);
  const observation: Observation = { ...newest, snapshot };
  const outage = nextOutage(record, policy, now);
  const lacking = findLacking(record, newest.snapshot);
  const observed = updateRecord(record, bodies.ledger, observation, { outage, lacking }, policy, now);
  const { facts, ended } = factsAndClaims(observed, bodies, now, policy.senders);
  const questions = bodies.questions ?? NO_QUESTIONS;
  const updated = updateNodes(
    record,
    withQuestions(bodies.ledger, questions),
    observation,
    { facts, before: bodies.seen },
    policy,
    now,
  );
  const admitted = admitToPlan(observed, bodies, policy);
  const dynamics = dynamicsOf(admitted.demands, observed.dynamicArrays ?? [], snapshot);
  const named = recogniseByName(updated, dynamics);
  const started = endStarts(observed, named, snapshot, policy, now);
  const aside = asideIn(observed, bodies.aside);
  // Jobs that such a set places are not known.
  const isResting = outage !== undefined || aside.size > 0;
  const surveyed = surveyDown({ ...started, observation, questions, facts, policy, isResting, now });
  const { ledger, down } = surveyed;
  const next = pauseBuckets(surveyed.record, bodies, snapshot, ledger, facts, policy, now);
  const { pools, owners } = ownedPools(observed, bodies, policy.senders);
  const hosts = reportedHosts(observed, bodies, now, policy.senders);
  const cluster = { snapshot, ledger, dynamics: dynamics.keys() };
  const reports = readReports(hosts, cluster, admitted.demands);
  const demands = bindReported(withoutEnded(admitted.demands, ended, policy.senders), reports);
  const wanted = { ...admitted, demands, pools, dynamics, reports, aside, last: () => lastPlanOf(bodies) };
  const weighed = weigh({ record: next, snapshot, ledger, questions, wanted, policy, now });
  const found = { dynamics, admitted, aside, observation, ledger, questions, facts, weighed, outage, down };
  return conclude({ ...found, record: withPoolOwners(next, owners), last: bodies.plan, policy, now, owner });
}

/** What the record becomes by an observation, before any decision: requests in flight, lapsed sets, the plan number, backoffs, pauses. */
function updateRecord(
  record: ClusterRecord,
  ledger: Ledger,
  observation: Observation,
  { outage, lacking }: { readonly outage: Outage | undefined; readonly lacking: Lacking | undefined },
  policy: Policy,
  now: Instant,
): ClusterRecord {
  const { snapshot } = observation;
  const { targetStatesLackedSince: _before, ...held } = record;
  const followed = followInFlight(held, observation, ledger, policy, now);
  const lapsed = lapseParts(followed, now, policy.maxExpirationSeconds);
  const managed = managedArrays(snapshot, policy);
  const waiting = withCreatesWait(lapsed, record, snapshot, { managed, lagSeconds: policy.lagSeconds }, now);
  const { trouble: _over, outage: _old, ...rest } = waiting;
  return {
    ...rest,
    plan: record.plan + 1,
    observedGeneration: record.generation,
    backoffs: forgetOldBackoffs(followed.backoffs, now),
    lastGoodLookAt: snapshot.at,
    ...(lacking === undefined ? {} : { targetStatesLackedSince: lacking.since }),
    ...(outage === undefined ? {} : { outage }),
  };
}

/** What the ledger becomes by an observation. */
function updateNodes(
  record: ClusterRecord,
  ledger: Ledger,
  observation: Observation,
  { facts, before }: { readonly facts: HostFacts; readonly before: Snapshot | undefined },
  policy: Policy,
  now: Instant,
): Ledger {
  const isRestart = isMemoryOld(record, policy, now);
  const updated = updateLedger(ledger, observation, record.inFlight, facts, now);
  const followed = followDown(updated, before, observation, { isRestart }, now);
  return isRestart ? restartClocks(followed, now) : followed;
}

/** The ledger with all idle times starting now: the time in which the autoscaler did not observe does not count. */
function restartClocks(ledger: Ledger, now: Instant): Ledger {
  return new Map(
    [...ledger].map(([id, node]) => [id, { ...node, busyness: { ...node.busyness, since: now } }]),
  );
}

function withPoolOwners(record: ClusterRecord, owners: PoolOwners): ClusterRecord {
  const { poolOwners: _before, ...rest } = record;
  return owners.length === 0 ? rest : { ...rest, poolOwners: owners };
}
