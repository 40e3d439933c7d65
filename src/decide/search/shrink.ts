import type { BucketOffer } from "../../domain/world.ts";
import type { Bins } from "../bins/bins.ts";
import type { Draft } from "../draft/draft.ts";
import { closedTo } from "../draft/closed.ts";
import type { Kind } from "../bins/node-kinds.ts";
import type { Shape } from "../bins/shape.ts";
import { TOLERANCE } from "../../domain/tolerance.ts";
import { NO_PRICE } from "../draft/offered.ts";
import type { Bin } from "../bins/bin.ts";

/**
 * Replaces each planned node that jobs share by the cheapest VM size that takes all of its jobs, is within the limits, and has no more of
 * any counted resource. With no more of anything, the next plan finds every job where this one placed it.
 */
export function shrinkShared(draft: Draft): void {
  for (const [bin, shapes] of draft.shared) {
    const { bins } = draft;
    if (!bins.isClaimed(bin) || bins.origin[bin] !== "planned") continue;
    const current = draft.world.buckets[bins.placeOfBin(bin).offer];
    if (current === undefined || bins.budget.isSpent) continue;
    bins.budget.spend(draft.world.buckets.length);
    const smaller = cheapestFor(draft, bin, shapes, current);
    if (smaller === undefined) continue;
    const nodes = bins.count[bin] ?? 0;
    draft.capacity.give(current, undefined, nodes);
    draft.capacity.take(smaller.offer, undefined, nodes);
    bins.exchange(bin, smaller.kind, smaller.offer);
  }
}

interface Smaller {
  readonly offer: BucketOffer;
  readonly kind: Kind;
}

function cheapestFor(
  draft: Draft,
  bin: Bin,
  shapes: ReadonlySet<Shape>,
  current: BucketOffer,
): Smaller | undefined {
  const { bins, capacity } = draft;
  const nodes = bins.count[bin] ?? 0;
  let best: Smaller | undefined;
  let least = current.price ?? NO_PRICE;
  capacity.give(current, undefined, nodes);
  draft.world.buckets.forEach((offer, index) => {
    const kind = bins.ground.offerKinds[index];
    if (kind === undefined || offer.price === undefined || offer.price >= least) return;
    if (offer.parent !== undefined && offer.bucket.array !== current.bucket.array) return;
    // The jobs on it already count its cores against their caps, and may not get more.
    if (!draft.caps.none && offer.cores > current.cores) return;
    if (offer.pinnedGroup !== undefined || !holds(bins, bin, kind)) return;
    if (closedTo(draft, offer) !== undefined || capacity.room(offer, undefined) < nodes) return;
    const before = bins.kindOf(bin);
    const isAsGood = (shape: Shape): boolean =>
      shape.takesNew(offer, kind, undefined) && shape.score(kind) >= shape.score(before);
    if (![...shapes].every(isAsGood)) return;
    best = { offer, kind };
    least = offer.price;
  });
  capacity.take(current, undefined, nodes);
  return best;
}

/** Whether the jobs of a bin fit on a node of another kind, and that kind has no more of any resource. */
function holds(bins: Bins, bin: Bin, kind: Kind): boolean {
  const { capacity } = bins.kindOf(bin);
  const start = bin * bins.width;
  for (let r = 0; r < bins.width; r += 1) {
    const [before, offered] = [capacity[r] ?? 0, kind.capacity[r] ?? 0];
    if (offered > before) return false;
    const used = before - (bins.free[start + r] ?? 0);
    if (used > offered * (1 + TOLERANCE)) return false;
  }
  return true;
}
