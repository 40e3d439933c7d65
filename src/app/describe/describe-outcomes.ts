import { renderReason } from "../../domain/reason-text.ts";
import { reasonsInOrder } from "../../domain/reasons-in-order.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { SetName } from "../../domain/ids.ts";
import type { DemandOutcome, Plan } from "../../domain/plan.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { OutcomeShown, CauseShown, WaitingShown } from "../../wire/api/cluster-demand.ts";
import { Pages } from "./pages.ts";
import type { Remedy, Raise } from "../../domain/remedy.ts";
import { remedyLine } from "../../decide/explain/explained-demand.ts";
import { bucketText } from "../../domain/bucket.ts";
import type { Reason } from "../../domain/reason.ts";

/** The outcomes of the last plan: unmet demands first, then waiting ones. */
export function describeOutcomes(
  { plan }: Pick<Bodies, "plan">,
  userOf: UserOf = () => undefined,
  pages: Pages = new Pages(),
): readonly OutcomeShown[] {
  const demands = plan?.demands ?? [];
  const unmet = demands.filter(isUnmet);
  const waiting = demands.filter((one) => !isUnmet(one) && one.pending > 0);
  const met = demands.filter((one) => !isUnmet(one) && one.pending === 0);
  const all = [...unmet, ...waiting, ...met];
  return pages.cut("outcomes", all, (outcome) => describeOutcome(outcome, userOf(outcome)));
}

/** The user of a job. */
type UserOf = (outcome: Pick<DemandOutcome, "set" | "id">) => string | undefined;

/** From the demand in force, which may be newer than the plan. */
export function usersOf({ sets }: ClusterRecord, { demands }: Pick<Bodies, "demands">): UserOf {
  const bySet = new Map<SetName, ReadonlyMap<string, string>>();
  const usersIn = (set: SetName): ReadonlyMap<string, string> => {
    const entry = sets.get(set);
    const held = (entry === undefined ? undefined : demands.get(entry.digest))?.demands ?? [];
    return new Map(
      held.flatMap((demand): readonly (readonly [string, string])[] =>
        demand.kind === "job" && demand.user !== undefined ? [[demand.id, demand.user]] : [],
      ),
    );
  };
  return ({ set, id }) => {
    const users = bySet.get(set) ?? usersIn(set);
    bySet.set(set, users);
    return users.get(id);
  };
}

function isUnmet({ placed, asked }: DemandOutcome): boolean {
  return placed < asked;
}

function describeOutcome(outcome: DemandOutcome, user: string | undefined): OutcomeShown {
  const { set, id, kind, unit, asked, placed, pending } = outcome;
  const [reason] = reasonsInOrder(outcome);
  const why = reason !== undefined && isUnmet(outcome) ? renderReason(reason) : undefined;
  return { requestSet: set, id, kind, user, unit, asked, placed, pending, why };
}

const MOST_CAUSES = 20;

/**
 * Unmet and waiting demand of the last plan: the amounts and the causes, most frequent first. A cause is given in the words and numbers of
 * the first of its demands in rank.
 */
export function describeWaiting(plan: Plan | undefined): WaitingShown {
  const demands = plan?.demands ?? [];
  const short = demands.filter(({ placed, asked }) => placed < asked);
  const missing = new Map<DemandOutcome["unit"], number>();
  for (const { unit, asked, placed } of short) missing.set(unit, (missing.get(unit) ?? 0) + asked - placed);
  return {
    unmet: short.length,
    missing: [...missing].map(([unit, amount]) => ({ unit, amount })),
    onTheirWay: demands.filter(({ pending }) => pending > 0).length,
    reasons: mostFrequent(short, (outcome) => reasonsInOrder(outcome)[0], topicOfReason, renderReason),
    remedies: mostFrequent(
      short,
      ({ binding }) => binding,
      topicOfRemedy,
      (binding, outcome) => remedyLine(binding, reasonsInOrder(outcome).slice(0, 1)),
    ),
  };
}

/** Shows each topic once: most of thousands of demands have the same cause with different numbers. */
function mostFrequent<T>(
  demands: readonly DemandOutcome[],
  find: (outcome: DemandOutcome) => T | undefined,
  topicOf: (found: T) => string,
  say: (found: T, outcome: DemandOutcome) => string,
): readonly CauseShown[] {
  const causes = new Map<string, { -readonly [K in keyof CauseShown]: CauseShown[K] }>();
  // Identical jobs share their reasons. A topic may be as long as the reason's sentence.
  const topics = new Map<T, string>();
  for (const outcome of demands) {
    const found = find(outcome);
    if (found === undefined) continue;
    const topic = topics.get(found) ?? topicOf(found);
    topics.set(found, topic);
    const known = causes.get(topic);
    if (known !== undefined) {
      known.demands += 1;
      continue;
    }
    const first = { requestSet: outcome.set, id: outcome.id };
    causes.set(topic, { text: say(found, outcome), demands: 1, first });
  }
  return [...causes.values()].toSorted((a, b) => b.demands - a.demands).slice(0, MOST_CAUSES);
}

/** The topic of a reason, without its numbers. */
function topicOfReason(reason: Reason): string {
  switch (reason.code) {
    case "limit-reached":
      return JSON.stringify([reason.code, reason.limit.kind, reason.limit.name, reason.limit.unit]);
    case "does-not-fit":
      return JSON.stringify([reason.code, reason.resource]);
    case "pool-empty":
    case "unknown-pool":
      return JSON.stringify([reason.code, reason.pool]);
    case "group-too-large":
    case "no-placement-group":
    case "no-new-group":
    case "backing-off":
      return JSON.stringify([reason.code, bucketText(reason.bucket)]);
    default:
      return renderReason(reason);
  }
}

function topicOfRemedy(binding: Remedy): string {
  switch (binding.kind) {
    case "raise":
      return JSON.stringify([binding.kind, ...binding.raises.map(topicOfRaise)]);
    case "wait":
      return JSON.stringify([binding.kind, bucketText(binding.bucket), ...binding.raises.map(topicOfRaise)]);
    case "too-large":
      return JSON.stringify([binding.kind, binding.resource]);
    case "no-raise":
      return JSON.stringify([binding.kind, topicOfReason(binding.reason)]);
  }
}

function topicOfRaise(raise: Raise): string {
  if (raise.of === "pool") return JSON.stringify([raise.of, raise.pool]);
  const { kind, name, unit } = raise.limit;
  return JSON.stringify([kind, name, unit]);
}
