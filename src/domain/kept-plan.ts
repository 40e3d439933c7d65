import type { NodeId } from "./ids.ts";
import type { NodeVerdict } from "./node-verdict.ts";
import type { Plan, PlanBound } from "./plan.ts";
import { countDemands, isShort } from "./plan.ts";
import type { Ledger, LedgerNode } from "./ledger.ts";
import type { Instant } from "./units.ts";
import { withoutAbsent } from "./without-absent.ts";

/** A plan that changed something, kept for later explanation: its reasons and the names used in them. */
export interface KeptPlan {
  readonly plan: Plan;
  /** The ledger entries of the nodes that it judged. */
  readonly ledger: Ledger;
  readonly counts: PlanCounts;
}

/** One line of the list of kept plans. */
export interface KeptPlanRow {
  readonly number: number;
  readonly at: Instant;
  readonly counts: PlanCounts;
}

/** Counts for the whole plan, even if only a part was kept. */
export interface PlanCounts {
  readonly created: number;
  readonly started: number;
  readonly terminated: number;
  readonly nodes: number;
  readonly demands: number;
  /** Demands that are not completely placed. */
  readonly unmet: number;
  readonly bound?: PlanBound;
}

/** Whether a plan asks CycleCloud for anything. */
export function changesSomething({ creates, starts, terminates }: Plan): boolean {
  return creates.length > 0 || (starts?.length ?? 0) > 0 || terminates.length > 0;
}

/** The plan with the ledger entries of the nodes that it judged. */
export function keepPlan(plan: Plan, ledger: Ledger): KeptPlan {
  return {
    plan,
    ledger: entriesOf(ledger, plan.nodes.keys()),
    counts: {
      created: plan.creates.reduce((sum, { count }) => sum + count, 0),
      started: plan.starts?.length ?? 0,
      terminated: plan.terminates.length,
      nodes: plan.nodes.size,
      ...countDemands(plan),
      ...withoutAbsent({ bound: plan.bound }),
    },
  };
}

function entriesOf(ledger: Ledger, nodes: Iterable<NodeId>): Ledger {
  const entries = new Map<NodeId, LedgerNode>();
  for (const node of nodes) {
    const known = ledger.get(node);
    if (known !== undefined) entries.set(node, known);
  }
  return entries;
}

/** Number of unmet demands kept of a plan that is too large. */
const MANY_SHORT = 5000;
const FEW_SHORT = 200;

/**
 * Smaller and smaller versions of a plan that is too large to keep. Left out first: placements; then demands that are met; then nodes that
 * are needed; then most of the rest. The counts and the first reasons always stay.
 */
export function* lesserPlans(whole: KeptPlan): Generator<KeptPlan> {
  const withoutLoads = { ...whole, plan: cutLoads(whole.plan) };
  yield withoutLoads;
  const short = { ...withoutLoads, plan: cutDemands(withoutLoads.plan, Number.POSITIVE_INFINITY) };
  yield short;
  yield cutNodes({ ...short, plan: cutDemands(withoutLoads.plan, MANY_SHORT) }, isNotNeeded);
  yield cutNodes({ ...short, plan: cutDemands(withoutLoads.plan, FEW_SHORT) }, () => false);
}

function cutLoads(plan: Plan): Plan {
  return { ...plan, loads: { buckets: [], loads: [], cut: plan.loads?.loads.length ?? 0 } };
}

/** Keeps the first `most` unmet demands, with their ranks. */
function cutDemands(plan: Plan, most: number): Plan {
  const kept = [...plan.demands.entries()].filter(([, outcome]) => isShort(outcome)).slice(0, most);
  return {
    ...plan,
    demands: kept.map(([, outcome]) => outcome),
    kept: { positions: kept.map(([position]) => position), of: plan.demands.length },
  };
}

const isNotNeeded = ({ kind }: NodeVerdict): boolean => kind !== "needed";

function cutNodes({ plan, ledger, counts }: KeptPlan, keep: (verdict: NodeVerdict) => boolean): KeptPlan {
  const nodes = new Map([...plan.nodes].filter(([, verdict]) => keep(verdict)));
  return { plan: { ...plan, nodes }, ledger: entriesOf(ledger, nodes.keys()), counts };
}
