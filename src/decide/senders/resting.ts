import type { SetName } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord, DearDemand } from "../../domain/record.ts";
import { NO_SENDER_RULES } from "../../domain/sender-rules.ts";
import type { Instant } from "../../domain/units.ts";
import type { Resting } from "../../domain/world.ts";
import { senderOf } from "./shares.ts";

/**
 * The record when an observation begins, whose plan may be the one in which demand that has rested is planned in full again: that of a tick, or
 * of demand that rests itself. A plan for others' demand never is, because they would wait for it (docs/protocol.md, The budget of a plan).
 */
export function endRest(
  record: ClusterRecord,
  policy: Pick<Policy, "senders">,
  { forDemand }: { readonly forDemand: boolean },
  now: Instant,
): ClusterRecord {
  const { dear, changed, ...rest } = record;
  if (dear === undefined || dear.until > now) return record;
  const isForOthers = forDemand && changed !== undefined && !restingOf(dear, policy).rests(changed.set);
  return isForOthers ? record : { ...rest, ...(changed === undefined ? {} : { changed }) };
}

/** Which sets rest with it. */
export function restingOf(
  { sets, allOf = [] }: DearDemand,
  { senders = NO_SENDER_RULES }: Pick<Policy, "senders">,
): Resting {
  const named = new Set(sets);
  const whole = new Set(allOf.map((set) => senderOf(senders, set)));
  const dear = new Set([...sets, ...allOf].map((set) => senderOf(senders, set)));
  const restsWhole = (set: SetName): boolean => whole.has(senderOf(senders, set));
  return {
    rests: (set) => named.has(set) || restsWhole(set),
    restsWhole,
    // Without rules names can be invented.
    mayDraw: (set) => senders.length > 0 && !dear.has(senderOf(senders, set)),
  };
}
