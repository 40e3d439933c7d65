import type { Decision } from "../../domain/decision.ts";
import type { SetName } from "../../domain/ids.ts";
import type { Plan } from "../../domain/plan.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { SenderRules } from "../../domain/sender-rules.ts";
import type { Instant } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import type { Sender } from "../senders/sender-rule.ts";
import { senderOf } from "../senders/sender-rule.ts";

/** Dear demand rests this many times as long as its plan took: so it takes less than 2 % of the time in which others may ask. */
const TIMES = 60;

/** A sender that spends more keeps the others waiting: a tenth of a second and more, also of plans that are for others. */
const MANY_STEPS = 1_000_000;

/** Maximum number of sets that the record names. Names are long, and each save writes the record. */
const MOST_SETS = 100;

/** When a plan was made. */
interface Planned {
  readonly began: Instant;
  readonly ended: Instant;
}

/**
 * The record after a plan. What made it take long is not planned in full again until sixty times as long has passed: what it left out
 * because it cost too much, and all that a sender asks for who spent most of the steps (docs/protocol.md, The budget of a plan).
 */
export function withDearDemand(
  record: ClusterRecord,
  { plan, stepsBySet }: Pick<Decision, "plan" | "stepsBySet">,
  senders: SenderRules,
  { began, ended }: Planned,
): ClusterRecord {
  const { dear, ...rest } = record;
  const isResting = dear !== undefined;
  const until = isResting ? dear.until : plusSeconds(ended, TIMES * secondsBetween(began, ended));
  const sets = leftOutOf(plan).slice(0, MOST_SETS);
  const { allOf: before = [] } = isResting ? dear : {};
  const dearest = setOfDearest(record, stepsBySet, senders);
  const allOf = dearest === undefined ? before : [...before, dearest].slice(-MOST_SETS);
  const isShort = !isResting && until <= ended;
  if (isShort || (sets.length === 0 && allOf.length === 0)) return dear === undefined ? record : rest;
  const since = isResting ? dear.since : ended;
  return { ...rest, dear: { sets, since, until, ...(allOf.length === 0 ? {} : { allOf }) } };
}

function leftOutOf({ leftOut = [] }: Plan): readonly SetName[] {
  const dear = leftOut.filter(({ aside, by }) => aside === undefined && by !== "configuration");
  return dear.map(({ set }) => set);
}

/** A set of the sender that spent many steps, and more than half of all. None if no other sender has a live set, or without rules. */
function setOfDearest(
  { sets }: ClusterRecord,
  stepsBySet: ReadonlyMap<SetName, number>,
  rules: SenderRules,
): SetName | undefined {
  if (rules.length === 0) return undefined;
  const live = new Set<Sender>();
  for (const [set, entry] of sets) if (entry.live) live.add(senderOf(rules, set));
  if (live.size < 2) return undefined;
  const stepsOf = (own: Iterable<readonly [SetName, number]>): number =>
    [...own].reduce((sum, [, steps]) => sum + steps, 0);
  const most = Math.max(MANY_STEPS, stepsOf(stepsBySet) / 2);
  const bySender = Map.groupBy(stepsBySet, ([set]) => senderOf(rules, set));
  return [...bySender.values()].find((own) => stepsOf(own) > most)?.[0]?.[0];
}
