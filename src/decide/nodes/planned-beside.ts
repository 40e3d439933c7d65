import type { RankedDemand } from "../../domain/demand.ts";
import { entryOfNode } from "../../domain/hosts.ts";
import type { SetName } from "../../domain/ids.ts";
import type { DemandOutcome, Plan } from "../../domain/plan.ts";
import type { LedgerNode, PlannedBeside } from "../../domain/ledger.ts";
import type { HostFact } from "../senders/host-facts.ts";

/**
 * Demand that the last plan has put on a node, of sets that do not report the node's host while another set does (docs/demand.md, Hosts).
 * A job of that demand may run there, and nobody says so. So that other set's word that the host is idle or closed does not count.
 */

/** So many are kept for a node: one is enough to keep it, and jobs end one after the other. */
const MOST_KEPT = 4;

/** What schedulers say of a node's host, as far as it counts for this node; undefined: nothing. */
export function factOfNode(
  facts: ReadonlyMap<string, HostFact>,
  node: { readonly hostname?: string; readonly name: string },
  known: Pick<LedgerNode, "plannedBeside"> | undefined,
): HostFact | undefined {
  const fact = entryOfNode(facts, node);
  const { plannedBeside } = known ?? {};
  if (fact?.by === undefined || plannedBeside === undefined) return fact;
  const { by, jobs } = fact;
  if (plannedBeside.every(({ set }) => by.includes(set))) return fact;
  return jobs.length === 0 ? undefined : { jobs };
}

/** Finds what a plan notes of each node; what is known of all demand is worked out once, and only if a node needs it. */
export class BesideNotes {
  readonly #outcomes: readonly DemandOutcome[];
  readonly #demands: readonly RankedDemand[];
  readonly #last: Pick<Plan, "nodes"> | undefined;
  #known: ReadonlyMap<string, PlannedBeside> | undefined;
  #unplaced: ReadonlySet<string> | undefined;

  /** Of this plan the outcomes and the demand; and what the last plan said of nodes, if there was one. */
  constructor(
    outcomes: readonly DemandOutcome[],
    demands: readonly RankedDemand[],
    last: Pick<Plan, "nodes"> | undefined,
  ) {
    this.#outcomes = outcomes;
    this.#demands = demands;
    this.#last = last;
  }

  /** The entry with what this plan says of it: `needed` is by whom, as the allocation has it. The very same where nothing changes. */
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
    // Amounts take demand off a host: a job that was planned there stays noted while it is asked for and its set does not say where it runs.
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

  /** All demand, as the allocation names it. */
  get #all(): ReadonlyMap<string, PlannedBeside> {
    return (this.#known ??= new Map(
      this.#outcomes.map(({ set, id }) => [`${set}/${id}`, { set, demand: id }]),
    ));
  }

  /** Jobs of which their sets do not say where they run. */
  get #open(): ReadonlySet<string> {
    return (this.#unplaced ??= new Set(
      this.#demands.flatMap(({ set, demand }) =>
        demand.kind === "job" && demand.placed.length === 0 ? [`${set}/${demand.name}`] : [],
      ),
    ));
  }
}

const idOf = ({ set, demand }: PlannedBeside): string => `${set}/${demand}`;

/** Mostly one set asks and reports: then nothing else is looked up. Names of sets may hold a slash. */
function isOfAlone([only, ...others]: readonly SetName[], id: string): boolean {
  if (only === undefined || others.length > 0) return false;
  return id.startsWith(`${only}/`) && !id.includes("/", only.length + 1);
}
