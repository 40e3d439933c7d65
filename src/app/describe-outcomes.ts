import { reasonsInOrder } from "../domain/reasons-in-order.ts";
import type { Bodies } from "../domain/bodies.ts";
import type { SetName } from "../domain/ids.ts";
import type { DemandOutcome } from "../domain/plan.ts";
import { renderReason } from "../domain/reason-text.ts";
import type { ClusterRecord } from "../domain/record.ts";
import { Pages } from "./pages.ts";

/** The result for one demand. */
export interface DescribedOutcome {
  readonly requestSet: string;
  readonly id: string;
  readonly kind: DemandOutcome["kind"];
  /** For a job: its sender's name for it. */
  readonly user?: string;
  readonly unit: DemandOutcome["unit"];
  readonly asked: number;
  readonly placed: number;
  /** The part of `placed` that waits for nodes which are coming. */
  readonly pending: number;
  /** The most important reason, if it has less than it asked for. `explain` shows all of them. */
  readonly why?: string;
}

/** The outcomes of the last plan: unmet demands first, then waiting ones. */
export function describeOutcomes(
  { plan }: Pick<Bodies, "plan">,
  userOf: UserOf = () => undefined,
  pages: Pages = new Pages(),
): readonly DescribedOutcome[] {
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

function describeOutcome(outcome: DemandOutcome, user: string | undefined): DescribedOutcome {
  const { set, id, kind, unit, asked, placed, pending } = outcome;
  const [reason] = reasonsInOrder(outcome);
  const why = reason !== undefined && isUnmet(outcome) ? { why: renderReason(reason) } : {};
  const whose = user === undefined ? {} : { user };
  return { requestSet: set, id, kind, ...whose, unit, asked, placed, pending, ...why };
}
