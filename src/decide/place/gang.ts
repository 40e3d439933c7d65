import type { BucketOffer } from "../../domain/world.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Ask } from "../bins/job-ask.ts";
import type { Draft } from "../draft/draft.ts";
import type { Place } from "../bins/node-kinds.ts";
import { openOffers, unitsOnNew } from "./offers.ts";
import type { Progress } from "./pack.ts";
import { fillBin, openFor } from "./pack.ts";
import type { Scope } from "../bins/scope.ts";
import { groupKey, nameGroup } from "../draft/group-names.ts";
import type { Offered } from "../draft/offered.ts";
import { NO_PRICE } from "../draft/offered.ts";
import type { Bin } from "../bins/bin-columns.ts";
import type { GangSite, Opening } from "./gang-ways.ts";
import {
  STEPS_PER_REFUSAL,
  capRefusal,
  findOpenings,
  findSites,
  inOrder,
  mayStart,
  openingRefusal,
} from "./gang-ways.ts";

/** The result for a gang: all of its units are placed, or none is. */
export interface PlacedGang {
  readonly progress: Progress;
  /** What was tried in vain. Absent: the gang is placed, or its set has no steps left. */
  readonly refused?: RefusedGang | RefusedSpread;
}

/** A gang that had to be in one bucket or group, with all ways to place it. None of them is possible. */
export interface RefusedGang {
  readonly kind: "together";
  readonly openings: readonly Opening[];
  readonly sites: readonly GangSite[];
}

/** A gang that may span buckets, with the number of units that could not be placed. */
interface RefusedSpread {
  readonly kind: "spread";
  readonly lacking: number;
  /** The cap that forbids the gang to use the nodes that were found. */
  readonly capped: Reason | undefined;
}

/**
 * Places a gang as a whole or not at all. Nodes are checked in their order of use, and the first site that suffices is taken. If none does,
 * new nodes are created: as few as possible to complete a site, or all of them in the best bucket. Everything is counted before anything is
 * taken.
 */
export function placeGang(draft: Draft, ask: Ask, scope: Scope, home: Place | undefined): PlacedGang {
  const progress = { left: ask.units, pending: 0 };
  const { complete, sites } = findSites(draft, ask, home);
  if (complete !== undefined) {
    const [first] = complete.bins;
    const judge = (): number => (first === undefined ? 0 : draft.bins.unitsOn(first, ask));
    fillWhole(draft, ask, judge, () => {
      for (const bin of complete.bins) fillBin(draft, ask, progress, bin);
    });
    return { progress };
  }
  const openings = findOpenings(draft, ask, scope, sites, home);
  const possible = inOrder(
    draft,
    ask,
    openings.filter(({ nodes }) => Number.isFinite(nodes)),
  );
  const best = possible.find((opening) => whyNot(draft, ask, opening) === undefined);
  // If the steps ran out, some nodes were not checked, and new ones would be created in their place.
  if (draft.bins.budget.isSpent) return { progress };
  if (best !== undefined) {
    const { from, offer, site, nodes } = best;
    const grouped = ask.together === "one-group";
    const judge = (): number => (from === undefined ? 0 : unitsOnNew(draft, ask, from, grouped));
    fillWhole(draft, ask, judge, () => {
      for (const bin of site?.bins ?? []) fillBin(draft, ask, progress, bin);
      const group = best.group === "new" ? nameGroup(draft, groupKey(offer)) : best.group;
      openFor(draft, ask, progress, offer, group, nodes);
    });
    return { progress };
  }
  return { progress, refused: { kind: "together", openings, sites } };
}

/** Cost of filling one node, as a multiple of the cost of judging it. */
const JUDGEMENTS_TO_FILL = 3;

/** Fills all nodes of a gang, or none if its set has too few steps left: half a gang is of no use. `judge` judges one of the nodes. */
function fillWhole(draft: Draft, ask: Ask, judge: () => number, fill: () => void): void {
  const { budget } = draft.bins;
  const before = budget.spent;
  // Identical nodes are filled at once, at the cost of one.
  if (ask.jobClass.takes === undefined) judge();
  budget.finish(JUDGEMENTS_TO_FILL * ask.units * (budget.spent - before), fill);
}

function whyNot(draft: Draft, ask: Ask, opening: Opening): Reason | undefined {
  draft.bins.budget.spend(STEPS_PER_REFUSAL);
  return openingRefusal(draft, ask, opening);
}

/**
 * Places a gang that may span buckets: its units on distinct nodes in any buckets, all or none. Everything is counted on a copy of the limits
 * before anything is taken.
 */
export function spreadGang(draft: Draft, ask: Ask, scope: Scope): PlacedGang {
  const progress = { left: ask.units, pending: 0 };
  const taken: Bin[] = [];
  const bound = draft.bound.get(ask.demand);
  const trial = draft.capacity.fork();
  let left = ask.units;
  for (const bin of draft.bins.each(ask)) {
    if (left <= 0 || draft.bins.budget.isSpent) break;
    draft.bins.budget.spend(1);
    if (bound?.has(bin) === true || !mayStart(draft, trial, bin)) continue;
    taken.push(bin);
    left -= draft.bins.count[bin] ?? 0;
  }
  const openings: { readonly offer: BucketOffer; readonly nodes: number }[] = [];
  const byPrice = sortedForOne(draft, openOffers(draft, ask, scope, ask.requirements.grouped).all);
  for (const offered of byPrice) {
    if (left <= 0) break;
    const { offer } = offered;
    // A gang is not split over several generated groups.
    if (ask.requirements.grouped && offer.pinnedGroup === undefined) continue;
    if (unitsOnNew(draft, ask, offered, ask.requirements.grouped) < 1) continue;
    const nodes = Math.min(left, trial.room(offer, offer.pinnedGroup));
    if (nodes < 1) continue;
    trial.take(offer, offer.pinnedGroup, nodes);
    openings.push({ offer, nodes });
    left -= nodes;
  }
  const news = openings.map(({ offer, nodes }) => ({ nodes, cores: offer.cores }));
  const capped = capRefusal(draft, ask, taken, news);
  if (left > 0 || capped !== undefined)
    return { progress, refused: { kind: "spread", lacking: Math.max(0, left), capped } };
  if (draft.bins.budget.isSpent) return { progress };
  const [cheapest] = byPrice;
  const judge = (): number =>
    cheapest === undefined ? 0 : unitsOnNew(draft, ask, cheapest, ask.requirements.grouped);
  fillWhole(draft, ask, judge, () => {
    for (const bin of taken) fillBin(draft, ask, progress, bin);
    for (const { offer, nodes } of openings)
      openFor(draft, ask, progress, offer, offer.pinnedGroup, Math.min(nodes, progress.left));
  });
  return { progress };
}

function sortedForOne(draft: Draft, offers: readonly Offered[]): readonly Offered[] {
  if (draft.policy.among === "priority") return offers;
  const price = ({ offer }: Offered): number => offer.price ?? NO_PRICE;
  return offers.toSorted((a, b) => b.score - a.score || price(a) - price(b));
}
