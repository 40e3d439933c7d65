import type { Node, Snapshot } from "../../domain/cluster.ts";
import type { LedgerNode } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { TimeoutRules } from "../../domain/timeouts.ts";
import { timeoutsOf } from "../../domain/timeouts.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";

/**
 * Records that do not show whether their node is wanted: they have no TargetState that we know, and their Status does not show it either (phase `unknown`).
 * Nodes created in their place could be created again with each observation. Nodes stopped because of it could be at work.
 */

/** Since when observations have shown the node's record as unclear. Undefined if it is clear. */
export function nextUnclear(old: LedgerNode | undefined, { phase }: Node, now: Instant): Instant | undefined {
  return phase === "unknown" ? (old?.unclearSince ?? now) : undefined;
}

/** Until when an unclear node is in doubt: for its boot timeout after it became unclear. Undefined if its record is clear. */
export function unclearUntil(
  { phase }: Node,
  known: LedgerNode | undefined,
  policy: TimeoutRules,
): Instant | undefined {
  if (phase !== "unknown" || known?.unclearSince === undefined) return undefined;
  return plusSeconds(known.unclearSince, timeoutsOf(policy, known).bootSeconds);
}

/** A status in which fewer records than this lack TargetState is believed. */
const FEWEST_LACKING = 5;
/** For this long a status whose records mostly lack TargetState is not believed. */
const DISBELIEVED_SECONDS: Seconds = 600;

/** A status whose records mostly lack TargetState. */
export interface Lacking {
  readonly lacking: number;
  readonly of: number;
  /** The first of the last statuses, without a gap, that were like this. */
  readonly since: Instant;
  /** From this moment on such a status is believed, and each node is judged by itself. */
  readonly until: Instant;
}

/** Finds whether most records of a status lack TargetState. Undefined if they do not, or if only a few do. */
export function findLacking(
  { targetStatesLackedSince }: Pick<ClusterRecord, "targetStatesLackedSince">,
  { nodes, at }: Snapshot,
): Lacking | undefined {
  const lacking = nodes.reduce((sum, node) => (node.noTargetState === true ? sum + 1 : sum), 0);
  if (lacking < FEWEST_LACKING || lacking * 2 <= nodes.length) return undefined;
  const since = targetStatesLackedSince ?? at;
  return { lacking, of: nodes.length, since, until: plusSeconds(since, DISBELIEVED_SECONDS) };
}
