import type { NodeId, SetName } from "../../domain/ids.ts";
import type { Plan } from "../../domain/plan.ts";
import { NAMED, count } from "./explained-demand.ts";

/** A job on a node, or on a host that only a scheduler knows. */
export interface JobOnNode {
  readonly set: SetName;
  readonly id: string;
  readonly slots: number;
  /** It runs there already. */
  readonly bound: boolean;
}

/** The jobs on a node: the first ones, and the number of the others. */
export interface LoadOfNode {
  readonly load: readonly JobOnNode[];
  /** Number of jobs on it that are not listed. */
  readonly moreJobs: number;
}

/** Maximum number of jobs of one node that are listed. */
export const MOST_JOBS = 200;

/** The jobs that the plan places on a node, in the order of rank. */
export function jobsOn(plan: Plan, node: NodeId): readonly JobOnNode[] {
  const load = plan.loads?.loads.find(({ nodeId }) => nodeId === node);
  return (load?.jobs ?? []).flatMap(([first, last, slots, bound]) =>
    plan.demands.slice(first, last + 1).map(({ set, id }) => ({ set, id, slots, bound: bound === 1 })),
  );
}

/** The first few jobs on a node, as a text. */
export function loadText({ load, moreJobs }: LoadOfNode): string {
  const named = load
    .slice(0, NAMED)
    .map(
      ({ set, id, slots, bound }) => `${count(slots, "slots")} of ${set}/${id}${bound ? " (running)" : ""}`,
    );
  const more = Math.max(0, load.length - NAMED) + moreJobs;
  return more === 0 ? named.join(", ") : `${named.join(", ")} and ${more} more jobs`;
}
