import { renderReason } from "../../domain/reason-text.ts";
import { reasonsInOrder } from "../../domain/reasons-in-order.ts";
import type { Remedy, Raise } from "../../domain/remedy.ts";
import { canonicalText } from "../../domain/digest.ts";
import type { NodeId, SetName } from "../../domain/ids.ts";
import type { Ledger } from "../../domain/ledger.ts";
import { nearestFew } from "../../domain/nearest.ts";
import type { DemandOutcome, Plan } from "../../domain/plan.ts";
import { schedulerHostname } from "../../domain/hosts.ts";
import type { Ahead, DemandExplained, DemandPlace } from "./explained-demand.ts";
import { demandText } from "./explained-demand.ts";

/** A name that the plan does not know, with similar names that it knows. */
export interface Unknown {
  readonly kind: "unknown";
  readonly name: string;
  readonly nearest: readonly string[];
}

/** Maximum number of places of one demand that are listed. */
const MOST_PLACES = 200;
/** Maximum number of similar names that are suggested. */
export const NEAREST = 5;

/**
 * Explains what the plan did with the demand of this id. If several sets have one, `set` selects it. Without `set` it is the one of the
 * highest rank. Names of nodes come from the ledger that is stored with the plan.
 */
export function explainJob(
  plan: Plan,
  ledger: Ledger,
  job: string,
  set?: SetName,
): DemandExplained | Unknown {
  const all = [...plan.demands.entries()].filter(([, one]) => set === undefined || one.set === set);
  const exact = all.filter(([, { id }]) => id === job);
  const meant = exact.length > 0 ? [job] : namesMeant(job, new Set(all.map(([, { id }]) => id)));
  if (meant.length > 1) return { kind: "unknown", name: job, nearest: meant.slice(0, NEAREST) };
  const found = [...plan.demands.entries()].filter(([, { id }]) => id === meant[0]);
  const [at, outcome] = found.find(([, one]) => set === undefined || one.set === set) ?? [];
  if (at === undefined || outcome === undefined) return unknownJob(plan, job);
  const { places, moreNodes } = placesOf(plan, ledger, at, outcome);
  const { moreReasons = 0, binding } = outcome;
  const reasons = reasonsInOrder(outcome);
  const told = {
    kind: "demand",
    set: outcome.set,
    id: outcome.id,
    of: outcome.kind,
    unit: outcome.unit,
    asked: outcome.asked,
    placed: outcome.placed,
    pending: outcome.pending,
    rank: (plan.kept?.positions[at] ?? at) + 1,
    ranks: plan.kept?.of ?? plan.demands.length,
    places,
    moreNodes,
    incomplete: (plan.loads?.cut ?? 0) > 0,
    reasons,
    reasonTexts: reasons.map(renderReason),
    moreReasons,
    binding,
    ahead: aheadOf(plan, at, binding),
    alsoIn: found.map(([, one]) => one.set).filter((one) => one !== outcome.set),
  } as const;
  return { ...told, text: demandText(told, plan, ledger) };
}

/**
 * The names that begin with a number or a name as schedulers print it: "15" is "15.server" and "5" is "5_[2-20]", and a task "5_7" or "5[7].server"
 * is in "5_[2-20]" or "5[].server".
 */
