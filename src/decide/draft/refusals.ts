import { nearest } from "../../domain/nearest.ts";
import type { Size, SizeUnit } from "../../domain/size.ts";
import { isSize } from "../../domain/size.ts";
import { amountOf } from "../../domain/resources.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { Reason } from "../../domain/reason.ts";
import type { PlacementGroup } from "../../domain/ids.ts";
import type { GroupDemand, JobDemand } from "../../domain/demand.ts";
import { boundRefusal } from "../../domain/bound-refusal.ts";
import type { AmountUnit } from "../../domain/amount-text.ts";
import type { BucketOffer } from "../../domain/world.ts";
import { pinnedRefusal } from "./scale-set.ts";
import { mayBeIn, mayBeInNew, namedGroups } from "./named-groups.ts";
import { groupKey, nextGroupName } from "./group-names.ts";
import type { Draft } from "./draft.ts";
import { closedTo, groupClosedTo, newGroupClosedTo } from "./closed.ts";
import type { OwnCeiling } from "./caps.ts";
import { knowsNoGroups } from "../bins/scope.ts";
import { inGroup } from "../bins/new-node.ts";
import type { Ask } from "../bins/job-ask.ts";
import { unitsOnEmpty } from "../bins/job-ask.ts";
import type { Subject } from "../bins/empty-node-fit.ts";

/** Why a bucket with room has no placement group for a job that asks for one: it has none, or none may be made now. */
export function noGroupFor(draft: Draft, { requirements }: Ask, offer: BucketOffer): Reason | undefined {
  if (!requirements.grouped || offer.pinnedGroup !== undefined) return undefined;
  if (offer.maxPlacementGroupSize === undefined) return { code: "no-placement-group", bucket: offer.bucket };
  return newGroupClosedTo(draft, offer);
}

/** Why a unit of the job does not fit on an empty node of the bucket. */
export function misfit(
  draft: Draft,
  ask: Ask,
  offer: BucketOffer,
  group: PlacementGroup | "new" | undefined = groupOfNew(draft, ask, offer),
): Reason | undefined {
  const unfit = spotRefusal(ask.jobClass.spot, offer) ?? pinnedRefusal(draft, offer, offer.attributes);
  if (unfit !== undefined) return unfit;
  const subject = newNode(draft, offer, group);
  if (unitsOnEmpty(ask, subject, draft.bins.resources) >= 1) return undefined;
  const { refusal } = ask.jobClass.fit.on(subject);
  return refusal === undefined
    ? tooSmall(draft, ask, subject)
    : refusalReason(offer, refusal, ask.slotsPerUnit);
}

/** The resource of which an empty node has too little for one unit of a job, although it meets the constraints of a slot. */
export function tooSmall(draft: Draft, ask: Ask, node: Subject): Reason {
  const needs = ask.jobClass.fit.on(node);
  const asked = needs.amount.map((amount) => amount * ask.slotsPerUnit);
  const names = needs.resource.map((position) => draft.bins.resources[position] ?? "");
  const short = names.findIndex((name, i) => amountOf(node.resources[name]) < (asked[i] ?? 0));
  const resource = names[short] ?? "";
  return {
    code: "does-not-fit",
    bucket: node.bucket,
    resource,
    asked: asked[short] ?? 0,
    offered: amountOf(node.resources[resource]),
    ...unitOf(node, resource),
  };
}

/** The group of new nodes for the job: the pinned group, a new one, one that the job names, or none. */
export function groupOfNew(draft: Draft, ask: Ask, offer: BucketOffer): PlacementGroup | "new" | undefined {
  if (offer.pinnedGroup !== undefined) return offer.pinnedGroup;
  if (!ask.requirements.grouped && ask.together !== "one-group") return undefined;
  if (mayBeInNew(draft, ask, offer)) return "new";
  return namedGroups(draft, offer).find((group) => mayBeIn(draft, ask, offer, group)) ?? "new";
}

/** A new node, as the subject of constraints. */
export function newNode(
  draft: Draft,
  offer: BucketOffer,
  group: PlacementGroup | "new" | undefined,
): Subject {
  if (group === undefined) return offer;
  const name = group === "new" ? nextGroupName(draft, groupKey(offer)) : group;
  return inGroup(offer, { ...offer.bucket, placementGroup: name });
}

/** Why the job does not allow spot nodes, or regular ones. Undefined if the job states nothing. */
function spotRefusal(wanted: JobDemand["spot"], offer: BucketOffer): Reason | undefined {
  if (wanted === "never" && offer.spot === true) return { code: "spot-not-allowed", bucket: offer.bucket };
  if (wanted === "only" && offer.spot !== true) return { code: "not-spot", bucket: offer.bucket };
  return undefined;
}

function unitOf(offer: Pick<BucketOffer, "resources">, resource: string): { readonly unit?: AmountUnit } {
  return isSize(offer.resources[resource]) ? { unit: "bytes" } : {};
}

