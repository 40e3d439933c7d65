import type { BucketOffer, World } from "../../domain/world.ts";
import type { ArrayName, MachineType } from "../../domain/ids.ts";
import { sameMachineType } from "../../domain/ids.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Place } from "./node-kinds.ts";
import { compareText } from "../../domain/text.ts";

/** The buckets and nodes that a demand may use. */
export interface Scope {
  /** Buckets for new nodes, preferred first. */
  readonly offers: readonly BucketOffer[];
  /** Whether the demand may use nodes of a place. */
  readonly accepts: (place: Place) => boolean;
  /** Lower is preferred. Absent: the demand has no preference. */
  readonly rank?: (place: Place) => number;
  /** For each array that the demand means and that offers it no bucket: the reason. */
  readonly reasons: readonly Reason[];
}

/** The arrays and VM sizes that a demand names. Absent: any. */
export interface Wanted {
  readonly arrays?: readonly ArrayName[];
  readonly machineTypes?: readonly MachineType[];
}

/** The buckets of a world by VM size and by node array. A cluster may have hundreds of arrays and many demands. */
export interface BucketIndex {
  /** By VM size in lower case. */
  readonly bySize: ReadonlyMap<string, readonly Indexed[]>;
  readonly byArray: ReadonlyMap<ArrayName, readonly Indexed[]>;
  /** Buckets of arrays that are not dynamic. */
  readonly ordinary: readonly BucketOffer[];
  readonly dynamic: ReadonlySet<ArrayName>;
}

interface Indexed {
  readonly offer: BucketOffer;
  /** Its position in the world. */
  readonly at: number;
}

export function indexBuckets({ buckets }: World): BucketIndex {
  const entries = buckets.map((offer, at) => ({ offer, at }));
  return {
    bySize: Map.groupBy(entries, ({ offer }) => offer.bucket.machineType.toLowerCase()),
    byArray: Map.groupBy(entries, ({ offer }) => offer.bucket.array),
    ordinary: buckets.filter(({ parent }) => parent === undefined),
    dynamic: new Set(buckets.flatMap(({ bucket, parent }) => (parent === undefined ? [] : [bucket.array]))),
  };
}

/**
 * The buckets that a demand may use. A target prefers the VM sizes in the order in which it lists them (`listed`), a job in the order of the
 * cluster. Nodes of sizes that are not listed do not count for the demand.
 */
export function scopeOf(
  world: World,
  index: BucketIndex,
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
  const offers = offersOf(index, arrays, sizes);
  if (ranking.rank !== undefined)
    offers.sort((a, b) => listed(a.bucket.machineType) - listed(b.bucket.machineType));
  const missing = arrays ?? (offers.length > 0 ? [] : allArrays(world, index));
  const reasons = missing
    .map((array) => arrayReason(world, index, array, machineTypes))
    .filter((reason) => reason !== undefined);
  if (offers.length === 0 && reasons.length === 0)
    reasons.push({ code: "unknown-array", array: "any", known: [] });
  return { offers, accepts, ...ranking, reasons };
}

/** The buckets of these arrays and sizes, in the order of the world. */
function offersOf(
  { bySize, byArray, ordinary }: BucketIndex,
  arrays: readonly ArrayName[] | undefined,
  sizes: ReadonlySet<string> | undefined,
): BucketOffer[] {
  // Only demand that names a dynamic node array makes it grow. Its nodes are there for all.
  const isOfArrays = ({ bucket, parent }: BucketOffer): boolean =>
    arrays === undefined ? parent === undefined : arrays.includes(bucket.array);
  if (sizes === undefined) {
    if (arrays === undefined) return [...ordinary];
    const named = [...new Set(arrays)].flatMap((array) => byArray.get(array) ?? []);
    return named.sort((a, b) => a.at - b.at).map(({ offer }) => offer);
  }
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

function allArrays(world: World, index: BucketIndex): readonly ArrayName[] {
  return [...world.arrays.keys()].filter((name) => !isDynamic(world, index, name)).sort(compareText);
}

function isDynamic({ refusedArrays }: World, index: BucketIndex, array: ArrayName): boolean {
  const refused = refusedArrays?.get(array);
  if (refused !== undefined) return refused.code !== "dynamic-name-taken";
  return index.dynamic.has(array);
}

/** VM sizes that a reason names. A job may ask for one of ten thousand, and each reason is stored with the plan. */
const TYPES_NAMED = 20;

/** Why an array has no bucket for the demand. Undefined if it has one. */
function arrayReason(
  world: World,
  index: BucketIndex,
  array: ArrayName,
  machineTypes: readonly MachineType[] | undefined,
): Reason | undefined {
  const refused = world.refusedArrays?.get(array);
  // The name belongs to an ordinary array. Only demand that means a dynamic one is refused.
  if (refused !== undefined && refused.code !== "dynamic-name-taken") return refused;
  const state = world.arrays.get(array);
  if (state === undefined) return { code: "unknown-array", array, known: allArrays(world, index) };
  if (state === "not-managed") return { code: "array-not-managed", array };
  const offers = (index.byArray.get(array) ?? []).map(({ offer }) => offer);
  if (offers.length === 0) return { code: "no-bucket", array };
  const offered = offers.map(({ bucket }) => bucket.machineType);
  const fits = offers.some(({ bucket }) =>
    (machineTypes ?? [bucket.machineType]).some((type) => sameMachineType(type, bucket.machineType)),
  );
  if (fits) return undefined;
  const named = (machineTypes ?? []).slice(0, TYPES_NAMED);
  const more = (machineTypes ?? []).length - named.length;
  const reason = { code: "no-such-machine-type", array, machineTypes: named, offered } as const;
  return more === 0 ? reason : { ...reason, more };
}

/** Whether there are no placement groups for the bucket: some providers have none (cyclecloud-wire.md A.3, C.2). */
export function knowsNoGroups({ maxPlacementGroupSize, pinnedGroup }: BucketOffer): boolean {
  return maxPlacementGroupSize === undefined && pinnedGroup === undefined;
}

/** Whether none of the demand's buckets has placement groups. Its nodes come without one. */
export function isUngrouped({ offers }: Pick<Scope, "offers">): boolean {
  return offers.length > 0 && offers.every(knowsNoGroups);
}
