import type { BucketOffer } from "../../domain/world.ts";
import type { PlacementGroup } from "../../domain/ids.ts";
import type { NodeView } from "../../domain/node-view.ts";
import type { Ask } from "../bins/job-ask.ts";
import { slotsIn, unitsFrom } from "../bins/job-ask.ts";
import type { Draft } from "../draft/draft.ts";
import { closedTo } from "../draft/closed.ts";
import { viewOf } from "../bins/empty-node-fit.ts";
import type { Kind } from "../bins/node-kinds.ts";
import { inGroup } from "../bins/new-node.ts";
import type { JobClass } from "../bins/job-class.ts";
import { groupsWithNames } from "../draft/named-groups.ts";
import { pinnedRefusal } from "../draft/scale-set.ts";
import type { Scope } from "../bins/scope.ts";
import { roomOnNew } from "../bins/slot-by-slot.ts";
import { groupKey, nextGroupName } from "../draft/group-names.ts";
import type { Offered } from "../draft/offered.ts";
import { Offers } from "../draft/offered.ts";

/**
 * The offers that are open to a job. With `grouped` only buckets with placement groups. A try remembers what it found. What it finds before
 * it has changed anything that counts here is the same in every try, and is found once for the plan: bench row karpenter-pods 1,000
 * (docs/decisions.md, "Open offers are found once for a plan").
 */
export function openOffers(draft: Draft, { jobClass }: Ask, scope: Scope, grouped: boolean): Offers {
  const { shape } = jobClass;
  const { budget } = draft.bins;
  const [own, common] = grouped
    ? [draft.offers.grouped, draft.start.offers.grouped]
    : [draft.offers.alone, draft.start.offers.alone];
  const key = shape.preference !== undefined && shape.requirements.intricate ? jobClass : shape;
  const known = own.get(key);
  if (known !== undefined) return known;
  budget.spend(scope.offers.length);
  const isCommon = isAsAtStart(draft, scope, grouped);
  const offers = (isCommon ? common.get(key) : undefined) ?? findOffers(draft, jobClass, scope, grouped);
  own.set(key, offers);
  if (isCommon && !budget.isSpent) common.set(key, offers);
  return offers;
}

/** Whether the try has neither named a group, as names count for what is grouped, nor may have filled one that an array has for itself. */
function isAsAtStart({ namesGiven }: Draft, { offers }: Scope, grouped: boolean): boolean {
  if (grouped && namesGiven.size > 0) return false;
  return offers.every(({ pinnedGroup }) => pinnedGroup === undefined);
}

function findOffers(draft: Draft, { shape, preference }: JobClass, scope: Scope, grouped: boolean): Offers {
  const found: Offered[] = [];
  for (const offer of scope.offers) {
    const hasGroups = offer.maxPlacementGroupSize !== undefined || offer.pinnedGroup !== undefined;
    if ((grouped && !hasGroups) || closedTo(draft, offer) !== undefined) continue;
    if (pinnedRefusal(draft, offer, offer.attributes) !== undefined) continue;
    const kind = draft.bins.ground.kindOfOffer(offer);
    const groups = groupsOfNew(draft, offer, grouped);
    const at = groups.findIndex((group) => shape.takesNew(offer, kind, group));
    if (at < 0) continue;
    const score = preference === undefined ? 0 : preference(viewOfNew(offer, kind, groups[at]), shape.shared);
    found.push({ offer, kind, score });
  }
  return new Offers(found);
}

/** An empty new node of the offer, as constraints see it. */
function viewOfNew(offer: BucketOffer, kind: Kind, group: PlacementGroup | undefined): NodeView {
  return group === undefined
    ? kind.view()
    : viewOf(inGroup(offer, { ...offer.bucket, placementGroup: group }));
}

/** The groups in which new nodes of the offer may be: its pinned group; if `grouped`, a new one or a named one; otherwise none. */
function groupsOfNew(
  draft: Draft,
  offer: BucketOffer,
  grouped: boolean,
): readonly (PlacementGroup | undefined)[] {
  if (offer.pinnedGroup !== undefined) return [offer.pinnedGroup];
  return grouped ? [nextGroupName(draft, groupKey(offer)), ...groupsWithNames(offer)] : WITHOUT_GROUP;
}

const WITHOUT_GROUP: readonly (PlacementGroup | undefined)[] = [undefined];

/** Number of units of the job that fit on one new node of the offer. The node is in a placement group if `grouped`. */
export function unitsOnNew(draft: Draft, ask: Ask, { offer, kind }: Offered, grouped: boolean): number {
  const { takes } = ask.jobClass;
  draft.bins.budget.spend(1);
  if (takes !== undefined) return unitsFrom(ask, slotsIn(ask, kind.capacity, 0));
  const units = groupsOfNew(draft, offer, grouped).map((group) => {
    const bucket = group === undefined ? offer.bucket : { ...offer.bucket, placementGroup: group };
    return roomOnNew(draft.bins, inGroup(offer, bucket), kind.capacity, ask);
  });
  return Math.max(...units);
}
