import type { BucketOffer, World } from "../../domain/world.ts";
import type { Snapshot } from "../../domain/cluster.ts";
import { OWN_DEFAULTS } from "../../domain/default-resource.ts";
import type { ArrayName } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Ledger } from "../../domain/ledger.ts";
import { catalogueOf } from "../../domain/vm-size-data.ts";
import { dynamicOffers, dynamicSupply } from "./dynamic-offers.ts";
import { stepsForDefaults, stepsForRules } from "../constraints/budget.ts";
import { capsInForce } from "../senders/caps-in-force.ts";
import { restingOf } from "../senders/shares.ts";
import { stepsToFindRules } from "../senders/sender-rule.ts";
import { NO_SENDER_RULES } from "../../domain/sender-rules.ts";
import { Ceilings, countUsage } from "./ceilings.ts";
import type { Opposites } from "./counterparts.ts";
import { counterpartsOf, oppositesOf } from "./counterparts.ts";
import { familyOf } from "./quota-family.ts";
import type { ResourceRules } from "./cluster-buckets.ts";
import { ClusterBuckets } from "./cluster-buckets.ts";
import { ReportedSupply } from "./reported-supply.ts";
import type { WorldInput } from "./world-input.ts";
import { scaleSetsOf } from "./scale-sets.ts";
import { managedArrays } from "../../domain/managed-arrays.ts";
import { collectInFlight, collectNodes, withStartCharges } from "./supply-nodes.ts";
import { openBucket } from "./open-bucket.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/**
 * The nodes, buckets and limits that the allocator may use, from one observation and the record. Nodes are capacity if they are up, on their
 * way up or in doubt, in arrays that are ours, and not excluded. Their bucket may be gone, or may take no new nodes (cyclecloud-wire.md A.3,
 * semantics 5). Other failed, unknown, going or off nodes are no capacity (A.5). A deallocated node must be started first, and counts
 * against the limits from the moment at which its start was requested. The limits are those of A.3, semantics 1 to 6.
 */
export function buildWorld(input: WorldInput): World {
  const { snapshot, policy } = input;
  const managed = judgeArrays(snapshot, policy);
  const dynamic = dynamicSupply(input, managed);
  const { arrays } = dynamic;
  const clusterBuckets = new ClusterBuckets([...snapshot.arrays, ...dynamic.copies], rulesOf(policy));
  const reported = new ReportedSupply(input.reports);
  const nodes = collectNodes(input, managed, clusterBuckets, reported);
  const inFlight = collectInFlight(input, managed, clusterBuckets);
  const offered = offerBuckets(input, managed, clusterBuckets, reported);
  const { buckets, limits, opposites } = offered;
  const counterparts = counterpartsOf(buckets, input.demands, opposites, clusterBuckets, policy);
  const scaleSets = scaleSetsOf(input);
  const closed = closedReason(snapshot);
  const caps = capsInForce(policy, input.demands ?? []);
  const ours = nodes.some(({ deallocated }) => deallocated === true)
    ? nodes.flatMap((node) => withStartCharges(node, buckets, limits))
    : nodes;
  const others = reported.hosts(policy);
  const steps = clusterBuckets.spent + stepsOfRules(input);
  return {
    nodes: others.length === 0 ? ours : [...ours, ...others],
    inFlight,
    buckets,
    limits,
    arrays,
    ...(dynamic.refused.size === 0 ? {} : { refusedArrays: dynamic.refused }),
    ...(scaleSets.size === 0 ? {} : { scaleSets }),
    ...withoutAbsent({ pools: input.pools, blockedNames: input.blockedNames }),
    ...(caps.length === 0 ? {} : { caps }),
    ...(counterparts.size === 0 ? {} : { counterparts }),
    ...withoutAbsent({ closed }),
    ...(namesGroups(policy) ? { namesGroups: true } : {}),
    ...withoutAbsent({ groupFills: input.groupFills }),
    ...formerGroups(input.ledger),
    ...(steps === 0 ? {} : { steps }),
    ...(input.resting === undefined ? {} : { resting: restingOf(input.resting, policy) }),
    ...(clusterBuckets.isSpent ? { isTooDear: true } : {}),
  };
}

