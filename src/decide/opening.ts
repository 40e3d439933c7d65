import type { Ask } from "./ask.ts";
import { holderOf } from "./caps.ts";
import type { Draft } from "./draft.ts";
import type { Offered } from "./offers.ts";
import { unitsOnNew } from "./offers.ts";

/** So many new nodes of one offer. */
export interface Opening {
  readonly offered: Offered;
  readonly nodes: number;
}

/**
 * What to open next for so many units: of what the job's own lists like best, the first offer that has room; or, by price, the one whose
 * nodes cost least for each unit that they would serve. An offer without a price comes after all that have one.
 */
export function nextOpening(
  draft: Draft,
  ask: Ask,
  offers: readonly Offered[],
  left: number,
  exhausted: ReadonlySet<Offered>,
): Opening | undefined {
  const { takes } = ask.jobClass;
  const known = takes === undefined ? undefined : draft.openings.get(takes);
  if (known !== undefined && known.left === left && !exhausted.has(known.offered)) {
    // Room only gets less, so what was best is best as long as there is room for it.
    if (roomFor(draft, ask, known.offered) >= known.nodes) return known;
  }
  const best = findOpening(draft, ask, offers, left, exhausted);
  if (takes !== undefined && best !== undefined && draft.caps.none)
    draft.openings.set(takes, { ...best, left });
  return best;
}

function findOpening(
  draft: Draft,
  ask: Ask,
  offers: readonly Offered[],
  left: number,
  exhausted: ReadonlySet<Offered>,
): Opening | undefined {
  let best: (Opening & { readonly cost: number }) | undefined;
  for (const offered of offers) {
    if (best !== undefined && offered.score < best.offered.score) break;
    if (exhausted.has(offered)) continue;
    const room = roomFor(draft, ask, offered);
    if (room < 1) continue;
    const units = Math.min(left, unitsOnNew(draft, ask, offered, ask.requirements.grouped));
    if (units < 1) continue;
    if (draft.policy.among === "priority") return { offered, nodes: Math.min(room, Math.ceil(left / units)) };
    // Whole nodes first; what is left then may be cheaper elsewhere.
    const nodes = Math.min(room, Math.max(1, Math.floor(left / units)));
    const cost = costOfUnit(draft, ask, offered, left, nodes, units);
    if (best === undefined || cost < best.cost * (1 - PRICE_TOLERANCE)) best = { offered, nodes, cost };
  }
  return best;
}

/** Prices so close are the same: the order of the offers decides then. */
const PRICE_TOLERANCE = 1e-9;

/** New nodes that all limits and caps allow. */
function roomFor(draft: Draft, ask: Ask, { offer }: Offered): number {
  const group = ask.requirements.grouped ? undefined : offer.pinnedGroup;
  const room = draft.capacity.room(offer, group);
  if (room < 1) return 0;
  return draft.caps.none ? room : Math.min(room, draft.caps.room(holderOf(ask), offer.cores));
}

function costOfUnit(
  draft: Draft,
  ask: Ask,
  { offer, kind }: Offered,
  left: number,
  nodes: number,
  units: number,
): number {
  const price = offer.price ?? Number.MAX_VALUE;
  if (draft.way.opening === "shared" && ask.requirements.alone === undefined && ask.unitsPerNode !== 1)
    return price * shareOf(ask, kind.capacity);
  return (price * nodes) / Math.min(left, nodes * units);
}

/** Which part of a node a slot takes, of the resource of which it takes the largest part. */
export function shareOf({ jobClass }: Ask, capacity: readonly number[]): number {
  const { takes } = jobClass;
  let share = 0;
  takes?.resource.forEach((position, i) => {
    const amount = takes.amount[i] ?? 0;
    const offered = capacity[position] ?? 0;
    if (amount > 0) share = Math.max(share, offered > 0 ? amount / offered : Number.POSITIVE_INFINITY);
  });
  return share;
}
