import type { BucketOffer, World } from "../../domain/world.ts";
import type { PlacementGroup } from "../../domain/ids.ts";
import type { Reason } from "../../domain/reason.ts";
import { compareText } from "../../domain/text.ts";
import type { Instant } from "../../domain/units.ts";

/** The world and the time for which a plan is made. */
interface Moment {
  readonly world: World;
  readonly now: Instant;
}

/** Why a bucket takes no new nodes, whatever the limits. A pause that has ended is no reason. `named`: a target asks that names its nodes. */
export function closedTo(
  moment: Moment,
  offer: BucketOffer,
  { named }: { readonly named?: unknown } = {},
): Reason | undefined {
  if (moment.world.closed !== undefined) return moment.world.closed;
  if (offer.onlyNamed === true && named === undefined) return { code: "only-named", bucket: offer.bucket };
  const refusal = inForce(offer.refusal, moment.now);
  if (refusal !== undefined || offer.pinnedGroup === undefined) return refusal;
  // All new nodes of the bucket are in that group, so a pause of the group is a pause of the bucket.
  return groupClosedTo(moment, offer, offer.pinnedGroup);
}

/** Why a placement group of a bucket takes no new nodes. For a group with a fresh name ("new"), the pause of any group is a reason. */
export function groupClosedTo(
  moment: Moment,
  offer: BucketOffer,
  group: PlacementGroup | "new",
): Reason | undefined {
  if (offer.groupRefusals === undefined) return undefined;
  if (group !== "new") return inForce(offer.groupRefusals.get(group), moment.now);
  const names = [...offer.groupRefusals.keys()].sort(compareText);
  return names
    .map((name) => inForce(offer.groupRefusals?.get(name), moment.now))
    .find((reason) => reason !== undefined);
}

/**
 * Why no placement group is made for jobs in a bucket: its array is not for HPC, or a group there is pausing. Groups with a given name are
 * still used, and groups that a demand for groups asks for are still made.
 */
export function newGroupClosedTo(moment: Moment, offer: BucketOffer): Reason | undefined {
  return offer.notHpc === true
    ? { code: "no-new-group", bucket: offer.bucket }
    : groupClosedTo(moment, offer, "new");
}

function inForce(reason: Reason | undefined, now: Instant): Reason | undefined {
  return reason?.code === "backing-off" && reason.until <= now ? undefined : reason;
}