/**
 * What it costs to find the rules of the sets that ask for something (docs/decisions.md, "What a plan reads of the configuration is counted
 * in its steps"). At most a quarter of a plan: the lookups are remembered, so that the next plans do not pay for them.
 */
function stepsOfRules({ policy, demands = [] }: WorldInput): number {
  const { senders = NO_SENDER_RULES, planSteps } = policy;
  const most = stepsForRules(planSteps);
  return Math.min(most, stepsToFindRules(senders, new Set(demands.map(({ set }) => set)), most));
}

interface Offered {
  readonly buckets: readonly BucketOffer[];
  readonly limits: World["limits"];
  readonly opposites: Opposites;
}

/** The buckets of arrays that are ours in order of priority, then those of dynamic arrays. The limits include those of both. */
function offerBuckets(
  input: WorldInput,
  managed: ReadonlyMap<ArrayName, "managed" | "not-managed">,
  clusterBuckets: ClusterBuckets,
  reported: ReportedSupply,
): Offered {
  const { snapshot, policy } = input;
  const usage = countUsage(clusterBuckets.all());
  const catalogue = catalogueOf(policy);
  const ceilings = new Ceilings(snapshot.limit, usage.cluster, (location, size) =>
    familyOf(catalogue, location, size),
  );
  const opened = snapshot.arrays
    .filter((array) => managed.get(array.name) === "managed")
    .toSorted((a, b) => b.priority - a.priority)
    .flatMap((array) =>
      array.buckets.map((bucket) => openBucket(input, array, bucket, clusterBuckets, usage, ceilings)),
    )
    .map((one) => ({ ...one, offer: reported.believed(one.offer) }));
  const own = opened.map(({ offer }) => offer);
  const opposites = oppositesOf(opened, ceilings);
  const dynamic = dynamicOffers(input, own, opposites, clusterBuckets, ceilings).map((one) =>
    reported.believed(one),
  );
  return { buckets: [...own, ...dynamic], limits: ceilings.limits(), opposites };
}

/** Whether the configuration names a placement group of any array. Arrays that are not autoscaled count too, as in scalelib. */
function namesGroups({ placementGroups }: Policy): boolean {
  return [...(placementGroups?.values() ?? [])].some((groups) => groups.length > 0);
}

/** Groups of which the ledger has a node, even if it is gone. */
function formerGroups(ledger: Ledger): Pick<World, "formerGroups"> {
  const names = new Set<string>();
  for (const { purpose } of ledger.values()) {
    if (purpose.kind === "group" && purpose.group !== undefined) names.add(purpose.group);
  }
  return names.size === 0 ? {} : { formerGroups: names };
}

function rulesOf(policy: Policy): ResourceRules {
  const { defaultResources = [], planSteps } = policy;
  const steps = stepsForDefaults(planSteps);
  return { configured: defaultResources, own: OWN_DEFAULTS, catalogue: catalogueOf(policy), steps };
}

/** The same cluster with only the nodes that are up: no other node can replace one that is stopped now. */
export function readyOnly(world: World): World {
  return { ...world, nodes: world.nodes.filter((node) => node.ready), inFlight: [], buckets: [], limits: [] };
}

function judgeArrays(snapshot: Snapshot, policy: Policy): Map<ArrayName, "managed" | "not-managed"> {
  const managed = managedArrays(snapshot, policy);
  return new Map(snapshot.arrays.map(({ name }) => [name, managed.has(name) ? "managed" : "not-managed"]));
}

/** Why no new nodes are made. The cluster must be started and meant to be: a terminated one could start nodes (A.3, ClusterStatus). */
function closedReason(snapshot: Snapshot): Reason | undefined {
  const { state = "none", targetState = "none" } = snapshot;
  if (state === "Started" && targetState === "Started") return undefined;
  return { code: "cluster-not-started", state, targetState };
}
