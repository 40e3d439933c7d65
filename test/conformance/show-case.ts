import type { Allocation, PlacementOrder } from "../../src/domain/allocation.ts";
import type { BucketOffer, World } from "../../src/domain/world.ts";
import { bucketText } from "../../src/domain/bucket.ts";
import type { BucketKey } from "../../src/domain/bucket.ts";
import type { JobDemand } from "../../src/domain/demand.ts";
import type { PlacementGroup } from "../../src/domain/ids.ts";
import { STATUSES } from "./answer-evaluate.ts";
import type { Json } from "./compare.ts";
import { isList, isObject, textOf } from "./compare.ts";
import { Replay } from "./replay.ts";

/*
 * What our allocator's answer looks like in the form of the vectors.
 */

export function showJob(job: JobDemand, order: PlacementOrder, replay: Replay): Json {
  const used = replay.follow(job, order);
  const allocated = used.reduce((sum, { slots }) => sum + slots, 0);
  const requested = job.nodeCount ?? job.iterations;
  const status =
    order.candidates.length === 0
      ? "NoCandidatesFound"
      : allocated === 0
        ? "NoAllocationSelected"
        : "success";
  const buckets = new Map<string, { bucket: string; existing: number; new: number; slots: number }>();
  for (const { node, fresh, slots } of used) {
    const entry = buckets.get(node.bucket) ?? { bucket: node.bucket, existing: 0, new: 0, slots: 0 };
    buckets.set(node.bucket, {
      ...entry,
      existing: entry.existing + (fresh ? 0 : 1),
      new: entry.new + (fresh ? 1 : 0),
      slots: entry.slots + slots,
    });
  }
  return {
    job: job.name,
    unit: job.nodeCount === undefined ? "slots" : "nodes",
    requested,
    status,
    allocated,
    remaining: requested - allocated,
    by_bucket: [...buckets.values()],
    nodes: used.map(({ node, fresh, slots }) => [node.name, fresh ? "new" : "existing", slots]),
    ...(order.candidates.length === 0
      ? {
          rejections: order.refused.map(({ bucket, refusal }) => [
            candidateText(bucket),
            STATUSES[refusal.code],
          ]),
        }
      : { candidates: order.candidates.map(candidateText) }),
  };
}

