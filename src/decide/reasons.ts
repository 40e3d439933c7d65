import type { BucketOffer } from "../domain/allocation.ts";
import type { TargetDemand } from "../domain/demand.ts";
import type { PlacementGroup } from "../domain/ids.ts";
import type { Reason } from "../domain/reason.ts";
import type { Refusal } from "../domain/refusal.ts";
import { amountOf } from "../domain/resources.ts";
import type { Ask } from "./ask.ts";
import { unitsOnEmpty } from "./ask.ts";
import type { Draft } from "./draft.ts";
import { closedTo, groupClosedTo } from "./closed.ts";
import type { Scope } from "./scope.ts";

/** Why the slots that are left could not be packed: for each bucket the first thing that said no. */
export function packingReasons(draft: Draft, ask: Ask, scope: Scope, left: number): readonly Reason[] {
  const reasons = scope.offers.map((offer): Reason | undefined => {
    const closed = closedTo(draft, offer) ?? misfit(draft, ask, offer);
    if (closed !== undefined) return closed;
    const units = Math.min(left, unitsOnEmpty(ask, offer, draft.bins.resources));
    return draft.capacity.refusal(offer, offer.pinnedGroup, Math.ceil(left / units));
  });
  return [...scope.reasons, ...reasons.filter((reason) => reason !== undefined)];
}

/** Which resource keeps a unit of the job from an empty node of the bucket. */
export function misfit(draft: Draft, ask: Ask, offer: BucketOffer): Reason | undefined {
  if (unitsOnEmpty(ask, offer, draft.bins.resources) >= 1) return undefined;
  const needs = ask.jobClass.fit.on(offer);
  if (needs.refusal !== undefined) return refusalReason(offer, needs.refusal);
  const asked = needs.amount.map((amount) => amount * ask.slotsPerUnit);
  const names = needs.resource.map((position) => draft.bins.resources[position] ?? "");
  const short = names.findIndex((name, i) => amountOf(offer.resources[name]) < (asked[i] ?? 0));
  const resource = names[short] ?? "";
  return {
    code: "does-not-fit",
    bucket: offer.bucket,
    resource,
    asked: asked[short] ?? 0,
    offered: amountOf(offer.resources[resource]),
  };
}

function refusalReason({ bucket }: BucketOffer, refusal: Refusal): Reason {
  if (refusal.code !== "insufficient-resource") return { code: "requirement", bucket, refusal };
  const { resource, asked, offered } = refusal;
  return typeof asked === "number" && typeof offered === "number"
    ? { code: "does-not-fit", bucket, resource, asked, offered }
    : { code: "requirement", bucket, refusal };
}

/** Why so many new nodes cannot be had in a placement group (or, undefined, in none) of an open bucket. */
export function roomRefusal(
  draft: Draft,
  offer: BucketOffer,
  group: PlacementGroup | "new" | undefined,
  nodes: number,
): Reason | undefined {
  if (group === undefined) return draft.capacity.refusal(offer, undefined, nodes);
  const max = offer.maxPlacementGroupSize;
  if (max === undefined && offer.pinnedGroup === undefined) {
    return { code: "no-placement-group", bucket: offer.bucket };
  }
  const paused = groupClosedTo(draft, offer, group);
  if (paused !== undefined) return paused;
  if (max !== undefined && nodes > max)
    return { code: "group-too-large", bucket: offer.bucket, asked: nodes, max };
  return draft.capacity.refusal(offer, group === "new" ? undefined : group, nodes);
}

/** Why a floor could not be raised: for each bucket the first thing that said no. */
export function floorReasons(
  draft: Draft,
  demand: TargetDemand,
  scope: Scope,
  missing: number,
): readonly Reason[] {
  const reasons = scope.offers.map((offer): Reason | undefined => {
    const closed = closedTo(draft, offer);
    if (closed !== undefined) return closed;
    const each = demand.amount.unit === "nodes" ? 1 : offer.cores;
    if (each > 0) return draft.capacity.refusal(offer, offer.pinnedGroup, Math.ceil(missing / each));
    return { code: "does-not-fit", bucket: offer.bucket, resource: "cores", asked: missing, offered: 0 };
  });
  return [...scope.reasons, ...reasons.filter((reason) => reason !== undefined)];
}
