import type { Owner } from "../domain/ids.ts";
import type { Policy } from "../domain/policy.ts";
import type { Bodies } from "../domain/bodies.ts";
import type { Ledger } from "../domain/ledger.ts";
import type { ClusterRecord } from "../domain/record.ts";
import type { PoolOwners } from "../domain/request-sets.ts";
import { NO_QUESTIONS } from "../domain/questions.ts";
import type { Instant } from "../domain/units.ts";
import { admitDemands } from "./senders/admit.ts";
import { forgetOldBackoffs } from "./intents/back-off.ts";
import { bindReported } from "./world/bind-reported.ts";
import { dynamicsOf } from "./world/dynamic-arrays.ts";
import { recogniseByName } from "./world/existing-dynamics.ts";
import { withCreatesWait } from "./record/epoch.ts";
import { followInFlight } from "./intents/in-flight.ts";
import { withMissing } from "./nodes/missing.ts";
import { updateLedger } from "./nodes/ledger.ts";
import { isMemoryOld, nextOutage } from "./pace/outage.ts";
import { endStarts } from "./intents/node-starts.ts";
import { withQuestions } from "./stops/questions.ts";
import { Recall } from "./need/recall.ts";
import { reportedHosts } from "./world/reported-hosts.ts";
import { readReports } from "./world/scheduler-only.ts";
import type { Lacking } from "./nodes/unclear.ts";
import { findLacking } from "./nodes/unclear.ts";
import type { Observation } from "../domain/observation.ts";
import type { Decision } from "../domain/decision.ts";
import { ownedPools } from "./senders/owned-pools.ts";
import { managedArrays } from "../domain/managed-arrays.ts";
import { hostFacts } from "./senders/host-facts.ts";
import type { Weighing } from "./need/weigh.ts";
import { lastPlanOf, weigh } from "./need/weigh.ts";
import { pauseBuckets } from "./stops/pause-buckets.ts";
import { conclude } from "./conclude.ts";
import { lapseParts } from "./record/lapse.ts";

/**
 * Works out, from demand and one believed observation, what to create and what to stop (architecture.md, The decision model): the same
 * record and observation always give the same decision, and applying it and observing again gives "nothing to do". `recall` only spares work.
 */
export function decide(
  record: ClusterRecord,
  bodies: Bodies,
  newest: Observation,
  policy: Policy,
  now: Instant,
  owner: Owner,
  recall: Recall<Weighing> = new Recall(),
): Decision {
  const snapshot = withMissing(newest.snapshot, bodies.seen, bodies.ledger, record.intents);
  const observation: Observation = { ...newest, snapshot };
  const number = record.plan + 1;
  const outage = nextOutage(record, policy, now);
  const { targetStatesLackedSince: _before, ...held } = record;
  const followed = followInFlight(held, observation, bodies.ledger, policy, now);
  const lapsed = lapseParts(followed, now, policy.maxExpirationSeconds);
  const managed = managedArrays(observation.snapshot, policy);
  const observed: ClusterRecord = withoutTrouble({
    ...withCreatesWait(lapsed, record, observation.snapshot, { managed, lagSeconds: policy.lagSeconds }, now),
    plan: number,
    observedGeneration: record.generation,
    backoffs: forgetOldBackoffs(followed.backoffs, now),
    lastGoodLookAt: observation.snapshot.at,
    ...lackedSince(findLacking(record, newest.snapshot)),
  });
  const rested: ClusterRecord = outage === undefined ? withoutOutage(observed) : { ...observed, outage };
  const facts = hostFacts(rested, bodies, now, policy.senders);
  const questions = bodies.questions ?? NO_QUESTIONS;
  const before = withQuestions(bodies.ledger, questions);
  const seen = updateLedger(before, observation, record.inFlight, facts, now);
  const rewound = isMemoryOld(record, policy, now) ? restartClocks(seen, now) : seen;
  const admitted = admitDemands(rested, bodies, policy);
  const sent = admitted.demands;
  const dynamics = dynamicsOf(sent, rested.dynamicArrays ?? [], observation.snapshot);
  const known = recogniseByName(rewound, dynamics);
  const { record: started, ledger } = endStarts(rested, known, observation.snapshot, policy, now);
  const next = pauseBuckets(started, bodies.seen, observation.snapshot, ledger, facts, policy, now);
  const { senders } = policy;
  const { pools, owners } = ownedPools(rested, bodies, senders);
  const reports = readReports(
    reportedHosts(rested, bodies, now, senders),
    { snapshot: observation.snapshot, ledger, dynamics: dynamics.keys() },
    sent,
  );
  const wanted = {
    demands: bindReported(sent, reports),
    pools,
    dynamics,
    reports,
    last: () => lastPlanOf(bodies),
  };
  const weighed = weigh({
    record: next,
    snapshot: observation.snapshot,
    ledger,
    questions,
    wanted,
    policy,
    now,
    recall,
  });
  return conclude({
    record: withPoolOwners(next, owners),
    dynamics,
    admitted,
    observation,
    ledger,
    questions,
    facts,
    weighed,
    last: bodies.plan,
    policy,
    now,
    owner,
    outage,
  });
}

function withoutOutage(record: ClusterRecord): ClusterRecord {
  const { outage: _over, ...rest } = record;
  return rest;
}

function withoutTrouble(record: ClusterRecord): ClusterRecord {
  const { trouble: _over, ...rest } = record;
  return rest;
}

/** What the record keeps of statuses that mostly lack TargetState: when the line of them began, and nothing once it has ended. */
function lackedSince(lacking: Lacking | undefined): Pick<ClusterRecord, "targetStatesLackedSince"> {
  return lacking === undefined ? {} : { targetStatesLackedSince: lacking.since };
}

/** No idle clock advances across a gap of ours. */
function restartClocks(ledger: Ledger, now: Instant): Ledger {
  return new Map(
    [...ledger].map(([id, node]) => [id, { ...node, busyness: { ...node.busyness, since: now } }]),
  );
}

function withPoolOwners(record: ClusterRecord, owners: PoolOwners): ClusterRecord {
  const { poolOwners: _before, ...rest } = record;
  return owners.length === 0 ? rest : { ...rest, poolOwners: owners };
}
