import type { Bodies } from "../../domain/bodies.ts";
import type { Constraint } from "../../domain/constraint.ts";
import type { ClusterName } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { isoTime } from "../../domain/units.ts";
import type { ClusterShown } from "../../wire/api/cluster-answer.ts";
import type { PagingShown } from "../../wire/api/parts.ts";
import type { App } from "../process/lanes.ts";
import { loadToShow } from "../record/load-record.ts";
import { describeBuckets } from "./describe-buckets.ts";
import { describeGroups, describeNodearrays } from "./describe-nodearrays.ts";
import { describeHealth, sinceAsked } from "./describe-health.ts";
import { describeNodes, describeSchedulerHosts } from "./describe-nodes.ts";
import { describeOutcomes, usersOf, describeWaiting } from "./describe-outcomes.ts";
import { describePlan } from "./describe-plan.ts";
import { countSets, describeSets } from "./describe-request-set.ts";
import { describeTroubles } from "./describe-troubles.ts";
import { describeUnderWay } from "./describe-under-way.ts";
import type { PageStart } from "./pages.ts";
import { Pages } from "./pages.ts";
import type { StopKeys } from "../ports/ports.ts";
import { describeStopKeys } from "./node-troubles.ts";
import type { Ceiling } from "../../domain/sender-rules.ts";
import type { ChoiceShown } from "../../wire/api/cluster-demand.ts";
import type { ClustersShown } from "../../wire/api/health-answers.ts";
import { PortError } from "../ports/port-error.ts";

/**
 * All that an operator needs to know about one cluster: demand, plan with reasons, nodes with the reasons why they stay, health.
 * `senderTime` converts a moment of ours to the senders' clocks. `start`: where the lists of this page begin. Undefined for the first page.
 * `fits`: only buckets whose new nodes meet these constraints. Throws PortError of the store.
 */
export async function describeCluster(
  app: App,
  cluster: ClusterName,
  senderTime: (at: Instant) => Instant = (at) => at,
  start?: PageStart,
  fits?: readonly Constraint[],
): Promise<ClusterShown> {
  const [current, policy] = await Promise.all([loadToShow(app, cluster), app.ports.policyOf(cluster)]);
  const now = app.ports.clock.now();
  const stopKeys = app.ports.sites.get(cluster)?.stopKeys;
  const record = sinceAsked(app, current);
  return describeState(record, current.bodies, policy, now, senderTime(now), stopKeys, start, fits);
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
  fits?: readonly Constraint[],
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
    nextLookAt: isoTime(nextObservation),
    nodearrays: pages.cut("nodearrays", describeNodearrays(record, bodies, policy, now), same, 0.2),
    buckets: pages.cut("buckets", describeBuckets(record, bodies, policy, now, fits), same, 0.3),
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

/** Maximum number of caps shown of each kind. `config` shows all of them. */
const SHOWN_CAPS = 200;

/** How new nodes are chosen and which limits apply, in the current configuration. The last plan may be older. */
function describeChoice({ preference, among, caps, prices }: Policy): ChoiceShown {
  return {
    preference,
    among,
    caps:
      caps === undefined
        ? undefined
        : { requestSets: firstCaps(caps.requestSets), users: firstCaps(caps.users) },
    prices:
      prices === undefined
        ? undefined
        : { currency: prices.currency, locations: [...prices.locations.keys()] },
  };
}

function firstCaps(caps: ReadonlyMap<string, Ceiling>): NonNullable<ChoiceShown["caps"]>["users"] {
  const first = [...caps].slice(0, SHOWN_CAPS);
  return Object.fromEntries(first.map(([name, { nodes, cores }]) => [name, { nodes, cores }]));
}

/** When the timer last ran. Undefined: never, or storage does not answer. Never throws because of storage. */
export async function describeTimer({ ports }: App): Promise<ClustersShown["timerAt"]> {
  const at = await unlessDown(() => ports.triggers.timerAt());
  return isoTime(at);
}

/** The last wake message with an id that came through the queue. Undefined: as above. Never throws because of storage. */
export async function describeLastWake(
  { ports }: App,
  cluster: ClusterName,
): Promise<ClustersShown["clusters"][number]["lastWake"]> {
  const wake = await unlessDown(() => ports.triggers.lastWake(cluster));
  return wake === undefined ? undefined : { id: wake.id, at: isoTime(wake.at) };
}

async function unlessDown<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return undefined;
  }
}
