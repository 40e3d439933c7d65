import type { Remedy, Raise } from "../domain/remedy.ts";
import { renderRemedy } from "../domain/remedy.ts";
import { reasonsInOrder } from "../domain/reasons-in-order.ts";
import { bucketText } from "../domain/bucket.ts";
import type { SetName } from "../domain/ids.ts";
import type { DemandOutcome, Plan } from "../domain/plan.ts";
import type { Reason } from "../domain/reason.ts";
import { renderReason } from "../domain/reason-text.ts";

/** Unmet and waiting demand of the last plan: the amounts and the causes, most frequent first. */
export interface Waiting {
  /** Demands that are not completely placed, and the amounts they lack. */
  readonly unmet: number;
  readonly missing: readonly Missing[];
  /** Demands that are placed on nodes which are not up yet. */
  readonly onTheirWay: number;
  /** The causes, by the most important reason of each demand. */
  readonly reasons: readonly Cause[];
  /** The changes that would let them be placed. */
  readonly remedies: readonly Cause[];
}

/** An amount in one unit. */
export interface Missing {
  readonly unit: DemandOutcome["unit"];
  readonly amount: number;
}

/** The common cause of a number of demands, in the words and numbers of the first one in rank. */
export interface Cause {
  readonly text: string;
  readonly demands: number;
  readonly first: { readonly requestSet: SetName; readonly id: string };
}

const MOST_CAUSES = 20;

export function describeWaiting(plan: Plan | undefined): Waiting {
  const demands = plan?.demands ?? [];
  const short = demands.filter(({ placed, asked }) => placed < asked);
  const missing = new Map<DemandOutcome["unit"], number>();
  for (const { unit, asked, placed } of short) missing.set(unit, (missing.get(unit) ?? 0) + asked - placed);
  return {
    unmet: short.length,
    missing: [...missing].map(([unit, amount]) => ({ unit, amount })),
    onTheirWay: demands.filter(({ pending }) => pending > 0).length,
    reasons: mostFrequent(short, (outcome) => reasonsInOrder(outcome)[0], topicOfReason, renderReason),
    remedies: mostFrequent(short, ({ binding }) => binding, topicOfRemedy, renderRemedy),
  };
}

/** Shows each topic once: most of thousands of demands have the same cause with different numbers. */
function mostFrequent<T>(
  demands: readonly DemandOutcome[],
  find: (outcome: DemandOutcome) => T | undefined,
  topicOf: (found: T) => string,
  say: (found: T) => string,
): readonly Cause[] {
  const causes = new Map<string, { -readonly [K in keyof Cause]: Cause[K] }>();
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
    causes.set(topic, { text: say(found), demands: 1, first });
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
