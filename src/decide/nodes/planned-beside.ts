import type { RankedDemand } from "../../domain/demand.ts";
import type { SetName } from "../../domain/ids.ts";
import type { DemandOutcome, Plan } from "../../domain/plan.ts";
import type { LedgerNode, PlannedBeside } from "../../domain/ledger.ts";
import type { HostFact } from "../senders/host-facts.ts";

/**
 * Demand that plans placed on a node, of sets that do not report its host while another set does (docs/demand.md, Hosts). A job of that
 * demand may run there without any report. So a report of the other set that the host is idle or closed does not count.
 */

/** Maximum number kept for a node. One is enough to keep the node, and jobs end one after the other. */
const MOST_KEPT = 4;

/** What counts for a node of the fact about its host. Undefined if nothing does. */
export function factThatCounts(
  fact: HostFact | undefined,
  known: Pick<LedgerNode, "plannedBeside"> | undefined,
): HostFact | undefined {
  const { plannedBeside } = known ?? {};
  if (fact?.by === undefined || plannedBeside === undefined) return fact;
  const { by, jobs } = fact;
  if (plannedBeside.every(({ set }) => by.includes(set))) return fact;
  return jobs.length === 0 ? undefined : { jobs };
}

/** Finds these demands for each node of a plan. The indices of all demand are made once, and only if a node needs them. */
export class BesideNotes {
  readonly #outcomes: readonly DemandOutcome[];
  readonly #demands: readonly RankedDemand[];
  readonly #last: Pick<Plan, "nodes"> | undefined;
  #known: ReadonlyMap<string, PlannedBeside> | undefined;
  #unplaced: ReadonlySet<string> | undefined;

  /** `outcomes`, `demands`: those of this plan. `last`: the last plan, if there was one. */
  constructor(
    outcomes: readonly DemandOutcome[],
    demands: readonly RankedDemand[],
    last: Pick<Plan, "nodes"> | undefined,
  ) {
    this.#outcomes = outcomes;
    this.#demands = demands;
    this.#last = last;
  }

  /** The entry with the demands that this plan places there. `needed`: the demands that need it. The same object if nothing changes. */
  noted(known: LedgerNode, fact: HostFact | undefined, needed: readonly string[] | undefined): LedgerNode {
    const before = known.plannedBeside;
    const next = fact?.by === undefined ? [] : this.#find(known, fact, fact.by, needed ?? []);
    if (next.length === 0) {
      if (before === undefined) return known;
      const { plannedBeside: _before, ...rest } = known;
      return rest;
    }
    const isSame =
      before?.length === next.length &&
      next.every(({ set, demand }, at) => before[at]?.set === set && before[at].demand === demand);
    return isSame ? known : { ...known, plannedBeside: next };
  }

  #find(
    known: LedgerNode,
    fact: HostFact,
    by: readonly SetName[],
    needed: readonly string[],
  ): readonly PlannedBeside[] {
    const found = new Map<string, PlannedBeside>();
    const add = (id: string, one: PlannedBeside | undefined): void => {
      if (one !== undefined && !by.includes(one.set) && found.size < MOST_KEPT) found.set(id, one);
    };
    // A report with amounts may move the demand to another node in this plan, while the job already runs here. So the demand stays noted
    // while its set asks for it and does not say where it runs.
    if (fact.hasAmounts === true) {
      for (const one of known.plannedBeside ?? []) if (this.#open.has(idOf(one))) add(idOf(one), one);
      for (const id of this.#neededBefore(known)) if (this.#open.has(id)) add(id, this.#all.get(id));
    }
    for (const id of needed) {
      if (found.size >= MOST_KEPT) break;
      if (!isOfAlone(by, id)) add(id, this.#all.get(id));
    }
    return [...found.values()];
  }

  #neededBefore({ nodeId }: LedgerNode): readonly string[] {
    const verdict = this.#last?.nodes.get(nodeId);
    return verdict?.kind === "needed" ? verdict.by : [];
  }

  /** All demand of the plan by "set/demand". */
  get #all(): ReadonlyMap<string, PlannedBeside> {
    return (this.#known ??= new Map(
      this.#outcomes.map(({ set, id }) => [`${set}/${id}`, { set, demand: id }]),
    ));
  }

  /** Jobs whose sets do not say where they run. */
  get #open(): ReadonlySet<string> {
    return (this.#unplaced ??= new Set(
      this.#demands.flatMap(({ set, demand }) =>
        demand.kind === "job" && demand.placed.length === 0 ? [`${set}/${demand.name}`] : [],
      ),
    ));
  }
}

const idOf = ({ set, demand }: PlannedBeside): string => `${set}/${demand}`;

/** Whether the demand is of the only set that reports. Usually it is, and then no index is needed. Names of sets may contain a slash. */
function isOfAlone([only, ...others]: readonly SetName[], id: string): boolean {
  if (only === undefined || others.length > 0) return false;
  return id.startsWith(`${only}/`) && !id.includes("/", only.length + 1);
}
