import type { Node } from "./cluster.ts";
import type { LedgerNode } from "./ledger.ts";
import type { Instant, Seconds } from "./units.ts";
import { plusSeconds } from "./units.ts";

/** A node that was Ready for this long has lasted: its image does not power it off. */
export const LASTS_SECONDS: Seconds = 1800;

/** When the node had been Ready for long enough. Undefined if it has not. */
export function lastedAt(
  { phase }: Pick<Node, "phase">,
  { firstReadyAt, leftReadyAt }: Pick<LedgerNode, "firstReadyAt" | "leftReadyAt">,
  now: Instant,
): Instant | undefined {
  if (firstReadyAt === undefined) return undefined;
  const at = plusSeconds(firstReadyAt, LASTS_SECONDS);
  const until = phase === "ready" ? now : leftReadyAt;
  return until !== undefined && at <= until ? at : undefined;
}
