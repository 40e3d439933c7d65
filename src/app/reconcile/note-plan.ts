import { changesSomething, keepPlan } from "../../domain/kept-plan.ts";
import type { Plan } from "../../domain/plan.ts";
import { countDemands, modeShown } from "../../domain/plan.ts";
import type { Ledger } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { isoTime } from "../../domain/units.ts";
import { PortError } from "../ports/port-error.ts";
import type { Reconcile } from "./reconcile-run.ts";

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
