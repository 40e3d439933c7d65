import type { TargetDemand } from "../../domain/demand.ts";
import type { Remedy } from "../../domain/remedy.ts";
import type { BucketOffer } from "../../domain/world.ts";
import type { OwnCeiling } from "../draft/caps.ts";
import { closedTo } from "../draft/closed.ts";
import type { Draft } from "../draft/draft.ts";
import type { CheckedExpansion } from "./remedy.ts";
import { remedyOf } from "./remedy.ts";

/**
 * The smallest change that would reach a target. `offers` are in the order in which it would get new nodes, `missing` is in the unit of its
 * amount.
 */
export function targetRemedy(
  draft: Draft,
  demand: TargetDemand,
  offers: readonly BucketOffer[],
  missing: number,
  ceilings: readonly OwnCeiling[],
): Remedy | undefined {
  const expansions = offers.flatMap((offer): CheckedExpansion[] => {
    const serves = demand.amount.unit === "nodes" ? 1 : offer.cores;
    const barrier = closedTo(draft, offer);
    const most = Number.POSITIVE_INFINITY;
    return serves > 0 ? [{ offer, group: offer.pinnedGroup, lot: 1, serves, most, barrier }] : [];
  });
  const given = draft.capacity.takenSinceMark();
  return remedyOf(draft, { expansions, missing, given, pools: [], ceilings });
}
