import type { BucketOffer, World } from "../domain/allocation.ts";
import type { ArrayName, MachineType } from "../domain/ids.ts";
import { sameMachineType } from "../domain/ids.ts";
import type { Reason } from "../domain/reason.ts";
import type { Place } from "./ground.ts";
import { compareText } from "../domain/text.ts";

/** Where a demand may go. */
export interface Scope {
  /** Buckets for new nodes, preferred first. */
  readonly offers: readonly BucketOffer[];
  /** Whether nodes of a place will do. */
  readonly accepts: (place: Place) => boolean;
  /** Lower is preferred; absent: no preference of its own. */
  readonly rank?: (place: Place) => number;
  /** Why nothing can be had from some of the arrays that are meant. */
  readonly reasons: readonly Reason[];
}

/** What a demand says about places; absent: any. */
export interface Wanted {
  readonly arrays?: readonly ArrayName[];
  readonly machineTypes?: readonly MachineType[];
}

/** The buckets of a world by VM size, whatever its spelling, with their positions. */
type BucketsBySize = ReadonlyMap<string, readonly { readonly offer: BucketOffer; readonly at: number }[]>;

export function bucketsBySize({ buckets }: World): BucketsBySize {
  const entries = buckets.map((offer, at) => ({ offer, at }));
  return Map.groupBy(entries, ({ offer }) => offer.bucket.machineType.toLowerCase());
}

/**
 * The places that a demand may mean. VM sizes that a target lists are in its order of preference (`listed`), those of a job in that of the
 * cluster. Nodes of other sizes than those listed do not count for it.
 */
export function scopeOf(
  world: World,
  bySize: BucketsBySize,
  wanted: Wanted,
  preference: "listed" | "cluster",
): Scope {
  const { arrays, machineTypes } = wanted;
  const sizes =
    machineTypes === undefined ? undefined : new Set(machineTypes.map((type) => type.toLowerCase()));
  const known = new Map<number, boolean>();
  const accepts = (place: Place): boolean => {
    let answer = known.get(place.index);
    if (answer === undefined) {
      answer = isWanted(arrays, sizes, place.bucket);
      known.set(place.index, answer);
    }
    return answer;
  };
  const { closed } = world;
  const listed = (type: MachineType): number =>
    machineTypes?.findIndex((one) => sameMachineType(one, type)) ?? 0;
  const ranking: Pick<Scope, "rank"> =
    preference === "listed" && machineTypes !== undefined
      ? { rank: (place) => listed(place.bucket.machineType) }
      : {};
  if (closed !== undefined) return { offers: [], accepts, ...ranking, reasons: [closed] };
  const offers = offersOf(world, bySize, arrays, sizes);
  if (ranking.rank !== undefined)
    offers.sort((a, b) => listed(a.bucket.machineType) - listed(b.bucket.machineType));
  const missing = arrays ?? (offers.length > 0 ? [] : allArrays(world));
  const reasons = missing
    .map((array) => arrayReason(world, array, machineTypes))
    .filter((reason) => reason !== undefined);
  if (offers.length === 0 && reasons.length === 0)
    reasons.push({ code: "unknown-array", array: "any", known: [] });
  return { offers, accepts, ...ranking, reasons };
}

/** The buckets that are meant, in the order of the world. */
function offersOf(
  { buckets }: World,
  bySize: BucketsBySize,
  arrays: readonly ArrayName[] | undefined,
  sizes: ReadonlySet<string> | undefined,
): BucketOffer[] {
  // A dynamic node array grows only for those who name it; its nodes are there for all.
  const isOfArrays = ({ bucket, parent }: BucketOffer): boolean =>
    arrays === undefined ? parent === undefined : arrays.includes(bucket.array);
  if (sizes === undefined) return buckets.filter(isOfArrays);
  const found = [...sizes].flatMap((size) => bySize.get(size) ?? []).filter(({ offer }) => isOfArrays(offer));
  return found.sort((a, b) => a.at - b.at).map(({ offer }) => offer);
}

function isWanted(
  arrays: readonly ArrayName[] | undefined,
  sizes: ReadonlySet<string> | undefined,
  bucket: { readonly array: ArrayName; readonly machineType: MachineType },
): boolean {
  if (arrays !== undefined && !arrays.includes(bucket.array)) return false;
  return sizes === undefined || sizes.has(bucket.machineType.toLowerCase());
}

function allArrays(world: World): readonly ArrayName[] {
  return [...world.arrays.keys()].filter((name) => !isDynamic(world, name)).sort(compareText);
}

function isDynamic({ buckets, refusedArrays }: World, array: ArrayName): boolean {
  const refused = refusedArrays?.get(array);
  if (refused !== undefined) return refused.code !== "dynamic-name-taken";
  return buckets.some(({ bucket, parent }) => parent !== undefined && bucket.array === array);
}

/** Why an array has no bucket for the demand; undefined if it has one. */
function arrayReason(
  world: World,
  array: ArrayName,
  machineTypes: readonly MachineType[] | undefined,
): Reason | undefined {
  const refused = world.refusedArrays?.get(array);
  // The array of that name is there: only who takes it for a dynamic one is refused.
  if (refused !== undefined && refused.code !== "dynamic-name-taken") return refused;
  const state = world.arrays.get(array);
  if (state === undefined) return { code: "unknown-array", array, known: allArrays(world) };
  if (state === "not-managed") return { code: "array-not-managed", array };
  const offers = world.buckets.filter(({ bucket }) => bucket.array === array);
  if (offers.length === 0) return { code: "no-bucket", array };
  const offered = offers.map(({ bucket }) => bucket.machineType);
  const fits = offers.some(({ bucket }) =>
    (machineTypes ?? [bucket.machineType]).some((type) => sameMachineType(type, bucket.machineType)),
  );
  return fits
    ? undefined
    : { code: "no-such-machine-type", array, machineTypes: machineTypes ?? [], offered };
}
