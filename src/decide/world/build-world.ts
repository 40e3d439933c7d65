import type { BucketOffer, World, ScaleSet } from "../../domain/world.ts";
import type { Snapshot, Node } from "../../domain/cluster.ts";
import { OWN_DEFAULTS } from "../../domain/default-resource.ts";
import type { ArrayName, Digest, MachineType, PlacementGroup } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
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
import { managedArrays } from "../../domain/exclusive.ts";
import { collectInFlight, collectNodes, withStartCharges } from "./supply-nodes.ts";
import { openBucket } from "./open-bucket.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import { bootingSince, isStarting } from "../intents/node-starts.ts";
import type { BucketKey, Purpose } from "../../domain/bucket.ts";
import { bucketOf, dynamicArrayOf } from "../../domain/bucket.ts";
import { digestOfAttributes } from "../../domain/digest.ts";

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

/** The order in which capacity is used; lower goes first. */
export const ORDER = { busy: 0, ready: 1, wantsToStop: 2, coming: 3, deallocated: 4 };

/** The position of a node in the order of use. A marked node comes after others that are up. */
export function orderOf(node: Node, known: LedgerNode | undefined): number {
  if (node.phase === "ready" && known?.draining !== undefined) return ORDER.wantsToStop;
  return orderUnmarked(node, known);
}

/** The position of a node without regard to its mark. */
export function orderUnmarked(node: Node, known: LedgerNode | undefined): number {
  if (node.phase === "deallocated" && !isStarting(known)) return ORDER.deallocated;
  if (node.phase !== "ready") return ORDER.coming + ageFraction(known);
  if (known?.busyness.state === "busy") return ORDER.busy;
  return ORDER.ready + ageFraction(known);
}

/**
 * A number in [0, 1) that is larger for newer nodes, so that older ones are used first and plans stay stable. Of nodes that were first observed
 * together, those that were requested first come first.
 */
function ageFraction(known: LedgerNode | undefined): number {
  if (known === undefined) return 0;
  const askedAfter = Math.min(known.askedAfter ?? 0, REQUESTS_APART - 1);
  return Math.min(bootingSince(known) + askedAfter / REQUESTS_APART, LAST_INSTANT) / (LAST_INSTANT + 1);
}

/** In the year 2096. With this end, 53 bits have room for 500 requests in each millisecond. */
const LAST_INSTANT = 4e12;

const REQUESTS_APART = 500;

/** The key of one placement group of CycleCloud, shared by its node array and all dynamic node arrays that create their nodes there. */
export function scaleSetKey(array: ArrayName, machineType: MachineType, group: PlacementGroup): string {
  return `${array}/${machineType.toLowerCase()}/${group}`;
}

/** By {@link scaleSetKey}. */
export type ScaleSets = ReadonlyMap<string, ScaleSet>;

/**
 * What the nodes of each placement group were created with, from the ledger, the nodes in flight and the pending creates. Other nodes are
 * assumed to be as the template makes them. If a group has nodes of several kinds, the first kind in the order of text counts.
 */
function scaleSetsOf({ snapshot, ledger, inFlight, pendingCreates }: WorldInput): ScaleSets {
  const sets = new Map<string, { readonly text: string; readonly set: ScaleSet }>();
  const note = (
    bucket: BucketKey,
    purpose: Purpose | undefined,
    attributesDigest: Digest | undefined,
  ): void => {
    if (bucket.placementGroup === undefined) return;
    const dynamic = dynamicArrayOf(purpose);
    if (dynamic === undefined && attributesDigest === undefined) return;
    const key = scaleSetKey(bucket.array, bucket.machineType, bucket.placementGroup);
    const text = [dynamic, attributesDigest].join("/");
    const known = sets.get(key);
    if (known !== undefined && known.text <= text) return;
    const set = withoutAbsent({ dynamic, attributesDigest });
    sets.set(key, { text, set });
  };
  for (const node of snapshot.nodes) {
    if (node.placementGroup === undefined || node.phase === "off") continue;
    const known = ledger.get(node.nodeId);
    note(bucketOf(node), known?.purpose, known?.look);
  }
  for (const { bucket, purpose, look } of inFlight) note(bucket, purpose, look);
  for (const { bucket, purpose, attributes } of pendingCreates)
    note(bucket, purpose, digestOfAttributes(attributes));
  return new Map([...sets].map(([key, { set }]) => [key, set]));
}
