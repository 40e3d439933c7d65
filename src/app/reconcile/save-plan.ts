import { forgetDeaths, noteHeap } from "../../decide/record/processes.ts";
import { isRemembered, retireSets } from "../../decide/record/finished-sets.ts";
import type { FinishedSet, ClusterRecord } from "../../domain/record.ts";
import { restSeconds, tickAfterPlan } from "../../decide/pace/next-tick.ts";
import { endPriority } from "../../decide/pace/observation-times.ts";
import { isWakePending, withoutCoveredWake } from "../../decide/record/whose-turn.ts";
import type { Snapshot } from "../../domain/cluster.ts";
import { isLost } from "../../domain/cluster.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, isoTime } from "../../domain/units.ts";
import type { Change } from "../record/commit.ts";
import type { BodyChanges } from "../ports/record-store.ts";
import type { Decision } from "../../domain/decision.ts";
import type { Planner, Concluded, Reconcile } from "../effects/run.ts";
import { changesSomething, keepPlan } from "../../domain/kept-plan.ts";
import type { Plan } from "../../domain/plan.ts";
import { countDemands, modeShown } from "../../domain/plan.ts";
import type { Ledger } from "../../domain/ledger.ts";
import { PortError } from "../ports/port-error.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** Saves the record that a decision leaves, with its plan and the next tick. */
export function savePlan(decision: Decision, run: Planner): Change<Concluded> {
  const { plan, seen, ledger, virtual } = decision;
  const { document } = run.policy;
  const planned = withoutCoveredWake(endPriority(survive(decision, run)));
  const { record, changes } = retire(planned, run.policy, plan.at);
  const wakeAt = followUpOf(decision, record);
  const followed: ClusterRecord = wakeAt === undefined ? record : { ...record, wakeAt, wakeFor: "follow-up" };
  // Virtual nodes boot, idle and stop by the minute, like real ones.
  const isMoving = (virtual?.nodes.length ?? 0) > 0;
  const rest = isMoving ? undefined : restSeconds(followed, seen, ledger, plan);
  return {
    save: {
      record: {
        ...tickAfterPlan(followed, rest, run, plan.at),
        ...withoutAbsent({ plannedUnder: document }),
      },
      changes: {
        ...changes,
        ledger,
        questions: decision.questions,
        seen,
        plan,
        ...withoutAbsent({ virtual }),
      },
    },
    result: {
      kind: "planned",
      plan,
      ledger,
      ...withoutAbsent({ wakeAt }),
    },
  };
}

/** This process has made a plan with its heap. If it left out no set because others died, no process dies of the record. */
function survive({ record, plan }: Decision, { app }: Planner): ClusterRecord {
  const noted = noteHeap(record, app.lanes.heap, plan.at);
  const isWhole = plan.leftOut?.some(({ aside }) => aside === "deaths") !== true;
  return isWhole ? forgetDeaths(noted, plan.at) : noted;
}

/** By then CycleCloud has usually accepted the stops of a plan. */
const STOPS_ACCEPTED_SECONDS: Seconds = 5;

/** What the observation lacks has gone after a minute and three observations. One in between the ticks spares it another minute. */
const OBSERVE_LOST_SECONDS: Seconds = 30;

/**
 * When to observe again: for replacements that wait for the plan's stops, or for what the observation lacks. Undefined: nothing waits, or an
 * observation is due anyway.
 */
function followUpOf({ waitsForStops, plan, seen }: Decision, record: ClusterRecord): Instant | undefined {
  if (waitsForStops !== true && !lacksAny(seen)) return undefined;
  const due = plusSeconds(plan.at, waitsForStops === true ? STOPS_ACCEPTED_SECONDS : OBSERVE_LOST_SECONDS);
  return isWakePending(record, plan.at, due) ? undefined : due;
}

function lacksAny({ arrays, nodes }: Snapshot): boolean {
  return nodes.some(isLost) || arrays.some(({ missing }) => missing !== undefined);
}

/** Finished sets leave the record in each tick, whether it makes a plan or finds that none is possible. A renewal never removes them. */
export function retire(
  whole: ClusterRecord,
  { maxExpirationSeconds }: Policy,
  now: Instant,
): { readonly record: ClusterRecord; readonly changes: Pick<BodyChanges, "finished"> } {
  const { record, finished } = retireSets(whole);
  if (finished.size === 0) return { record, changes: {} };
  const isKept = (set: FinishedSet) => isRemembered(set, maxExpirationSeconds, now);
  return { record, changes: { finished: { sets: finished, isKept } } };
}

/** Runs after everything else. No decision depends on it: a plan that cannot be kept cannot be explained later. */
export async function keepReasons(
  { app, site, policy }: Reconcile,
  plan: Plan,
  ledger: Ledger,
): Promise<void> {
  if (!changesSomething(plan) || policy.planHistorySeconds === 0) return;
  try {
    await app.ports.plans.keep(site.cluster, keepPlan(plan, ledger));
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const { kind, message } = error;
    app.ports.log("plan-not-kept", { cluster: site.cluster, plan: plan.number, kind, message });
  }
}

/** Logs a plan by its counts, and nodes that no demand needs. */
export function logPlan({ app, site }: Reconcile, plan: Plan, { unneeded }: ClusterRecord): void {
  const { cluster } = site;
  const { withheld } = plan;
  app.ports.log("plan", {
    cluster,
    plan: plan.number,
    create: nodesIn(plan.creates),
    start: plan.starts?.length ?? 0,
    terminate: plan.terminates.length,
    ...countDemands(plan),
    ...(plan.leftOut === undefined ? {} : { leftOut: plan.leftOut.map(({ set }) => set) }),
    ...(withheld === undefined
      ? {}
      : {
          ...modeShown(plan),
          wouldCreate: nodesIn(withheld.creates),
          wouldStart: withheld.starts.length,
          wouldTerminate: withheld.terminates.length,
        }),
  });
  if (unneeded === undefined) return;
  const { nodes, since, cost } = unneeded;
  const price = cost === undefined ? {} : { costPerHour: cost.perHour, currency: cost.currency };
  app.ports.log("nodes-not-needed", { cluster, nodes, since: isoTime(since), ...price });
}

const nodesIn = (creates: Plan["creates"]): number => creates.reduce((sum, { count }) => sum + count, 0);
