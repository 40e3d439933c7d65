import type { Entry } from "../bins/entry.ts";
import type { Problem } from "./problem.ts";
import type { Ask } from "../bins/job-ask.ts";
import type { Ground } from "../bins/node-kinds.ts";
import type { Attempt } from "./better.ts";
import type { Way } from "../draft/draft.ts";
import type { MixPlan } from "./mix.ts";

/**
 * The demands in the order in which the next try places them: groups and named nodes, gangs, jobs with nodes of their own, then other jobs,
 * the largest first (first fit decreasing needs at most 22 % more than the best packing of one resource; Johnson 1973). Other targets come
 * last, because they also count nodes that other demands need. Among groups and targets, those with the fewest usable buckets come first:
 * their nodes can also serve a less restrictive demand, but not the reverse. Demands that `outcomes` leave unmet come after all others, by
 * rank, so that they take nothing from these.
 */
export function hardestFirst(
  entries: readonly Entry[],
  { outcomes }: Attempt,
  { ground, scopes }: Pick<Problem, "ground" | "scopes">,
  { also = NONE, before }: Exceptions = {},
): readonly Entry[] {
  const isMet = ({ rank }: Entry): boolean => {
    const outcome = outcomes[rank];
    return (outcome !== undefined && outcome.placed >= outcome.asked) || also.has(rank) || rank === before;
  };
  const unmet: Entry[] = [];
  const groups = new EqualEntries();
  for (const entry of entries) {
    if (!isMet(entry)) {
      unmet.push(entry);
      continue;
    }
    const hardness = 2 * hardnessOf(entry) + (entry.rank === before ? 0 : 1);
    if (entry.kind === "job") groups.addJob(entry, hardness, sizeOf(entry, ground.largest));
    else groups.addOther(entry, hardness, scopes.of(entry).offers.length);
  }
  const order = groups.inOrder();
  for (const entry of unmet) order.push(entry);
  return order;
}

/** Entries of equal rank in {@link hardestFirst}, in their former order. */
interface Equals {
  readonly hardness: number;
  readonly size: number;
  readonly breadth: number;
  readonly jobClass: number;
  readonly members: Entry[];
  /** Other jobs of the same class, which differ in size or hardness. */
  readonly next: Equals | undefined;
}

/**
 * Sorts entries by hardness, size, breadth and class. There may be 100,000 jobs of few classes, so jobs are grouped first and only the groups
 * are sorted.
 *
 * Bench row: packing-shuffled 51,000 takes 1.2 times as long if the jobs themselves are sorted.
 */
class EqualEntries {
  readonly #all: Equals[] = [];
  readonly #byClass: (Equals | undefined)[] = [];

  addJob(job: Ask, hardness: number, size: number): void {
    const jobClass = job.jobClass.index;
    const latest = this.#byClass[jobClass];
    for (let group = latest; group !== undefined; group = group.next) {
      if (group.hardness !== hardness || group.size !== size) continue;
      group.members.push(job);
      return;
    }
    const made = { hardness, size, breadth: 0, jobClass, members: [job], next: latest };
    this.#byClass[jobClass] = made;
    this.#all.push(made);
  }

  /** Adds a target or a demand for groups. */
  addOther(entry: Entry, hardness: number, breadth: number): void {
    this.#all.push({ hardness, size: 0, breadth, jobClass: 0, members: [entry], next: undefined });
  }

  inOrder(): Entry[] {
    this.#all.sort(
      (a, b) =>
        a.hardness - b.hardness || b.size - a.size || a.breadth - b.breadth || a.jobClass - b.jobClass,
    );
    const order: Entry[] = [];
    for (const { members } of this.#all) for (const entry of members) order.push(entry);
    return order;
  }
}

/** Changes to the order of {@link hardestFirst}. */
interface Exceptions {
  /** Ranks of unmet demands that are placed among the met ones. */
  readonly also?: ReadonlySet<number>;
  /** The rank of one more. It comes before all demands that are equally hard. */
  readonly before?: number;
}

const NONE: ReadonlySet<number> = new Set();

/** The largest share that one unit takes of the largest possible node, over all resources. */
function sizeOf(entry: Entry, largest: Ground["largest"]): number {
  if (entry.kind !== "job") return 0;
  const { jobClass, slotsPerUnit } = entry;
  if (jobClass.takes === undefined) return 0;
  const { resource, amount } = jobClass.takes;
  let size = 0;
  for (let i = 0; i < resource.length; i += 1)
    size = Math.max(size, (amount[i] ?? 0) / Math.max(1e-300, largest[resource[i] ?? 0] ?? 0));
  return size * slotsPerUnit;
}

function hardnessOf(entry: Entry): number {
  if (entry.kind === "groups") return 0;
  if (entry.kind === "target") return isNamed(entry) ? 0 : 9;
  const { together, requirements, jobClass } = entry;
  if (together === "one-group") return 1;
  if (together !== "anywhere") return 2;
  if (requirements.alone !== undefined) return 3;
  return jobClass.takes === undefined ? 4 : 5;
}

/** Named nodes first, because no other nodes serve them. Groups, because they need most, then jobs. Other targets last: they count the nodes of all. */
export function byKind(entries: readonly Entry[]): readonly Entry[] {
  const of = (kind: Entry["kind"]): readonly Entry[] => entries.filter((entry) => entry.kind === kind);
  const targets = of("target");
  const others = targets.filter((entry) => !isNamed(entry));
  return [...targets.filter(isNamed), ...of("groups"), ...of("job"), ...others];
}

/** The same order, but with the targets that name nodes by rank among themselves: the first that names a node says where it is made. */
export function namesByRank(entries: readonly Entry[]): readonly Entry[] {
  const named = entries.filter(isNamed).sort((a, b) => b.rank - a.rank);
  return entries.map((entry) => (isNamed(entry) ? (named.pop() ?? entry) : entry));
}

const isNamed = (entry: Entry): boolean => entry.kind === "target" && entry.demand.named !== undefined;

/** How a plan is tried, and the order of the demands. */
export interface Try {
  readonly way: Way;
  readonly entries: readonly Entry[];
  /** Jobs that are placed by it when their turn comes. */
  readonly mix?: MixPlan;
}

/** Above this number of demands only one more way is tried: the others would save little. */
const MANY_DEMANDS = 30_000;

/** Up to this number of demands one more way is tried: all jobs where the last plan placed them. */
export const FEW_DEMANDS = 4000;

/** The ways to try beside the order by rank. The more demands, the fewer tries. */
export function triesBySize(problem: Problem, byRank: Attempt): readonly Try[] {
  const { entries } = problem;
  const { among } = problem.policy;
  const inOrder = (order: readonly Entry[], openings: readonly Way["opening"][]): readonly Try[] =>
    openings.map((opening) => ({ way: { order: "size", opening }, entries: order }));
  const hardest = hardestFirst(entries, byRank, problem);
  if (among === "priority") return inOrder(hardest, ["own"]);
  if (entries.length > MANY_DEMANDS) return inOrder(hardest, ["shared"]);
  return inOrder(hardest, ["own", "shared"]);
}
