import type { TargetDemand } from "../domain/demand.ts";
import type { Bin } from "./bins.ts";
import type { Draft, Settled } from "./draft.ts";
import { closedTo, createNodes } from "./draft.ts";
import { floorBinding, presentBinding } from "./binding.ts";
import { floorReasons } from "./reasons.ts";
import type { Scope } from "./scope.ts";

/** A floor's state, in nodes or cores. */
interface Floor {
  have: number;
  ready: number;
}

/**
 * Sees that an array has at least so many nodes or cores that somebody needs. Nodes needed by others count, so that targets of several
 * sets and jobs make a maximum, not a sum (design.md section 3, Merging demand); then further existing nodes in their order of use, then
 * those in flight, then new ones of the first bucket that has them. A target in cores is rounded up to whole nodes (cyclecloud-wire.md C.2).
 */
export function raiseFloor(draft: Draft, demand: TargetDemand, by: string, scope: Scope): Settled {
  const { unit, count: asked } = demand.amount;
  const floor = neededSoFar(draft, unit, scope);
  for (const bins of [draft.open, draft.bins.inFlight]) {
    if (floor.have >= asked) break;
    for (const bin of byPreference(draft, scope, bins)) {
      if (floor.have >= asked) break;
      claimFor(draft, demand, by, scope, floor, bin);
    }
  }
  for (const offer of scope.offers) {
    const each = unit === "nodes" ? 1 : offer.cores;
    if (floor.have >= asked) break;
    if (each <= 0 || closedTo(draft, offer) !== undefined) continue;
    const wanted = Math.ceil((asked - floor.have) / each);
    const nodes = Math.min(wanted, draft.capacity.room(offer, offer.pinnedGroup));
    if (nodes === 0) continue;
    const bin = createNodes(draft, offer, offer.pinnedGroup, nodes, { kind: "array" }, demand.attributes);
    draft.bins.claim(bin, by);
    floor.have += nodes * each;
  }
  const placed = Math.min(asked, floor.have);
  const pending = placed - Math.min(asked, floor.ready);
  if (placed >= asked) return { placed, pending, reasons: [] };
  return {
    placed,
    pending,
    reasons: floorReasons(draft, demand, scope, asked - placed),
    ...presentBinding(floorBinding(draft, demand, scope, asked - placed)),
  };
}

function neededSoFar({ bins }: Draft, unit: "nodes" | "cores", scope: Scope): Floor {
  const floor = { have: 0, ready: 0 };
  for (const place of bins.places) {
    if (!scope.accepts(place)) continue;
    const needed = bins.neededAt(place);
    floor.have += unit === "nodes" ? needed.nodes : needed.cores;
    floor.ready += unit === "nodes" ? needed.readyNodes : needed.readyCores;
  }
  return floor;
}

/** In the order of use; among equals those sizes first that would be created first, so that the next plan chooses as this one does. */
function byPreference({ bins }: Draft, scope: Scope, list: readonly Bin[]): readonly Bin[] {
  const { rank } = scope;
  if (rank === undefined) return list;
  return list.toSorted(
    (a, b) =>
      (bins.order[a] ?? 0) - (bins.order[b] ?? 0) || rank(bins.placeOfBin(a)) - rank(bins.placeOfBin(b)),
  );
}

/** Counts a bin that nobody needs yet towards the floor; of several identical nodes only as many as are missing. */
function claimFor(
  { bins }: Draft,
  demand: TargetDemand,
  by: string,
  scope: Scope,
  floor: Floor,
  bin: Bin,
): void {
  const each = demand.amount.unit === "nodes" ? 1 : (bins.cores[bin] ?? 0);
  if (each <= 0 || bins.isClaimed(bin) || !scope.accepts(bins.placeOfBin(bin))) return;
  const missing = Math.ceil((demand.amount.count - floor.have) / each);
  bins.split(bin, Math.min(missing, bins.count[bin] ?? 0));
  bins.claim(bin, by);
  const gained = each * (bins.count[bin] ?? 0);
  floor.have += gained;
  if (bins.ready[bin] === true) floor.ready += gained;
}
