import { bucketText } from "../../domain/bucket.ts";
import type { Raise } from "../../domain/remedy.ts";
import type { BucketOffer, SharedLimit, World } from "../../domain/world.ts";

/** More nodes than any cluster has. */
export const MOST_NODES = 1_000_000;

/** What the limits of a bucket leave it, in nodes. */
interface Room {
  /** Nodes that the bucket's own limit leaves. */
  readonly own: number;
  /** Nodes that its other limits leave. */
  readonly shared: number;
  /** Nodes that its other limits would allow if nothing else used them. */
  readonly ceiling: number;
}

/** What the limits leave a bucket. */
export function roomOf(limits: World["limits"], { charges }: BucketOffer): Room {
  let [own, shared, ceiling] = [MOST_NODES, MOST_NODES, MOST_NODES];
  for (const { limit, amount } of charges) {
    const known = limits[limit];
    if (known === undefined || amount <= 0) continue;
    const room = Math.floor(known.left / amount);
    if (known.id.kind === "bucket") own = Math.min(own, room);
    else {
      shared = Math.min(shared, room);
      ceiling = Math.min(ceiling, Math.floor(known.max / amount));
    }
  }
  return { own, shared, ceiling };
}

/**
 * The world as it is once these raises are made. What CycleCloud offers of a bucket grows with the limits that explain it, unless the
 * bucket itself is raised (as in a dry run: what-if/raise-limits.ts). Undefined: nobody can raise a pool that is part of a constraint.
 */
export function raisedWorld(world: World, raises: readonly Raise[]): World | undefined {
  if (raises.some((raise) => raise.of === "pool" && raise.pool.includes("@"))) return undefined;
  const by = new Map(raises.map((raise) => [keyOf(raise), raise.more]));
  const more = (kind: string, name: string, unit: string): number => by.get(`${kind}/${unit}/${name}`) ?? 0;
  const limits = world.limits.map((limit): SharedLimit => {
    const { used, max, left, id } = limit;
    const raise = more(id.kind, id.name, id.unit);
    // Where more is used than allowed, that comes first.
    const lacking = Math.max(0, used - max);
    return raise === 0 ? limit : { ...limit, max: max + raise, left: Math.max(0, left + raise - lacking) };
  });
  for (const offer of world.buckets) followIn(limits, world, offer);
  return {
    ...(raises.some(isOfGroups) ? withGroupSizes(world, more) : world),
    limits,
    ...(world.caps === undefined
      ? {}
      : {
          caps: world.caps.map((cap) => ({
            ...cap,
            max: cap.max + more(`${cap.kind}-cap`, cap.name, cap.unit),
          })),
        }),
    ...poolsWith(world, raises),
  };
}

const keyOf = (raise: Raise): string =>
  raise.of === "pool" ? `pool/${raise.pool}` : `${raise.limit.kind}/${raise.limit.unit}/${raise.limit.name}`;

const isOfGroups = (raise: Raise): boolean => raise.of === "limit" && raise.limit.kind === "placement-group";

/** Whether a bucket has a maximum of its own, that does not follow from its other limits. */
export const isOwnMax = ({ max, isOffered }: SharedLimit, { ceiling }: Room): boolean =>
  isOffered !== true && max < ceiling;

/** Raises what CycleCloud offers of a bucket if its other limits explain the number. */
function followIn(limits: SharedLimit[], world: World, offer: BucketOffer): void {
  const charge = offer.charges.find(({ limit }) => world.limits[limit]?.id.kind === "bucket");
  const own = charge === undefined ? undefined : world.limits[charge.limit];
  if (charge === undefined || own === undefined || limits[charge.limit] !== own) return;
  const before = roomOf(world.limits, offer);
  const after = roomOf(limits, offer);
  if (before.own < before.shared || after.shared <= before.own) return;
  const max = isOwnMax(own, before) ? own.max : Math.max(own.max, after.ceiling);
  const left = Math.max(own.left, Math.min(after.shared, max - own.used));
  limits[charge.limit] = { ...own, max, left };
}

/** Buckets with larger placement groups. What is derived from a bucket is derived from the new one. */
function withGroupSizes(world: World, more: (kind: string, name: string, unit: string) => number): World {
  const made = new Map<BucketOffer, BucketOffer>();
  const grow = (offer: BucketOffer): BucketOffer => {
    const known = made.get(offer);
    if (known !== undefined) return known;
    const { maxPlacementGroupSize: most, parent, counterpartOf } = offer;
    const size =
      most === undefined
        ? {}
        : { maxPlacementGroupSize: most + more("placement-group", bucketText(offer.bucket), "nodes") };
    const grown: BucketOffer = {
      ...offer,
      ...size,
      ...(parent === undefined ? {} : { parent: grow(parent) }),
      ...(counterpartOf === undefined ? {} : { counterpartOf: grow(counterpartOf) }),
    };
    made.set(offer, grown);
    return grown;
  };
  const buckets = world.buckets.map(grow);
  if (world.counterparts === undefined) return { ...world, buckets };
  const pairs = [...world.counterparts].map(([a, b]) => [grow(a), grow(b)] as const);
  return { ...world, buckets, counterparts: new Map(pairs) };
}

function poolsWith({ pools = [] }: World, raises: readonly Raise[]): Pick<World, "pools"> {
  const asked = raises.filter((raise) => raise.of === "pool");
  if (asked.length === 0) return {};
  const names = new Set(pools.map(({ name }) => name));
  const unknown = asked.filter(({ pool }) => !names.has(pool));
  return {
    pools: [
      ...pools.map((pool) => {
        const raise = asked.find((one) => one.pool === pool.name);
        return raise === undefined ? pool : { ...pool, total: pool.total + raise.more };
      }),
      ...unknown.map(({ pool, more }) => ({ name: pool, total: more, used: 0 })),
    ],
  };
}
