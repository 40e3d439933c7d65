import type { SetName } from "../../domain/ids.ts";
import type { SenderRule, SenderRules } from "../../domain/sender-rules.ts";
import { someOf } from "../../domain/text.ts";
import type { Sender } from "./sender-rule.ts";
import { senderOf } from "./sender-rule.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord, DearDemand } from "../../domain/record.ts";
import { NO_SENDER_RULES } from "../../domain/sender-rules.ts";
import type { Instant } from "../../domain/units.ts";
import type { Resting } from "../../domain/world.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/**
 * The shares of a bound that all request sets of a cluster have together (docs/demand.md, Shares). Half of it is divided among the rules of
 * `senders`; the other half is a pot for all. So no sender can fill a bound for the others (docs/decisions.md, "A bound is divided among
 * rules, not among sets"). Any bound may be divided like this.
 */

/** How much of a bound a sender may hold. */
export interface Room {
  /** All that it may hold: `own` and `free`. */
  readonly most: number;
  /** Its share. No other sender can take it. */
  readonly own: number;
  /** What the others leave of the pot. */
  readonly free: number;
  /** The part of the bound that belongs to no sender. */
  readonly pot: number;
}

/** The room of one sender. `held`: what each sender holds now; a sender beyond its share holds a part of the pot. */
export function roomOf(
  bound: number,
  rules: SenderRules,
  held: ReadonlyMap<Sender, number>,
  sender: Sender,
): Room {
  const half = Math.floor(bound / 2);
  const shares = sharesOf(half, rules);
  const ownOf = (one: Sender): number => shares.get(one) ?? 0;
  const pot = bound - sumOf(shares.values());
  let used = 0;
  for (const [other, amount] of held) if (other !== sender) used += Math.max(0, amount - ownOf(other));
  const left = Math.max(0, pot - used);
  // Without rules only this keeps one name from taking everything. A sender may invent names, so only rules keep senders apart.
  const free = rules.length === 0 ? Math.min(half, left) : left;
  const own = ownOf(sender);
  return { most: own + free, own, free, pot };
}

/** The shares of half a bound. A rule whose messages are refused needs none. */
function sharesOf(half: number, rules: SenderRules): ReadonlyMap<Sender, number> {
  const weightOf = ({ write, share = 1 }: SenderRule): number => (write ? share : 0);
  const all = sumOf(rules.map(weightOf));
  return new Map(rules.map((rule) => [rule, all === 0 ? 0 : Math.floor((half * weightOf(rule)) / all)]));
}

function sumOf(amounts: Iterable<number>): number {
  let sum = 0;
  for (const amount of amounts) sum += amount;
  return sum;
}

/** The sender in a sentence: "the rule for pbs, team-*". */
export function senderText(sender: Sender): string {
  if (sender === undefined) return "the request sets without a rule";
  return typeof sender === "string"
    ? `request set ${sender}`
    : `the rule for ${someOf(sender.requestSets, MOST_NAMED)}`;
}

/** A rule may have a thousand names. */
const MOST_NAMED = 3;

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
  return isForOthers ? record : { ...rest, ...withoutAbsent({ changed }) };
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
