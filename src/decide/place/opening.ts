import type { Ask } from "../bins/job-ask.ts";
import { holderOf } from "../draft/caps.ts";
import type { Draft } from "../draft/draft.ts";
import { unitsOnNew } from "./offers.ts";
import type { Offered, Offers, Opening } from "../draft/offered.ts";
import { priceOf, ratioOf } from "../draft/offered.ts";

/** Prices so close are the same: the order of the offers decides then. */
const PRICE_TOLERANCE = 1e-9;

/**
 * What to open next for so many units: of what the job's own lists like best, the first offer that has room; or, by price, the one whose
 * nodes cost least for each unit that they would serve. An offer without a price comes after all that have one.
 */
export function nextOpening(
  draft: Draft,
  ask: Ask,
  offers: Offers,
  left: number,
  exhausted: ReadonlySet<Offered>,
): Opening | undefined {
  const { takes } = ask.jobClass;
  // Jobs like no other look once, and a unit on each node is counted otherwise than slots.
  const isCommon = takes?.isCommon === true && !ask.isGang;
  const known = isCommon ? draft.openings.get(takes) : undefined;
  if (known !== undefined && known.left === left && !exhausted.has(known.offered)) {
    // Room only gets less, so what was best is best as long as there is room for it.
    if (roomFor(draft, ask, known.offered) >= known.nodes) return known;
  }
  const best = findOpening(draft, ask, offers, left, exhausted);
  if (isCommon && best !== undefined && draft.caps.none) draft.openings.set(takes, { ...best, left });
  return best;
}

function findOpening(
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

/** The cheapest for each unit that is served at once. Whole nodes first; what is left then may be cheaper elsewhere. */
function cheapestOwn(draft: Draft, ask: Ask, byPrice: readonly Offered[], left: number): Opening | undefined {
  let best: Opening | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const offered of byPrice) {
    const price = priceOf(offered);
    // No node can serve more than all that is left.
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

/** The cheapest once others have filled the nodes up: by the part of a node that a slot takes. */
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

/** Others will share the nodes that are opened for the job. */
function isShared(draft: Draft, ask: Ask): boolean {
  const { requirements, jobClass, unitsPerNode } = ask;
  if (draft.way.opening !== "shared" || requirements.alone !== undefined || unitsPerNode === 1) return false;
  return jobClass.takes?.nothing === false;
}

/** The resource of which the job takes the largest part of a large node. */
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

/** New nodes that all limits and caps allow. */
function roomFor(draft: Draft, ask: Ask, { offer }: Offered): number {
  const group = ask.requirements.grouped ? undefined : offer.pinnedGroup;
  const room = draft.capacity.room(offer, group);
  if (room < 1) return 0;
  return draft.caps.none ? room : Math.min(room, draft.caps.room(holderOf(ask), offer.cores));
}

/** Which part of a node a slot takes, of the resource of which it takes the largest part. */
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
