import type { Allocation } from "../../domain/allocation.ts";
import type { Snapshot } from "../../domain/cluster.ts";
import type { NodeId } from "../../domain/ids.ts";
import { sameMachineType } from "../../domain/ids.ts";
import type { Draining } from "../../domain/ledger.ts";
import type { LimitKind } from "../../domain/limit.ts";
import { isStopping, standingIn } from "../../domain/node-standing.ts";
import { isShort } from "../../domain/plan.ts";
import { compareText } from "../../domain/text.ts";
import { buildWorld, orderOf } from "../world/build-world.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import type { BucketOffer, Charge, World } from "../../domain/world.ts";
import type { KeptNodes } from "../stops/end-kept.ts";
import { overdue } from "../stops/end-kept.ts";
import { Trials } from "./spare.ts";
import type { ToWeigh, Weighed } from "./weigh.ts";
import { supplyNow } from "./weigh.ts";

/** Which deallocated nodes end with a plan: those whose time is over, and those that hold quota that demand needs. */
export function endKept(asked: ToWeigh, weighed: Weighed, ends: KeptNodes["ends"]): KeptNodes {
  const due = new Map<NodeId, Draining["by"]>();
  const starts = new Set(weighed.allocation.starts);
  for (const id of overdue(ends, asked)) if (!starts.has(id)) due.set(id, "deallocated-timeout");
  for (const id of holdersOf(asked, weighed, ends)) if (!due.has(id)) due.set(id, "quota");
  return { ends, due };
}

const QUOTAS: ReadonlySet<LimitKind> = new Set(["family-quota", "regional-quota", "regional-spot-quota"]);

/**
 * The deallocated nodes whose quota the demand needs: as many as a plan takes that has the quota of all of them. They are ended only if a plan
 * with the quota of these alone serves more. Nodes that are on their way out give their quota first.
 */
function holdersOf(
  asked: ToWeigh,
  { allocation, leftOut }: Weighed,
  ends: KeptNodes["ends"],
): readonly NodeId[] {
  const { snapshot, wanted, now } = asked;
  const starts = new Set(allocation.starts);
  const all = [...ends].flatMap(([id, { held }]) => (held === undefined && !starts.has(id) ? [id] : []));
  if (all.length === 0 || !lacksQuota(allocation)) return [];
  const demands = leftOut.others(wanted.demands);
  const supply = supplyNow(asked);
  const trials = new Trials(supply, now, allocation.steps);
  const world = buildWorld({ ...supply, demands, order: orderOf });
  const planWith = (nodes: readonly NodeId[]): Allocation =>
    trials.plan(withQuota(world, nodes, snapshot), demands);
  const going = goingIn(asked);
  const most = planWith([...going, ...all]);
  const chosen = enoughFor(most, withQuota(world, going, snapshot), inOrder(all, asked), snapshot);
  if (chosen.length === 0) return [];
  const isBetter = servesMore(planWith([...going, ...chosen]), planWith(going));
  return isBetter && !trials.isOver ? chosen : [];
}

/** Whether demand is unmet for lack of quota. */
function lacksQuota({ outcomes }: Pick<Allocation, "outcomes">): boolean {
  return outcomes.some(
    (outcome) =>
      isShort(outcome) &&
      outcome.reasons.some((reason) => reason.code === "limit-reached" && QUOTAS.has(reason.limit.kind)),
  );
}

/**
 * Nodes on their way out, and those whose start is under way: the plan counts these as new ones, and they hold their quota already. The quota of
 * nodes that are being deallocated stays in use.
 */
function goingIn({ snapshot, ledger, standings, record }: ToWeigh): readonly NodeId[] {
  const kept = new Set(
    record.intents.flatMap(({ effect }) =>
      effect.kind === "terminate" && effect.act !== undefined ? effect.nodes : [],
    ),
  );
  return snapshot.nodes.flatMap(({ nodeId, phase }) => {
    const standing = standingIn(standings, nodeId);
    if (standing.kind === "starting") return [nodeId];
    const isGoing = phase === "going" || isStopping(standing);
    return isGoing && !kept.has(nodeId) && ledger.get(nodeId)?.draining?.act === undefined ? [nodeId] : [];
  });
}

/** Those that demand does not start first, then those that are deallocated for longest. */
function inOrder(nodes: readonly NodeId[], { ledger }: ToWeigh): readonly NodeId[] {
  const rank = (id: NodeId): number => (ledger.get(id)?.kept?.by === "down" ? 0 : 1);
  const since = (id: NodeId): number => ledger.get(id)?.kept?.since ?? 0;
  return nodes.toSorted((a, b) => rank(a) - rank(b) || since(a) - since(b) || compareText(a, b));
}