/** Why the nodes of a bucket do not meet the constraints of a job. The refusal is about one slot. A node must take `slots` slots at once. */
export function refusalReason(
  { bucket, resources }: Pick<BucketOffer, "bucket" | "resources">,
  refusal: Refusal,
  slots = 1,
): Reason {
  if (refusal.code === "undefined-resource") {
    const known = Object.keys(resources);
    const near = nearest(refusal.resource, known) ?? longerName(refusal.resource, known);
    return {
      code: "requirement",
      bucket,
      refusal: near === undefined ? refusal : { ...refusal, nearest: near },
    };
  }
  if (refusal.code !== "insufficient-resource")
    return { code: "requirement", bucket, refusal: boundRefusal(refusal) };
  const { resource, asked, offered } = refusal;
  const unit = isSize(asked) || isSize(offered) ? ({ unit: "bytes" } as const) : {};
  const amounts = { asked: amountOf(asked) * slots, offered: amountOf(offered) };
  return { code: "does-not-fit", bucket, resource, ...amounts, ...unit, ...plainIn(asked, offered) };
}

/** The resource that begins a longer name: "memory" is mem. */
const longerName = (name: string, known: readonly string[]): string | undefined =>
  known.find((one) => one.length >= SHORTEST_BEGINNING && name.startsWith(one));

/** Shorter names begin others by chance. */
const SHORTEST_BEGINNING = 3;

/** From this number on, an amount is shown in the next larger unit. */
const SHOWN_LARGER = 1024;

/** The unit in which a plain number counts, if the amount may have been one and is shown in another unit. */
function plainIn(asked: number | Size, offered: number | Size): { readonly plainIn?: SizeUnit } {
  if (!isSize(asked) || !isSize(offered) || asked.unit !== offered.unit) return {};
  return asked.amount < SHOWN_LARGER ? {} : { plainIn: offered.unit };
}

/** Why this number of new nodes is not possible in an open bucket, in a placement group or (undefined) in none. */
export function roomRefusal(
  draft: Draft,
  offer: BucketOffer,
  group: PlacementGroup | "new" | undefined,
  nodes: number,
): Reason | undefined {
  if (group === undefined) return draft.capacity.refusal(offer, undefined, nodes);
  const max = offer.maxPlacementGroupSize;
  if (knowsNoGroups(offer)) {
    return { code: "no-placement-group", bucket: offer.bucket };
  }
  const paused = groupClosedTo(draft, offer, group);
  if (paused !== undefined) return paused;
  if (max !== undefined && nodes > max)
    return { code: "group-too-large", bucket: offer.bucket, asked: nodes, max };
  return draft.capacity.refusal(offer, group === "new" ? undefined : group, nodes);
}

/** Why one of our own caps forbids this number of additional nodes of a bucket. */
function capRefusal(ceiling: OwnCeiling, offer: BucketOffer, nodes: number): Reason | undefined {
  const asked = ceiling.amount(offer) * nodes;
  if (asked <= ceiling.left) return undefined;
  const { id, used, max, left } = ceiling;
  return { code: "limit-reached", limit: id, used, max, left, asked, bucket: offer.bucket };
}

/** The first of our own caps that forbids this number of additional nodes of a bucket. */
export function capsRefusal(
  ceilings: readonly OwnCeiling[],
  offer: BucketOffer,
  nodes: number,
): Reason | undefined {
  for (const ceiling of ceilings) {
    const refusal = capRefusal(ceiling, offer, nodes);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** A gang that may span buckets asks for more nodes at once than all buckets have together. Undefined if they have enough. */
export function spanRefusal(asked: number, possible: number): Reason | undefined {
  return asked <= possible ? undefined : { code: "span-too-large", asked, possible };
}

/** Why a new whole group of `size` nodes is not possible in a bucket. `ungrouped`: the provider has no placement groups. */
export function newGroupRefusal(
  draft: Draft,
  demand: GroupDemand,
  offer: BucketOffer,
  size: number,
  ungrouped: boolean,
): Reason | undefined {
  const closed = closedTo(draft, offer);
  if (closed !== undefined) return closed;
  if (!Number.isFinite(size)) return noCores(offer, demand.size.count);
  if (ungrouped) return roomRefusal(draft, offer, undefined, size);
  const pinned = offer.pinnedGroup;
  // A pinned array has only that group (cyclecloud-wire.md A.3, semantics 11). It must be empty.
  if (pinned !== undefined && draft.capacity.groupSize(offer, pinned) > 0) {
    return { code: "no-placement-group", bucket: offer.bucket };
  }
  return roomRefusal(draft, offer, pinned ?? "new", size);
}

/** The nodes of the bucket have no cores, so no number of them is enough. */
export function noCores({ bucket }: BucketOffer, asked: number): Reason {
  return { code: "does-not-fit", bucket, resource: "cores", asked, offered: 0 };
}
