import type { Entry } from "../bins/entry.ts";
import type { Way } from "../draft/draft.ts";
import type { Problem } from "./problem.ts";
import type { Attempt } from "./better.ts";
import { hardestFirst } from "./hardest-first.ts";

/** Groups first, because they need most, then jobs. Targets last, because they also count the nodes of both. */
export function byKind(entries: readonly Entry[]): readonly Entry[] {
  const of = (kind: Entry["kind"]): readonly Entry[] => entries.filter((entry) => entry.kind === kind);
  return [...of("groups"), ...of("job"), ...of("target")];
}

/** How a plan is tried, and the order of the demands. */
export interface Try {
  readonly way: Way;
  readonly entries: readonly Entry[];
}

/** Above this number of demands only one more way is tried: the others would save little. */
const MANY_DEMANDS = 30_000;

/**
 * Up to this number of demands more ways are tried: gangs and exclusive jobs last; first the demands that go short in a cheaper plan; and
 * all jobs where the last plan placed them.
 */
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
  const tries = inOrder(hardest, ["own", "shared"]);
  if (entries.length > FEW_DEMANDS || !entries.some(isUnwieldy)) return tries;
  return [
    ...tries,
    ...inOrder(hardestFirst(entries, byRank, problem, { looseFirst: true }), ["own", "shared"]),
  ];
}

/** A gang, or a job that needs nodes of its own. */
const isUnwieldy = (entry: Entry): boolean =>
  entry.kind === "job" && (entry.unitsPerNode === 1 || entry.requirements.alone !== undefined);
