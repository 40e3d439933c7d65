import type { Decision } from "../../domain/decision.ts";
import type { SetName } from "../../domain/ids.ts";
import type { Plan } from "../../domain/plan.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { SenderRules } from "../../domain/sender-rules.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import type { Sender } from "../senders/shares.ts";
import { senderOf } from "../senders/shares.ts";

/** A plan rests from dear demand this many times as long as it took. */
const TIMES = 20;

/** A plan that takes longer keeps others waiting. In real time: planning costs processor time. */
const LONG_SECONDS: Seconds = 1;

/** Maximum number of sets that the record names. Names are long, and each save writes the record. */
const MOST_SETS = 100;

/** When a plan was made. `speed`: seconds of this clock per real second. */
export interface Planned {
  readonly began: Instant;
  readonly ended: Instant;
  readonly speed?: number | undefined;
}

/**
 * The record after a plan. What made it take long is not planned in full again until twenty times as long has passed: what it left out
 * because it cost too much, and the sets of the sender that spent most of a plan of over a second (docs/protocol.md, The budget of a plan).
 */
export function withDearDemand(
  record: ClusterRecord,
  { plan, stepsBySet }: Pick<Decision, "plan" | "stepsBySet">,
  senders: SenderRules,
  { began, ended, speed = 1 }: Planned,
): ClusterRecord {
  const { dear, ...rest } = record;
  const took = secondsBetween(began, ended);
  const most = took > LONG_SECONDS * speed ? setsOfDearest(record, stepsBySet, senders) : [];
  const sets = [...new Set([...leftOutOf(plan), ...most])].slice(0, MOST_SETS);
  const isResting = dear !== undefined && dear.until > began;
  const until = isResting ? dear.until : plusSeconds(ended, TIMES * took);
  if (sets.length > 0 && until > ended) return { ...rest, dear: { sets, until } };
  return dear === undefined ? record : rest;
}

function leftOutOf({ leftOut = [] }: Plan): readonly SetName[] {
  const dear = leftOut.filter(({ aside, by }) => aside === undefined && by !== "configuration");
  return dear.map(({ set }) => set);
}

/** The sets of the sender that spent more than half of the steps, the dearest first. None if no other sender has a live set, or without rules. */
function setsOfDearest(
  { sets }: ClusterRecord,
  stepsBySet: ReadonlyMap<SetName, number>,
  rules: SenderRules,
): readonly SetName[] {
  if (rules.length === 0) return [];
  const live = new Set<Sender>();
  for (const [set, entry] of sets) if (entry.live) live.add(senderOf(rules, set));
  if (live.size < 2) return [];
  const bySender = Map.groupBy(stepsBySet, ([set]) => senderOf(rules, set));
  const stepsOf = (own: readonly (readonly [SetName, number])[]): number =>
    own.reduce((sum, [, steps]) => sum + steps, 0);
  const all = stepsOf([...stepsBySet]);
  const dearest = [...bySender.values()].find((own) => stepsOf(own) > all / 2) ?? [];
  return dearest.toSorted(([, one], [, other]) => other - one).map(([set]) => set);
}
