import type { Allocation } from "../../src/domain/allocation.ts";
import type { BucketOffer, World } from "../../src/domain/world.ts";
import type { BucketKey } from "../../src/domain/bucket.ts";
import type { PlacementGroup } from "../../src/domain/ids.ts";
import type { Reason } from "../../src/domain/reason.ts";
import type { Instant } from "../../src/domain/units.ts";
import { offerAt, placeText, textOf } from "./naive-nodes.ts";

/** Everything that comes into being by the plan: new nodes, and deallocated ones that are started, which are charged alike. */
export interface Newcomer {
  readonly bucket: BucketKey;
  readonly count: number;
  readonly what: "created" | "started";
  /** A target that names its nodes gave its placement group the name. */
  readonly isNamed?: boolean;
  /** What it takes of limits; absent: what a new node of its bucket does. */
  readonly charges?: BucketOffer["charges"];
}

export function newcomers(world: World, answer: Allocation): readonly Newcomer[] {
  const started = answer.starts.flatMap((id) => {
    const node = world.nodes.find(({ nodeId }) => nodeId === id);
    if (node === undefined) return [];
    const { bucket, charges } = node;
    return [{ bucket, count: 1, what: "started" as const, ...(charges === undefined ? {} : { charges }) }];
  });
  return [
    ...answer.creates.map(({ bucket, count }) => ({ bucket, count, what: "created" as const })),
    ...started,
  ];
}

/** Where the plan makes nodes by name. The target may give the name of the placement group, too, and jobs may join it. */
const namedPlaces = ({ creates }: Allocation): ReadonlySet<string> =>
  new Set(creates.flatMap(({ bucket, purpose }) => (purpose.kind === "named" ? [textOf(bucket)] : [])));

/** A pause that has ended is none. */
export const isInForce = (reason: Reason | undefined, now: Instant): boolean =>
  reason !== undefined && !(reason.code === "backing-off" && reason.until <= now);

/** P3: no limit is exceeded, nothing is made where nothing may be made, no placement group grows too large. */
export function placeFaults(world: World, answer: Allocation, now: Instant): readonly string[] {
  const added = newcomers(world, answer);
  const named = namedPlaces(answer);
  return [
    ...startFaults(world, answer),
    ...limitFaults(world, added),
    ...added.flatMap((one) => closedFaults(world, { ...one, isNamed: named.has(textOf(one.bucket)) }, now)),
    ...groupSizeFaults(world, added),
    ...freshNameFaults(world, answer),
  ];
}

/** Only deallocated nodes are started, each once and for a demand. None is left where a new node is created in the same place. */
function startFaults(world: World, { starts, creates, needed }: Allocation): readonly string[] {
  const faults: string[] = [];
  if (new Set(starts).size < starts.length) faults.push("started twice");
  for (const id of starts) {
    const node = world.nodes.find(({ nodeId }) => nodeId === id);
    if (node?.deallocated !== true) faults.push(`${id} is started and is not deallocated`);
    if (!needed.has(id)) faults.push(`${id} is started for nobody`);
  }
  for (const node of world.nodes) {
    if (node.deallocated !== true || starts.includes(node.nodeId)) continue;
    if (needed.has(node.nodeId)) faults.push(`${node.nodeId} is needed and stays deallocated`);
    const isReplaced = creates.some(
      (create) => textOf(create.bucket) === textOf(node.bucket) && create.purpose.kind === node.purpose.kind,
    );
    if (isReplaced) faults.push(`${node.nodeId} stays deallocated, and a new one is made in its place`);
  }
  return faults;
}

/** What is taken of each limit, in the order of the limits. */
export function takenOf(world: World, added: readonly Newcomer[]): readonly number[] {
  const taken = world.limits.map(() => 0);
  for (const { bucket, count, charges = offerAt(world, bucket)?.charges ?? [] } of added) {
    for (const { limit, amount } of charges) taken[limit] = (taken[limit] ?? 0) + amount * count;
  }
  return taken;
}

