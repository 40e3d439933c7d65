import type { Node, Snapshot } from "../../domain/cluster.ts";
import type { LedgerNode } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { TimeoutRules } from "../../domain/timeouts.ts";
import { timeoutsOf } from "../../domain/timeouts.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";

/**
 * Records that do not say whether their node is wanted: they have no TargetState, and their Status is none that settles it (phase
 * `unknown`). What is created for such nodes is created again with every observation; what is stopped because of it may be at work.
 */

/** Since when observations have shown the node's record as unclear; undefined: it is clear. */
export function nextUnclear(old: LedgerNode | undefined, { phase }: Node, now: Instant): Instant | undefined {
  return phase === "unknown" ? (old?.unclearSince ?? now) : undefined;
}

/** Until when an unclear node is in doubt: it has the boot timeout from when it became unclear. Undefined: its record is clear. */
export function unclearUntil(
  { phase }: Node,
  known: LedgerNode | undefined,
  policy: TimeoutRules,
): Instant | undefined {
  if (phase !== "unknown" || known?.unclearSince === undefined) return undefined;
  return plusSeconds(known.unclearSince, timeoutsOf(policy, known).bootSeconds);
}

/** A status in which fewer records than this lack their TargetState is believed. */
const FEWEST_LACKING = 5;
/** For this long a status whose records mostly lack TargetState is not believed. */
const DISBELIEVED_SECONDS: Seconds = 600;

/** A status whose records mostly lack TargetState. */
export interface Lacking {
  readonly lacking: number;
  readonly of: number;
  /** The first status of an unbroken line of such ones. */
  readonly since: Instant;
  /** From then on each such node is judged by itself. */
  readonly until: Instant;
}

/** Whether most records of a status lack their TargetState; undefined: they do not, or only a few. */
export function findLacking(
  { targetStatesLackedSince }: Pick<ClusterRecord, "targetStatesLackedSince">,
  { nodes, at }: Snapshot,
): Lacking | undefined {
  const lacking = nodes.reduce((sum, node) => (node.noTargetState === true ? sum + 1 : sum), 0);
  if (lacking < FEWEST_LACKING || lacking * 2 <= nodes.length) return undefined;
  const since = targetStatesLackedSince ?? at;
  return { lacking, of: nodes.length, since, until: plusSeconds(since, DISBELIEVED_SECONDS) };
}
