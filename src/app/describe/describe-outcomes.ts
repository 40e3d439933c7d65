import { reasonsInOrder } from "../../domain/reasons-in-order.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { SetName } from "../../domain/ids.ts";
import type { DemandOutcome } from "../../domain/plan.ts";
import { renderReason } from "../../domain/reason-text.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { OutcomeShown } from "../../wire/api/cluster-demand.ts";
import { Pages } from "./pages.ts";

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
export type UserOf = (outcome: Pick<DemandOutcome, "set" | "id">) => string | undefined;

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