function limitFaults(world: World, added: readonly Newcomer[]): readonly string[] {
  const taken = takenOf(world, added);
  return world.limits.flatMap(({ id, left }, i) =>
    (taken[i] ?? 0) > left ? [`${id.kind} ${id.name}: ${taken[i]} ${id.unit} taken, ${left} left`] : [],
  );
}

function closedFaults(
  world: World,
  { bucket, count, what, isNamed = false }: Newcomer,
  now: Instant,
): readonly string[] {
  const offer = offerAt(world, bucket);
  const where = `${what} in ${textOf(bucket)}`;
  if (offer === undefined) return [`${where}, which is no bucket`];
  const group = bucket.placementGroup;
  const faults: string[] = [];
  if (!(count > 0) || !Number.isInteger(count)) faults.push(`${count} ${where}`);
  if (world.closed !== undefined) faults.push(`${where}, and the cluster is closed`);
  if (isInForce(offer.refusal, now)) faults.push(`${where}, which is refused`);
  if (what === "created" && offer.pinnedGroup !== undefined && group !== offer.pinnedGroup)
    faults.push(`${where}, and all nodes go to ${offer.pinnedGroup}`);
  if (group === undefined) return faults;
  if (isInForce(offer.groupRefusals?.get(group), now)) faults.push(`${where}, a group that is paused`);
  if (!isNamed && !isKnown(world, offer, group) && anyPaused(offer, now))
    faults.push(`${where}, which evades a pause`);
  if (offer.maxPlacementGroupSize === undefined && offer.pinnedGroup === undefined)
    faults.push(`${where}, and that size has no groups`);
  return faults;
}

export const anyPaused = ({ groupRefusals }: BucketOffer, now: Instant): boolean =>
  [...(groupRefusals?.values() ?? [])].some((reason) => isInForce(reason, now));

/** The group has nodes in the bucket, or its name does not come from the plan. */
function isKnown(world: World, offer: BucketOffer, group: PlacementGroup): boolean {
  const named = [offer.pinnedGroup, ...(offer.configuredGroups ?? []), ...offer.groupSizes.keys()];
  return (
    named.includes(group) ||
    [...world.nodes, ...world.inFlight].some(
      ({ bucket }) => bucket.placementGroup === group && placeText(bucket) === placeText(offer.bucket),
    )
  );
}

function groupSizeFaults(world: World, added: readonly Newcomer[]): readonly string[] {
  const sizes = new Map<string, number>();
  for (const { bucket, count } of added) sizes.set(textOf(bucket), (sizes.get(textOf(bucket)) ?? 0) + count);
  return added.flatMap(({ bucket }) => {
    const offer = offerAt(world, bucket);
    const group = bucket.placementGroup;
    if (group === undefined || offer?.maxPlacementGroupSize === undefined) return [];
    const size = (offer.groupSizes.get(group) ?? 0) + (sizes.get(textOf(bucket)) ?? 0);
    return size > offer.maxPlacementGroupSize
      ? [`${textOf(bucket)} has ${size} nodes of at most ${offer.maxPlacementGroupSize}`]
      : [];
  });
}

/** No other group has a generated name. */
function freshNameFaults(world: World, answer: Allocation): readonly string[] {
  const { creates } = answer;
  const named = namedPlaces(answer);
  const places = new Map<string, Set<string>>();
  for (const { bucket } of creates) {
    const offer = offerAt(world, bucket);
    const group = bucket.placementGroup;
    if (
      named.has(textOf(bucket)) ||
      offer === undefined ||
      group === undefined ||
      isKnown(world, offer, group)
    )
      continue;
    places.set(group, new Set([...(places.get(group) ?? []), placeText(bucket)]));
    const isTaken = [...world.nodes, ...world.inFlight].some((one) => one.bucket.placementGroup === group);
    if (isTaken) places.get(group)?.add("nodes that exist");
  }
  return [...places].flatMap(([group, users]) =>
    users.size > 1 ? [`${group} is the name of ${[...users].join(", ")}`] : [],
  );
}
