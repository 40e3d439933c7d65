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
import type { Bin } from "../bins/bin.ts";
import type { Opening, Site } from "./gang-ways.ts";
import {
  STEPS_OF_REFUSAL,
  capRefusal,
  findOpenings,
  findSites,
  inOrder,
  mayWake,
  openingRefusal,
} from "./gang-ways.ts";

/** What became of a gang: all of its units have a place, or none has. */
export interface PlacedGang {
  readonly progress: Progress;
  /** What was looked at in vain. Absent: the gang is placed, or its set has no steps left. */
  readonly refused?: RefusedGang | RefusedSpread;
}

/** A gang that had to be in one bucket or group, and all ways to place it; none of them could be taken. */
export interface RefusedGang {
  readonly kind: "together";
  readonly openings: readonly Opening[];
  readonly sites: readonly Site[];
}

/** A gang that may span buckets, and how many of its units have no place at most. */
export interface RefusedSpread {
  readonly kind: "spread";
  readonly lacking: number;
  /** The cap that does not allow the nodes that there are. */
  readonly capped: Reason | undefined;
}

/**
 * Places a gang whole or not at all. The site that suffices first as nodes are gone through in their order of use is taken; else new nodes
 * are made: where the fewest are needed to complete a site, or all of them in the best bucket. All is counted before anything is taken.
 */
export function placeGang(draft: Draft, ask: Ask, scope: Scope, home: Place | undefined): PlacedGang {
  const progress = { left: ask.units, pending: 0 };
  const { complete, sites } = findSites(draft, ask, home);
  if (complete !== undefined) {
    const [first] = complete.bins;
    const look = (): number => (first === undefined ? 0 : draft.bins.unitsOn(first, ask));
    fillWhole(draft, ask, look, () => {
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
  // Not all nodes may have been asked: new ones might be made in their place.
  if (draft.bins.budget.isSpent) return { progress };
  if (best !== undefined) {
    const { from, offer, site, nodes } = best;
    const grouped = ask.together === "one-group";
    const look = (): number => (from === undefined ? 0 : unitsOnNew(draft, ask, from, grouped));
    fillWhole(draft, ask, look, () => {
      for (const bin of site?.bins ?? []) fillBin(draft, ask, progress, bin);
      const group = best.group === "new" ? nameGroup(draft, groupKey(offer)) : best.group;
      openFor(draft, ask, progress, offer, group, nodes);
    });
    return { progress };
  }
  return { progress, refused: { kind: "together", openings, sites } };
}

/** To fill a node costs about as much as so many looks at it. */
const OBSERVATIONS_OF_FILLING = 3;

/** Fills all nodes of a gang, or none if its set has not enough steps left: half a gang is of no use. `look`: at one of the nodes. */
function fillWhole(draft: Draft, ask: Ask, look: () => number, fill: () => void): void {
  const { budget } = draft.bins;
  const before = budget.spent;
  // Where nodes are alike, many are filled at once.
  if (ask.jobClass.takes === undefined) look();
  budget.finish(OBSERVATIONS_OF_FILLING * ask.units * (budget.spent - before), fill);
}

function whyNot(draft: Draft, ask: Ask, opening: Opening): Reason | undefined {
  draft.bins.budget.spend(STEPS_OF_REFUSAL);
  return openingRefusal(draft, ask, opening);
}

/**
 * Places a gang that may span buckets: its units on distinct nodes, wherever they are, all or none. Counted on a copy of the limits before
 * anything is taken.
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
    if (bound?.has(bin) === true || !mayWake(draft, trial, bin)) continue;
    taken.push(bin);
    left -= draft.bins.count[bin] ?? 0;
  }
  const openings: { readonly offer: BucketOffer; readonly nodes: number }[] = [];
  const byPrice = sortedForOne(draft, openOffers(draft, ask, scope, ask.requirements.grouped).all);
  for (const offered of byPrice) {
    if (left <= 0) break;
    const { offer } = offered;
    // Nodes of one gang in several generated groups would be neither together nor apart.
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
  const look = (): number =>
    cheapest === undefined ? 0 : unitsOnNew(draft, ask, cheapest, ask.requirements.grouped);
  fillWhole(draft, ask, look, () => {
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
