import type { Node } from "../../domain/cluster.ts";
import { isLost } from "../../domain/cluster.ts";
import type { Plan } from "../../domain/plan.ts";
import type { PhaseShown } from "../../wire/api/parts.ts";

/** A node's phase as shown to users. `down`: it was Ready and is no longer up. `missing`: the last observation lacked it. */
export function phaseShown(node: Node, plan: Plan | undefined): PhaseShown {
  if (isLost(node)) return "missing";
  return plan?.nodes.get(node.nodeId)?.kind === "down" ? "down" : node.phase;
}
