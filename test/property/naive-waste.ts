import type { BucketOffer } from "../../src/domain/world.ts";
import type { NamedNodes, RankedDemand } from "../../src/domain/demand.ts";
import type { Instant } from "../../src/domain/units.ts";
import { takingOf } from "./naive-constraints.ts";
import { isListed } from "./naive-floors.ts";
import { takingOn } from "./naive-jobs.ts";
import type { NaiveNode, RankedJob, Sheet } from "./naive-nodes.ts";
import { jobsOf, nameOf, outcomeOf } from "./naive-nodes.ts";
import { anyPaused, isInForce, newcomers, takenOf } from "./naive-places.ts";
import { scaleSetKey } from "../../src/decide/world/build-world.ts";

/**
 * No demand lacks what is available: no suitable node is left over, and no suitable bucket has room. Judged for plain jobs and targets
 * only. Not judged where a cap or a pool may limit the demand, nor for spot if the job does not mention it.
 */
export function wasteFaults(sheet: Sheet, now: Instant): readonly string[] {
  if (sheet.world.caps !== undefined) return [];
  return sheet.demands.flatMap((ranked) => {
    const outcome = outcomeOf(sheet, ranked);
    if (outcome === undefined || outcome.placed >= outcome.asked) return [];
    const { demand } = ranked;
    if (demand.kind === "target") {
      const isMeant = ({ bucket }: Pick<NaiveNode, "bucket">): boolean =>
        bucket.array === demand.array && isListed(demand.machineTypes, bucket.machineType);
      if (demand.named !== undefined)
        return isSingly(sheet, demand.named) ? roomLeft(sheet, ranked, isMeant, now) : [];
      return [...leftOver(sheet, ranked, isMeant), ...roomLeft(sheet, ranked, isMeant, now)];
    }
    const job = jobsOf([ranked])[0];
    if (job === undefined || !isPlain(job)) return [];
    return [
      ...leftOver(sheet, ranked, (node) => fits(sheet, job, node)),
      ...roomLeft(sheet, ranked, (offer) => wouldFit(sheet, job, offer), now),
    ];
  });
}

/** Some name has no node though nothing is decided about it, and the names come one by one, in no group of their own. */
function isSingly({ world, nodes }: Sheet, { names, group, together }: NamedNodes): boolean {
  if (group !== undefined || together === true) return false;
  return names.some(
    (name) => world.blockedNames?.has(name) !== true && !nodes.some((node) => node.name === name),
  );
}

/** A job whose slots go anywhere, one by one, and that takes nothing of a pool. */
function isPlain({ demand }: RankedJob): boolean {
  const text = JSON.stringify(demand.constraints);
  return (
    demand.nodeCount === undefined &&
    !demand.colocated &&
    !/"kind":"(pool|shared-consumable|in-a-placement-group)"|placement_group/.test(text)
  );
}

const fits = (sheet: Sheet, job: RankedJob, node: NaiveNode): boolean =>
  !(node.isSpot && job.demand.spot === undefined) && takingOn(sheet, job, node) !== undefined;

function leftOver(
  sheet: Sheet,
  ranked: RankedDemand,
  isMeant: (node: NaiveNode) => boolean,
): readonly string[] {
  return sheet.nodes
    .filter((node) => node.origin === "existing" && !sheet.answer.needed.has(node.nodeId ?? never()))
    .filter((node) =>
      sheet.world.nodes.some(({ nodeId, deallocated }) => nodeId === node.nodeId && deallocated !== true),
    )
    .filter(isMeant)
    .map(({ nodeId }) => `${nodeId} is left over, and ${nameOf(ranked)} is short`);
}

function never(): never {
  throw new RangeError("a node that exists has an id");
}

function wouldFit(sheet: Sheet, job: RankedJob, offer: BucketOffer): boolean {
  const { spot } = job.demand;
  const isSpot = offer.spot === true;
  if (isSpot ? spot === "never" || spot === undefined : spot === "only") return false;
  const group = offer.pinnedGroup;
  const bucket = group === undefined ? offer.bucket : { ...offer.bucket, placementGroup: group };
  const properties = {
    ...offer.properties?.(),
    placement_group: group ?? null,
    colocated: group !== undefined,
  };
  return takingOf(job.demand.constraints, { ...offer, bucket, properties }, sheet.pools) !== undefined;
}

function roomLeft(
  sheet: Sheet,
  ranked: RankedDemand,
  isMeant: (offer: BucketOffer) => boolean,
  now: Instant,
): readonly string[] {
  const { world, answer } = sheet;
  if (world.closed !== undefined) return [];
  const added = newcomers(world, answer);
  const taken = takenOf(world, added);
  return world.buckets
    .filter((offer) => isMeant(offer) && !isInForce(offer.refusal, now))
    .filter((offer) => offer.onlyNamed !== true || isNamedTarget(ranked.demand))
    .filter((offer) => offer.pinnedGroup === undefined || !anyPaused(offer, now))
    .filter(({ charges }) =>
      charges.every(({ limit, amount }) => (world.limits[limit]?.left ?? 0) - (taken[limit] ?? 0) >= amount),
    )
    .filter((offer) => hasGroupRoom(offer, added) && !hasOthersNodes(sheet, offer))
    .map(({ bucket }) => `${bucket.array}/${bucket.machineType} has room, and ${nameOf(ranked)} is short`);
}

const isNamedTarget = (demand: RankedDemand["demand"]): boolean =>
  demand.kind === "target" && demand.named !== undefined;

function hasGroupRoom(offer: BucketOffer, added: ReturnType<typeof newcomers>): boolean {
  const { pinnedGroup: group, maxPlacementGroupSize: most } = offer;
  if (group === undefined || most === undefined) return true;
  const fresh = added
    .filter(
      ({ bucket }) => bucket.array === offer.bucket.array && bucket.machineType === offer.bucket.machineType,
    )
    .reduce((total, { count }) => total + count, 0);
  return (offer.groupSizes.get(group) ?? 0) + fresh < most;
}

/** The bucket's own group is begun, in this plan or before, with nodes that have attributes: one without them would never get its VM there. */
function hasOthersNodes(
  { world, answer }: Sheet,
  { bucket: { array, machineType }, pinnedGroup }: BucketOffer,
): boolean {
  if (pinnedGroup === undefined) return false;
  const before = world.scaleSets?.get(scaleSetKey(array, machineType, pinnedGroup));
  return (
    before?.attributesDigest !== undefined ||
    answer.creates.some(
      ({ bucket, attributes }) =>
        attributes !== undefined &&
        bucket.placementGroup === pinnedGroup &&
        bucket.array === array &&
        bucket.machineType === machineType,
    )
  );
}
