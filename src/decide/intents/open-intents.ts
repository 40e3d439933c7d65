import type { CreateSet, Intent } from "../../domain/intent.ts";
import type { NodeId } from "../../domain/ids.ts";

/** Nodes with a stop that is committed and whose outcome is not known yet. */
export function stoppingNodes(intents: readonly Intent[]): ReadonlySet<NodeId> {
  return new Set(
    intents.flatMap((intent) => (intent.effect.kind === "terminate" ? intent.effect.nodes : [])),
  );
}

/** Sets of creates that are committed and not settled. Their nodes may come, so they count. */
export function pendingCreates(intents: readonly Intent[]): readonly CreateSet[] {
  return intents.flatMap((intent) => (intent.effect.kind === "create" ? intent.effect.sets : []));
}
