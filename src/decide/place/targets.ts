import type { BucketOffer } from "../../domain/world.ts";
import type { SetName } from "../../domain/ids.ts";
import type { TargetDemand } from "../../domain/demand.ts";
import type { Draft } from "../draft/draft.ts";
import { closedTo } from "../draft/closed.ts";
import { pinnedRefusal } from "../draft/scale-set.ts";
import type { Scope } from "../bins/scope.ts";
import { attributesOn, createNodes, splitBin, startIfDeallocated } from "../draft/new-nodes.ts";
import { NO_PRICE } from "../draft/offered.ts";
import type { Bin } from "../bins/bin-columns.ts";

/** Number of bins that are skipped at the cost of one step. */
const BINS_PER_STEP = 4;

/** How much of a target is reached, in nodes or cores. */
interface Count {
  have: number;
  ready: number;
}

/** The result for a target, in the unit of its amount. */
export interface PlacedTarget {
  readonly placed: number;
  readonly pending: number;
  readonly short?: ShortTarget;
}

/** What a target lacks, and the offers in the order in which it would get new nodes. */
export interface ShortTarget {
  readonly missing: number;
  readonly offers: readonly BucketOffer[];
}

/** A target and its request set. `by` is "set/demand". */
interface Asked {
  readonly demand: TargetDemand;
  readonly set: SetName;
  readonly by: string;
}

/**
 * Places a target: the needed nodes of an array reach at least this number of nodes or cores. Nodes that other demands need count, so
 * targets of several sets and jobs make a maximum, not a sum (architecture.md, Merging demand). Further nodes are existing ones in their
 * order of use, then nodes in flight, then deallocated ones, then new ones in the first bucket that has room, or the cheapest. A target in
 * cores is rounded up to whole nodes (cyclecloud-wire.md C.2).
 */
export function placeTarget(
  draft: Draft,
  demand: TargetDemand,
  set: SetName,
  by: string,
  scope: Scope,
): PlacedTarget {
  const { unit, count: asked } = demand.amount;
  const { bins } = draft;
  const reached = neededSoFar(draft, unit, scope);
  keepSizes(draft, scope);
  for (const list of [bins.existing, bins.inFlight, bins.deallocated]) {
    if (reached.have >= asked) break;
    let visited = 0;
    for (const bin of byPreference(draft, scope, list)) {
      if (reached.have >= asked) break;
      visited += 1;
      claimFor(draft, { demand, set, by }, scope, reached, bin);
    }
    bins.budget.spend(Math.ceil(visited / BINS_PER_STEP));
  }
  const offers = offersFor(draft, demand, scope);
  for (const offer of offers) {
    const each = unit === "nodes" ? 1 : offer.cores;
    if (reached.have >= asked || bins.budget.isSpent) break;
    bins.budget.spend(1);
    if (each <= 0 || closedTo(draft, offer) !== undefined) continue;
    if (pinnedRefusal(draft, offer, attributesOn(offer, demand.attributes)) !== undefined) continue;
    const wanted = Math.ceil((asked - reached.have) / each);
    const allowed = draft.caps.room({ set }, offer.cores);
    const nodes = Math.min(wanted, allowed, draft.capacity.room(offer, offer.pinnedGroup));
    if (nodes === 0) continue;
    const bin = createNodes(draft, offer, offer.pinnedGroup, nodes, { kind: "array" }, demand.attributes);
    bins.claim(bin, { by });
    draft.caps.hold({ set }, bins, bin);
    reached.have += nodes * each;
  }
  const placed = Math.min(asked, reached.have);
  const pending = placed - Math.min(asked, reached.ready);
  return placed >= asked
    ? { placed, pending }
    : { placed, pending, short: { missing: asked - placed, offers } };
}

/** Offers in the order that the target lists. Otherwise in the order of the cluster, or by price per node or core. */
export function offersFor(draft: Draft, demand: TargetDemand, scope: Scope): readonly BucketOffer[] {
  if (draft.policy.among === "priority" || demand.machineTypes !== undefined) return scope.offers;
  const each = (offer: BucketOffer): number =>
    demand.amount.unit === "nodes" ? 1 : Math.max(1, offer.cores);
  const price = (offer: BucketOffer): number => (offer.price ?? NO_PRICE) / each(offer);
  return scope.offers.toSorted((a, b) => price(a) - price(b));
}

function neededSoFar({ bins }: Draft, unit: "nodes" | "cores", scope: Scope): Count {
  const reached = { have: 0, ready: 0 };
  for (const place of bins.neededPlaces()) {
    bins.budget.spend(1);
    if (!scope.accepts(place)) continue;
    const needed = bins.neededAt(place);
    reached.have += unit === "nodes" ? needed.nodes : needed.cores;
    reached.ready += unit === "nodes" ? needed.readyNodes : needed.readyCores;
  }
  return reached;
}

/** Nodes that the target counts keep their size. Smaller ones might be in another array, or have fewer cores. */
function keepSizes({ bins, shared }: Draft, scope: Scope): void {
  for (const bin of shared.keys()) if (scope.accepts(bins.placeOfBin(bin))) shared.delete(bin);
}

/** In the order of use. Among equals, VM sizes that would be created first come first, so that the next plan makes the same choice. */
function byPreference({ bins }: Draft, { rank, accepts }: Scope, list: readonly Bin[]): readonly Bin[] {
  // A copy, because a claim may split a bin.
  if (rank === undefined) return [...list];
  bins.budget.spend(Math.ceil(list.length / BINS_PER_STEP));
  const open = list.filter((bin) => !bins.isClaimed(bin) && accepts(bins.placeOfBin(bin)));
  return open.sort(
    (a, b) => bins.tierOf(a) - bins.tierOf(b) || rank(bins.placeOfBin(a)) - rank(bins.placeOfBin(b)),
  );
}

/** Claims a bin that no demand needs yet for the target. Of identical nodes only as many as are missing. */
function claimFor(draft: Draft, asked: Asked, scope: Scope, reached: Count, bin: Bin): void {
  const { bins, caps } = draft;
  const { demand, set } = asked;
  const each = demand.amount.unit === "nodes" ? 1 : (bins.cores[bin] ?? 0);
  if (each <= 0 || bins.isClaimed(bin) || !scope.accepts(bins.placeOfBin(bin))) return;
  const missing = Math.ceil((demand.amount.count - reached.have) / each);
  const nodes = Math.min(missing, bins.count[bin] ?? 0, caps.roomOn({ set }, bins, bin));
  if (nodes < 1 || !startIfDeallocated(draft, bin)) return;
  splitBin(draft, bin, nodes);
  bins.claim(bin, asked);
  caps.hold({ set }, bins, bin);
  const gained = each * (bins.count[bin] ?? 0);
  reached.have += gained;
  if (bins.isReady(bin)) reached.ready += gained;
}
