import type { BucketOffer, World } from "../../domain/world.ts";
import type { PlacementGroup } from "../../domain/ids.ts";
import type { Reason } from "../../domain/reason.ts";
import { compareText } from "../../domain/text.ts";
import type { Instant } from "../../domain/units.ts";

/** When and in which world a plan is made. */
interface Moment {
  readonly world: World;
  readonly now: Instant;
}

/** Why a bucket takes no new nodes at all, whatever the limits; a pause that has ended by now is none. */
export function closedTo(moment: Moment, offer: BucketOffer): Reason | undefined {
  if (moment.world.closed !== undefined) return moment.world.closed;
  const refusal = inForce(offer.refusal, moment.now);
  if (refusal !== undefined || offer.pinnedGroup === undefined) return refusal;
  // Whatever is created here goes into that group, so its pause is the bucket's.
  return groupClosedTo(moment, offer, offer.pinnedGroup);
}

/** Why a placement group of a bucket takes no new nodes; for a fresh one ("new") that is any group's pause. */
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
 * Why no placement group is made for jobs in a bucket: its array is not for HPC, or a group there is pausing. Groups that have a name are
 * used all the same, and those that a target asks for are made.
 */
export function newGroupClosedTo(moment: Moment, offer: BucketOffer): Reason | undefined {
  return offer.notHpc === true
    ? { code: "no-new-group", bucket: offer.bucket }
    : groupClosedTo(moment, offer, "new");
}

function inForce(reason: Reason | undefined, now: Instant): Reason | undefined {
  return reason?.code === "backing-off" && reason.until <= now ? undefined : reason;
}