/**
 * The world in which the quota of these nodes is free: no more than is in use beyond the other nodes with a VM, because it is not certain
 * that deallocated nodes hold theirs (cyclecloud-wire.md A.5).
 */
function withQuota(world: World, nodes: readonly NodeId[], snapshot: Snapshot): World {
  const freed = new Set(nodes);
  const running = snapshot.nodes.flatMap(({ nodeId, phase }) =>
    phase === "off" || phase === "deallocated" || freed.has(nodeId) ? [] : [nodeId],
  );
  const runningUse = sumByLimit(quotaOf(running, world, snapshot));
  const more = new Map<number, number>();
  for (const [limit, amount] of sumByLimit(quotaOf(nodes, world, snapshot))) {
    const held = (world.limits[limit]?.used ?? 0) - (runningUse.get(limit) ?? 0);
    more.set(limit, Math.max(0, Math.min(amount, held)));
  }
  for (const offer of world.buckets) {
    // CycleCloud's number of available nodes follows from the quotas.
    const rooms = offer.charges
      .filter(({ limit, amount }) => amount > 0 && isQuota(world, limit))
      .map(({ limit, amount }) => Math.floor((more.get(limit) ?? 0) / amount));
    const own = offer.charges.find(({ limit }) => world.limits[limit]?.id.kind === "bucket");
    if (own !== undefined) more.set(own.limit, Math.max(0, ...rooms));
  }
  const limits = world.limits.map((limit, index) => {
    const added = more.get(index) ?? 0;
    // What is used beyond the maximum is no room.
    const room = isQuota(world, index) ? limit.max - limit.used + added : Number.POSITIVE_INFINITY;
    return { ...limit, left: Math.max(0, Math.min(limit.left + added, room)) };
  });
  return { ...world, limits };
}

function sumByLimit(charges: readonly Charge[]): ReadonlyMap<number, number> {
  const sums = new Map<number, number>();
  for (const { limit, amount } of charges) sums.set(limit, (sums.get(limit) ?? 0) + amount);
  return sums;
}

/** What the nodes take of quotas. */
function quotaOf(nodes: readonly NodeId[], world: World, { nodes: shown }: Snapshot): readonly Charge[] {
  const ids = new Set(nodes);
  return shown.flatMap((node) =>
    ids.has(node.nodeId)
      ? (offerOf(world, node)?.charges.filter(({ limit }) => isQuota(world, limit)) ?? [])
      : [],
  );
}

function isQuota({ limits }: World, limit: number): boolean {
  const kind = limits[limit]?.id.kind;
  return kind !== undefined && QUOTAS.has(kind);
}

function offerOf(
  { buckets }: World,
  { array, machineType }: Pick<BucketKey, "array" | "machineType">,
): BucketOffer | undefined {
  return buckets.find(
    ({ bucket }) => bucket.array === array && sameMachineType(bucket.machineType, machineType),
  );
}

/** As many of the candidates as have the quota that the plan's new nodes take beyond what is left. */
function enoughFor(
  { creates, starts }: Allocation,
  world: World,
  candidates: readonly NodeId[],
  snapshot: Snapshot,
): readonly NodeId[] {
  const lacking = new Map<number, number>();
  for (const { bucket, count } of creates)
    for (const { limit, amount } of offerOf(world, bucket)?.charges ?? [])
      if (isQuota(world, limit))
        lacking.set(limit, (lacking.get(limit) ?? -(world.limits[limit]?.left ?? 0)) + amount * count);
  const chosen: NodeId[] = [];
  for (const id of candidates) {
    const held = quotaOf([id], world, snapshot);
    if (starts.includes(id) || !held.some(({ limit }) => (lacking.get(limit) ?? 0) > 0)) continue;
    for (const { limit, amount } of held) lacking.set(limit, (lacking.get(limit) ?? 0) - amount);
    chosen.push(id);
  }
  return chosen;
}

/** Whether the first plan serves the demand of the highest rank in which they differ better. */
function servesMore(first: Allocation, second: Allocation): boolean {
  const differs = first.outcomes.findIndex(({ placed }, at) => placed !== second.outcomes[at]?.placed);
  return (first.outcomes[differs]?.placed ?? 0) > (second.outcomes[differs]?.placed ?? 0);
}
