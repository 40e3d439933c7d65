import type { SetName } from "../../domain/ids.ts";
import type { Plan } from "../../domain/plan.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";

/** A plan rests from dear demand this many times as long as it took. */
const TIMES = 20;

/** Maximum number of sets that the record names. Names are long, and each save writes the record. */
const MOST_SETS = 100;

/**
 * The record after a plan that took from `began` to `ended`. What it left out because it cost too much is not planned in full again until
 * twenty times as long has passed (docs/protocol.md, The budget of a plan).
 */
export function withDearDemand(
  record: ClusterRecord,
  plan: Plan,
  { began, ended }: { readonly began: Instant; readonly ended: Instant },
): ClusterRecord {
  const { dear, ...rest } = record;
  const sets = dearSets(plan);
  const isResting = dear !== undefined && dear.until > began;
  const until = isResting ? dear.until : plusSeconds(ended, TIMES * secondsBetween(began, ended));
  if (sets.length > 0 && until > ended) return { ...rest, dear: { sets, until } };
  return dear === undefined ? record : rest;
}

function dearSets({ leftOut = [] }: Plan): readonly SetName[] {
  const dear = leftOut.filter(({ aside, by }) => aside === undefined && by !== "configuration");
  return dear.slice(0, MOST_SETS).map(({ set }) => set);
}
