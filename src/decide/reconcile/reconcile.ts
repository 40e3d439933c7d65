import type { ArrayName, Owner } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { ClusterRecord, Observation } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import type { Lacking } from "../nodes/missing.ts";
import { findLacking, withMissing } from "../nodes/missing.ts";
import type { Decision } from "../../domain/decision.ts";
import { bindReported, readReports } from "../world/scheduler-only.ts";
import type { Outage } from "../../domain/troubles.ts";
import { NO_QUESTIONS } from "../../domain/questions.ts";
import { admitDemands } from "../senders/admit.ts";
import { forgetOldBackoffs } from "../intents/back-off.ts";
import { reportedHosts } from "../world/reported-hosts.ts";
import { dynamicsOf } from "../world/dynamic-arrays.ts";
import { recogniseByName } from "../world/existing-dynamics.ts";
import { withCreatesWait } from "../record/epoch.ts";
import { followInFlight } from "../intents/in-flight.ts";
import { standingsOf } from "../nodes/standing.ts";
import { divideNames, followNames } from "../nodes/names.ts";
import { followNodes } from "../nodes/ledger.ts";
import { nextOutage } from "../pace/outage.ts";
import { stoppingNodes } from "../intents/stops.ts";
import { endStarts } from "../intents/node-starts.ts";
import { withQuestions } from "../stops/questions.ts";
import { asideIn } from "../../domain/request-sets.ts";
import { withoutEnded } from "../senders/foreign-claims.ts";
import { ownedPools } from "../senders/owned-pools.ts";
import type { NodeFacts } from "../senders/host-facts.ts";
import { factsAndClaims, factsOfNodes } from "../senders/host-facts.ts";
import { replacedNow } from "../need/replaced.ts";
import type { ToWeigh } from "../need/weigh.ts";
import { lastPlanOf, weigh } from "../need/weigh.ts";
import { reachOf } from "../stops/reach.ts";
import { surveyDown } from "../stops/end-down.ts";
import { surveyKept } from "../stops/end-kept.ts";
import { endKept } from "../need/held-quota.ts";
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
  const open = stoppingNodes(record.intents);
  const snapshot = withMissing(newest.snapshot, bodies.seen, bodies.ledger, open);
  const lacking = findLacking(record, newest.snapshot);
  const observation: Observation = { ...newest, snapshot };
  const reach = reachOf(snapshot, policy);
  const found = { observation, managed: reach.managed, lacking };
  const updated = updateRecord(record, bodies.ledger, found, policy, now);
  const { outage, isRestart } = nextOutage(record, policy, now);
  const observed = withOutage(updated, outage);
  const aside = asideIn(observed, bodies.aside);
  const { facts: reported, ended } = factsAndClaims(observed, bodies, now, policy.senders);
  const facts = factsOfNodes(reported, [...goneIn(bodies.ledger), ...snapshot.nodes]);
  const { questions = NO_QUESTIONS } = bodies;
  const before = { ...bodies, ledger: withQuestions(bodies.ledger, questions), isRestart };
  const followed = followNodes(before, observation, record.inFlight, facts, now);
  const admitted = divideNames(observed, admitDemands(observed, bodies, policy, now, "plan"), policy.senders);
  const dynamics = dynamicsOf(admitted.demands, observed.dynamicArrays ?? [], snapshot);
  const started = endStarts(observed, recogniseByName(followed, dynamics), snapshot, policy, now);
  const standings = standingsOf({ snapshot, ledger: started.ledger, open, questions, facts }, policy, now);
  const around = { open, standings, facts, reach, questions, observation, policy, now };
  // Jobs that a set which is not read places are not known.
  const isResting = outage !== undefined || aside.size > 0;
  const surveyed = surveyDown({ ...started, ...around, isResting });
  const { ledger, down } = surveyed;
  const paused = pauseBuckets(surveyed.record, bodies, snapshot, ledger, around, now);
  const named = followNames(paused, admitted, { snapshot, ledger, standings }, now);
  const { pools, record: next } = ownedPools(named, bodies, aside, policy.senders);
  const hosts = reportedHosts(observed, bodies, now, policy.senders);
  const reports = readReports(hosts, { snapshot, ledger, dynamics: dynamics.keys() }, admitted.demands);
  const demands = bindReported(withoutEnded(admitted.demands, ended, policy.senders), reports);
  const wanted = { ...admitted, demands, pools, dynamics, reports, aside, last: () => lastPlanOf(bodies) };
  const weighing = withReplaced({ record: next, snapshot, ledger, standings, wanted, policy, now }, facts);
  const weighed = weigh(weighing);
  const kept = endKept(weighing, weighed, surveyKept({ ...weighing, facts, reach, questions, isResting }));
  const judged = { ...around, ledger, dynamics, admitted, aside, weighed, outage, down, kept, owner };
  return conclude({ ...judged, record: next, last: bodies.plan });
}

/** With the old nodes that are replaced: a report calls them idle, and may stop them. An open host takes jobs, so only its own question does. */
function withReplaced(asked: ToWeigh, facts: NodeFacts): ToWeigh {
  const isIdle = ({ nodeId, busyness }: LedgerNode): boolean => {
    const { keep, state } = facts.get(nodeId) ?? {};
    return busyness.state === "idle" && keep === undefined && state !== "open";
  };
  return { ...asked, replaced: replacedNow(asked, isIdle) };
}

/** The record with the outage of this plan. */
const withOutage = (record: ClusterRecord, outage: Outage | undefined): ClusterRecord =>
  outage === undefined ? record : { ...record, outage };

const goneIn = (ledger: Ledger): readonly LedgerNode[] =>
  [...ledger.values()].filter(({ goneAt }) => goneAt !== undefined);

/** What an observation shows, besides the nodes. */
interface Found {
  readonly observation: Observation;
  /** The node arrays that are ours. */
  readonly managed: ReadonlySet<ArrayName>;
  readonly lacking: Lacking | undefined;
}

/** What the record becomes by an observation, before any decision: requests in flight, lapsed sets, the plan number, backoffs, pauses. */
function updateRecord(
  record: ClusterRecord,
  ledger: Ledger,
  { observation, managed, lacking }: Found,
  policy: Policy,
  now: Instant,
): ClusterRecord {
  const { snapshot } = observation;
  const { targetStatesLackedSince: _before, ...held } = record;
  const followed = followInFlight(held, observation, ledger, policy, now);
  const lapsed = lapseParts(followed, now, policy.maxExpirationSeconds);
  const waiting = withCreatesWait(lapsed, record, snapshot, { managed, lagSeconds: policy.lagSeconds }, now);
  const { trouble: _over, outage: _old, ...rest } = waiting;
  return {
    ...rest,
    plan: record.plan + 1,
    observedGeneration: record.generation,
    backoffs: forgetOldBackoffs(followed.backoffs, now),
    lastGoodLookAt: snapshot.at,
    ...(lacking && { targetStatesLackedSince: lacking.since }),
  };
}