function candidateText(bucket: BucketKey): string {
  return bucketText(bucket).replace(/^__unmanaged__#\d+/, "__unmanaged__");
}

/** Only some files tell the single limits. */
export function wantsLimits(expected: Json): boolean {
  const buckets = isObject(expected) && isList(expected["buckets"]) ? expected["buckets"] : [];
  return buckets.some((bucket) => isObject(bucket) && "limits" in bucket);
}

/** What is left under each limit once the plan is carried out. */
export function showBuckets(world: World, allocation: Allocation, withLimits: boolean): Json {
  const left = world.limits.map((limit) => limit.left);
  const groups = new Map<string, number>();
  const started = new Set(allocation.starts);
  const taken = [
    ...allocation.creates,
    ...world.nodes.filter(({ nodeId }) => started.has(nodeId)).map(({ bucket }) => ({ bucket, count: 1 })),
  ];
  for (const { bucket, count } of taken) {
    const { placementGroup: group, ...plain } = bucket;
    const offer = world.buckets.find((one) => bucketText(one.bucket) === bucketText(plain));
    for (const { limit, amount } of offer?.charges ?? []) left[limit] = (left[limit] ?? 0) - amount * count;
    if (group !== undefined) groups.set(bucketText(bucket), (groups.get(bucketText(bucket)) ?? 0) + count);
  }
  const offers = world.buckets.filter((offer) => offer.onlyFor === undefined && offer.refusal === undefined);
  const rows = [
    ...offers.flatMap((offer) => {
      const own = offer.pinnedGroup === undefined ? [] : [offer.pinnedGroup];
      const named = new Set([...offer.groupSizes.keys(), ...(offer.configuredGroups ?? []), ...own]);
      return [...named, undefined].map((group) => ({ offer, group }));
    }),
    ...offers.flatMap((offer) => (offer.generatedGroups ?? []).map((group) => ({ offer, group }))),
  ];
  const positions = [...world.arrays.keys()];
  const generatedFrom = rows.length - offers.flatMap((offer) => offer.generatedGroups ?? []).length;
  const rank = ({ offer }: (typeof rows)[number], at: number): number =>
    (at >= generatedFrom ? positions.length : 0) + positions.indexOf(offer.bucket.array);
  return rows
    .map((row, at) => ({ row, rank: rank(row, at) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ row: { offer, group } }): Json => {
      const bucket: BucketKey =
        group === undefined ? offer.bucket : { ...offer.bucket, placementGroup: group };
      const inGroup = groupRoom(offer, group, groups.get(bucketText(bucket)) ?? 0);
      const of = (kinds: readonly string[], unit?: string): number =>
        Math.min(
          ...offer.charges
            .filter(({ limit }) => kinds.includes(world.limits[limit]?.id.kind ?? ""))
            .filter(({ limit }) => unit === undefined || world.limits[limit]?.id.unit === unit)
            .map(({ limit, amount }) => Math.max(0, Math.floor((left[limit] ?? 0) / amount))),
        );
      const regional = of(["regional-quota", "regional-spot-quota"]);
      const limits = {
        bucket: ownRoom(world, offer, group, taken),
        // The vectors tell no node limit of the cluster.
        cluster: of(["cluster"], "cores"),
        family: of(["family-quota"]),
        nodearray: of(["nodearray"]),
        placement_group: inGroup ?? null,
        regional,
      };
      const available = Math.min(
        of(["bucket", "cluster", "nodearray", "family-quota", "regional-quota", "regional-spot-quota"]),
        inGroup ?? Number.POSITIVE_INFINITY,
      );
      const family = Number.isFinite(limits.family) ? limits.family : regional;
      return {
        bucket: bucketText(bucket),
        available,
        ...(withLimits ? { limits: { ...limits, family } } : {}),
      };
    });
}

/**
 * What the vectors call a bucket's own limit: at the beginning no more than the array and the placement group allow, and less by what is
 * made of its size, in whatever group, as availableCount is one figure for all of them (defect 10).
 */
function ownRoom(
  world: World,
  offer: BucketOffer,
  group: PlacementGroup | undefined,
  taken: readonly { readonly bucket: BucketKey; readonly count: number }[],
): number {
  const atFirst = offer.charges
    .filter(({ limit }) => ["bucket", "nodearray"].includes(world.limits[limit]?.id.kind ?? ""))
    .map(({ limit, amount }) => Math.floor((world.limits[limit]?.left ?? 0) / amount));
  const id = bucketText(offer.bucket);
  const made = taken.filter(
    ({ bucket: { array, machineType } }) => bucketText({ array, machineType }) === id,
  );
  const madeHere = made.filter(({ bucket }) => bucket.placementGroup === group);
  const sum = (rows: typeof made): number => rows.reduce((total, { count }) => total + count, 0);
  const inGroup = groupRoom(offer, group, 0) ?? Number.POSITIVE_INFINITY;
  return Math.max(0, Math.min(Math.min(...atFirst) - sum(made), inGroup - sum(madeHere)));
}

function groupRoom(offer: BucketOffer, group: PlacementGroup | undefined, made: number): number | undefined {
  if (group === undefined) return undefined;
  return Math.max(0, (offer.maxPlacementGroupSize ?? 0) - (offer.groupSizes.get(group) ?? 0) - made);
}

export function showPools(pools: Json | undefined, drained: ReadonlyMap<string, number>): Json {
  const list = isList(pools) ? pools.filter(isObject) : [];
  return Object.fromEntries(
    list.map((pool): [string, Json] => {
      const id = textOf(pool["id"]);
      const current = pool["current_value"] ?? null;
      return [
        id,
        typeof current === "number" && pool["kind"] !== "value" ? current - (drained.get(id) ?? 0) : current,
      ];
    }),
  );
}
