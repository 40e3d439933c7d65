import type { Node, NodePhase } from "../domain/cluster.ts";
import type { Plan } from "../domain/plan.ts";

/** A node's phase as people see it. `down`: it was Ready, is up no more, and the last plan does not count on it. */
export type PhaseShown = NodePhase | "down";

export function phaseShown({ nodeId, phase }: Node, plan: Plan | undefined): PhaseShown {
  return plan?.nodes.get(nodeId)?.kind === "down" ? "down" : phase;
}
