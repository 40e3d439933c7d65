import type { Bodies } from "../../domain/bodies.ts";
import type { ClusterName } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { isoTime } from "../../domain/units.ts";
import type { ClusterShown } from "../../wire/api/cluster-answer.ts";
import type { PagingShown } from "../../wire/api/parts.ts";
import type { App } from "../process/app.ts";
import { loadToShow } from "../record/load-record.ts";
import { describeBuckets } from "./describe-buckets.ts";
import { describeChoice } from "./describe-choice.ts";
import { describeGroups } from "./describe-groups.ts";
import { describeHealth, sinceAsked } from "./describe-health.ts";
import { describeNodearrays } from "./describe-nodearrays.ts";
import { describeNodes } from "./describe-nodes.ts";
import { describeOutcomes, usersOf } from "./describe-outcomes.ts";
import { describePlan } from "./describe-plan.ts";
import { describeSchedulerHosts } from "./describe-scheduler-hosts.ts";
import { countSets, describeSets } from "./describe-sets.ts";
import { describeTroubles } from "./describe-troubles.ts";
import { describeUnderWay } from "./describe-under-way.ts";
import { describeWaiting } from "./describe-waiting.ts";
import type { PageStart } from "./pages.ts";
import { Pages } from "./pages.ts";
import type { StopKeys } from "../ports/site.ts";
import { describeStopKeys } from "./stop-key-use.ts";

/**
 * All that an operator needs to know about one cluster: demand, plan with reasons, nodes with the reasons why they stay, health.
 * `senderTime` converts a moment of ours to the senders' clocks. `start`: where the lists of this page begin. Undefined for the first page.
 * Throws PortError of the store.
 */
export async function describeCluster(
  app: App,
  cluster: ClusterName,
  senderTime: (at: Instant) => Instant = (at) => at,
  start?: PageStart,
): Promise<ClusterShown> {
  const [current, policy] = await Promise.all([loadToShow(app, cluster), app.ports.policyOf(cluster)]);
  const now = app.ports.clock.now();
  const stopKeys = app.ports.sites.get(cluster)?.stopKeys;
  const record = sinceAsked(app, current);
  return describeState(record, current.bodies, policy, now, senderTime(now), stopKeys, start);
}

/** The same for a record at hand. */
export function describeState(
  record: ClusterRecord,
  bodies: Bodies,
  policy: Policy,
  now: Instant,
  senderNow: Instant = now,
  stopKeys?: StopKeys,
  start?: PageStart,
): ClusterShown {
  const { created, terminated, started } = record.totals;
  const health = describeHealth(record, bodies, policy, now, stopKeys);
  const pages = new Pages(start);
  // Lists that are usually short come first, so that they are complete on the first page.
  const { notes } = health;
  // When an observation is due, if not within the next minute.
  const nextObservation = record.wakeAt ?? record.restsUntil;
  const troubles = describeTroubles(record, bodies, notes, now, senderNow, stopKeys, policy);
  const described: Omit<ClusterShown, keyof PagingShown> = {
    cluster: record.cluster,
    now: isoTime(now),
    health,
    waiting: describeWaiting(bodies.plan),
    troubles: pages.cut("troubles", troubles, same, 0.1),
    choice: describeChoice(policy),
    stopKeys: describeStopKeys(record, stopKeys),
    ...describeUnderWay(record, bodies, now, pages),
    // Totals that only a newer release counts are stored and not shown.
    totals: { created, terminated, started },
    generation: record.generation,
    observedGeneration: record.observedGeneration,
    nextLookAt: nextObservation === undefined ? undefined : isoTime(nextObservation),
    nodearrays: pages.cut("nodearrays", describeNodearrays(record, bodies, policy, now), same, 0.2),
    buckets: pages.cut("buckets", describeBuckets(record, bodies, policy, now), same, 0.3),
    groups: pages.cut("groups", describeGroups(bodies, policy), same, 0.2),
    demandCounts: countSets(record, bodies, now),
    demand: describeSets(record, bodies, now, pages),
    plan: describePlan(bodies, pages),
    nodes: describeNodes(bodies, policy, now, pages),
    schedulerHosts: describeSchedulerHosts(record, bodies, policy, now, pages),
    outcomes: describeOutcomes(bodies, usersOf(record, bodies), pages),
  };
  return { ...described, ...pages.end() };
}

const same = <T>(item: T): T => item;
