import type { SetName } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { DearDemand } from "../../domain/record.ts";
import { NO_SENDER_RULES } from "../../domain/sender-rules.ts";
import type { Instant } from "../../domain/units.ts";
import type { Resting } from "../../domain/world.ts";
import { senderOf } from "./shares.ts";

/** The demand that rests now (docs/protocol.md, The budget of a plan). Undefined: none. */
export function dearNow(dear: DearDemand | undefined, now: Instant): DearDemand | undefined {
  return dear === undefined || dear.until <= now ? undefined : dear;
}

/** Which sets rest now. Undefined: none. */
export function restingNow(dear: DearDemand | undefined, policy: Policy, now: Instant): Resting | undefined {
  const resting = dearNow(dear, now);
  return resting === undefined ? undefined : restingOf(resting, policy);
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