function namesMeant(job: string, known: ReadonlySet<string>): readonly string[] {
  const begins = [...known].filter((id) => id.startsWith(job) && /^[._[]/.test(id.slice(job.length)));
  const [, base, task] = /^([^]+?)(?:_|\[)(\d+)\]?(?:\.[^]*)?$/.exec(job) ?? [];
  if (begins.length > 0 || base === undefined || task === undefined) return begins;
  return [...known].filter((id) => {
    const [, list] = id.startsWith(base) ? (/^_?\[([\d,%:-]*)\]/.exec(id.slice(base.length)) ?? []) : [];
    return list !== undefined && (list === "" || isListed(Number(task), list));
  });
}

/** Whether an array's list of tasks, such as "1,5-20:2%5", has this one. A step counts as 1: it narrows the tasks, and the array is meant. */
function isListed(task: number, list: string): boolean {
  const [tasks = ""] = list.split("%");
  return tasks.split(",").some((range) => {
    const [first, last = first] = range.replace(/:[^]*/, "").split("-").map(Number);
    return first !== undefined && last !== undefined && task >= first && task <= last;
  });
}

function unknownJob(plan: Plan, job: string): Unknown {
  const known = new Set(plan.demands.map(({ id }) => id));
  return { kind: "unknown", name: job, nearest: nearestFew(job, known, NEAREST) };
}

type Places = Pick<DemandExplained, "places" | "moreNodes">;

function placesOf(plan: Plan, ledger: Ledger, at: number, outcome: DemandOutcome): Places {
  const all = outcome.kind === "job" ? placesOfJob(plan, ledger, at) : nodesNeeded(plan, ledger, outcome);
  const rest = all.slice(MOST_PLACES);
  return { places: all.slice(0, MOST_PLACES), moreNodes: rest.reduce((sum, { nodes }) => sum + nodes, 0) };
}

function placesOfJob(plan: Plan, ledger: Ledger, at: number): readonly DemandPlace[] {
  const places: DemandPlace[] = [];
  for (const load of plan.loads?.loads ?? []) {
    const bucket = plan.loads?.buckets[load.bucket];
    for (const [first, last, slots, bound] of load.jobs) {
      if (at < first || at > last) continue;
      places.push({
        origin: load.origin,
        bucket,
        nodeId: load.nodeId,
        name: load.nodeId && nameOf(ledger, load.nodeId),
        nodes: load.count,
        slots,
        bound: bound === 1,
      });
    }
  }
  return places;
}

/** The nodes whose verdicts name the demand. For targets, which have no slots. */
function nodesNeeded(plan: Plan, ledger: Ledger, { set, id }: DemandOutcome): readonly DemandPlace[] {
  const by = `${set}/${id}`;
  return [...plan.nodes]
    .filter(([, verdict]) => verdict.kind === "needed" && verdict.by.includes(by))
    .map(([node]) => ({
      origin: "existing",
      bucket: undefined,
      nodeId: node,
      name: nameOf(ledger, node),
      nodes: 1,
      slots: undefined,
      bound: false,
    }));
}

/** The node's hostname, else its name in CycleCloud, else its id. */
function nameOf(ledger: Ledger, node: NodeId): string {
  const known = ledger.get(node);
  return known?.hostname ?? known?.name ?? schedulerHostname(node) ?? node;
}

/**
 * What demands of higher rank lack of the limits that this demand lacks. A raise serves them first. Nothing if the remedy was tried: then it
 * says so itself. A tried remedy of another demand is enough for those before it, too.
 */
function aheadOf(plan: Plan, at: number, binding: Remedy | undefined): readonly Ahead[] {
  if (binding?.kind !== "raise" || binding.after !== true) return [];
  const sums = new Map(binding.raises.map((raise) => [raiseKey(raise), { raise, more: 0, demands: 0 }]));
  for (const earlier of plan.demands.slice(0, at)) {
    if (earlier.binding?.kind !== "raise") continue;
    const { raises, after } = earlier.binding;
    for (const raise of raises) {
      const sum = sums.get(raiseKey(raise));
      if (sum === undefined) continue;
      sum.more = after === true ? sum.more + raise.more : Math.max(sum.more, raise.more);
      sum.demands += 1;
    }
  }
  return [...sums.values()]
    .filter(({ demands }) => demands > 0)
    .map(({ raise, more, demands }) => ({ raise: { ...raise, more }, demands }));
}

const raiseKey = (raise: Raise): string =>
  raise.of === "pool" ? `pool/${raise.pool}` : canonicalText(raise.limit);
