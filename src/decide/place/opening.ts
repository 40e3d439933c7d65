import type { Ask } from "../bins/job-ask.ts";
import { holderOf } from "../draft/caps.ts";
import type { Draft } from "../draft/draft.ts";
import { unitsOnNew } from "./offers.ts";
import type { Offered, Offers, Opening } from "../draft/offered.ts";
import { priceOf, ratioOf } from "../draft/offered.ts";

/** Prices that differ by no more than this part count as equal. Then the order of the offers decides. */
const PRICE_TOLERANCE = 1e-9;

/**
 * The new nodes to create next for `left` units. Only the offers with the best score that have room count. Of these, the first one, or by
 * price the one with the lowest price per unit served. An offer without a price comes after all that have one.
 */
export function nextOpening(
  draft: Draft,
  ask: Ask,
  offers: Offers,
  left: number,
  exhausted: ReadonlySet<Offered>,
): Opening | undefined {
  for (const equals of offers.byScore) {
    const open = exhausted.size === 0 ? equals : equals.without(exhausted);
    const found =
      draft.policy.among === "priority"
        ? firstOf(draft, ask, open.all, left)
        : isShared(draft, ask)
          ? cheapestShared(draft, ask, open.byRatio(mainResource(draft, ask)), left)
          : cheapestOwn(draft, ask, open.byPrice, left);
    if (found !== undefined) return found;
  }
  return undefined;
}

function firstOf(draft: Draft, ask: Ask, offers: readonly Offered[], left: number): Opening | undefined {
  for (const offered of offers) {
    const units = unitsOnNew(draft, ask, offered, ask.requirements.grouped);
    if (units < 1) continue;
    const room = roomFor(draft, ask, offered);
    if (room >= 1) return { offered, nodes: Math.min(room, Math.ceil(left / units)) };
  }
  return undefined;
}

/** The lowest price per unit served now. Full nodes first: the remaining units may be cheaper in another bucket. */
function cheapestOwn(draft: Draft, ask: Ask, byPrice: readonly Offered[], left: number): Opening | undefined {
  let best: Opening | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const offered of byPrice) {
    const price = priceOf(offered);
    // No node can serve more than `left` units.
    if (price / left >= least * (1 - PRICE_TOLERANCE)) break;
    const units = Math.min(left, unitsOnNew(draft, ask, offered, ask.requirements.grouped));
    if (units < 1) continue;
    const room = roomFor(draft, ask, offered);
    if (room < 1) continue;
    const nodes = Math.min(room, Math.max(1, Math.floor(left / units)));
    const cost = (price * nodes) / Math.min(left, nodes * units);
    if (cost >= least * (1 - PRICE_TOLERANCE)) continue;
    best = { offered, nodes };
    least = cost;
  }
  return best;
}

/** The lowest price if other jobs fill the nodes: by the part of a node that one slot takes. */
function cheapestShared(
  draft: Draft,
  ask: Ask,
  byRatio: readonly Offered[],
  left: number,
): Opening | undefined {
  const main = mainResource(draft, ask);
  const position = ask.jobClass.takes?.resource.indexOf(main) ?? -1;
  const amount = ask.jobClass.takes?.amount[position] ?? 0;
  let best: Opening | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const offered of byRatio) {
    if (amount * ratioOf(offered, main) >= least * (1 - PRICE_TOLERANCE)) break;
    const cost = priceOf(offered) * shareOf(ask, offered.kind.capacity);
    if (!(cost < least * (1 - PRICE_TOLERANCE))) continue;
    const units = Math.min(left, unitsOnNew(draft, ask, offered, ask.requirements.grouped));
    if (units < 1) continue;
    const room = roomFor(draft, ask, offered);
    if (room < 1) continue;
    best = { offered, nodes: Math.min(room, Math.max(1, Math.floor(left / units))) };
    least = cost;
  }
  return best;
}

/** Whether other jobs will share the nodes that are created for the job. */
function isShared(draft: Draft, ask: Ask): boolean {
  const { requirements, jobClass, unitsPerNode } = ask;
  if (draft.way.opening !== "shared" || requirements.alone !== undefined || unitsPerNode === 1) return false;
  return jobClass.takes?.nothing === false;
}

/** The resource of which the job takes the largest part of the largest node. */
function mainResource({ bins }: Draft, { jobClass: { takes } }: Ask): number {
  let main = 0;
  let most = -1;
  takes?.resource.forEach((position, i) => {
    const part = (takes.amount[i] ?? 0) / (bins.ground.largest[position] ?? 1);
    if (part <= most) return;
    most = part;
    main = position;
  });
  return main;
}

/** Number of new nodes that all limits and caps allow. */
function roomFor(draft: Draft, ask: Ask, { offer }: Offered): number {
  const group = ask.requirements.grouped ? undefined : offer.pinnedGroup;
  const room = draft.capacity.room(offer, group);
  if (room < 1) return 0;
  return draft.caps.none ? room : Math.min(room, draft.caps.room(holderOf(ask), offer.cores));
}

/** The largest part of a node that one slot takes, over all resources. */
export function shareOf({ jobClass }: Ask, capacity: Float64Array): number {
  const { takes } = jobClass;
  let share = 0;
  takes?.resource.forEach((position, i) => {
    const amount = takes.amount[i] ?? 0;
    const offered = capacity[position] ?? 0;
    if (amount > 0) share = Math.max(share, offered > 0 ? amount / offered : Number.POSITIVE_INFINITY);
  });
  return share;
}
