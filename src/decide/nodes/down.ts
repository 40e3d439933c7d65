import type { Node } from "../../domain/cluster.ts";
import type { Policy } from "../../domain/policy.ts";
import type { LedgerNode } from "../../domain/ledger.ts";
import type { Instant } from "../../domain/units.ts";
import type { TimeoutRules } from "../../domain/timeouts.ts";
import { timeoutsOf } from "../../domain/timeouts.ts";
import { plusSeconds } from "../../domain/units.ts";

/**
 * Nodes that were Ready, are no longer up and are still wanted: they were shut down from inside, restart, or lost their VM. CycleCloud does
 * not say when that happened, so the time counts from the first observation that showed it.
 */

/** When the first observation showed that the node left Ready. Undefined if it is Ready, never was, failed, or is no longer wanted. */
export function nextLeftReady(
  old: LedgerNode | undefined,
  node: Node,
  firstReadyAt: Instant | undefined,
  now: Instant,
): Instant | undefined {
  if (firstReadyAt === undefined) return undefined;
  // An unclear record does not show whether the node left Ready or is back.
  if (node.phase === "unknown") return old?.leftReadyAt;
  return node.phase === "coming" ? (old?.leftReadyAt ?? now) : undefined;
}

/**
 * Until when a node that left Ready counts as on its way up. A node that restarts or boots again has its boot timeout. A node with an
 * unexpected Status has one snapshot interval, so that a single odd observation creates no new node. Undefined if it did not leave Ready.
 */
export function awaitedUntil(
  node: Node,
  known: LedgerNode | undefined,
  policy: TimeoutRules & Pick<Policy, "snapshotIntervalSeconds">,
): Instant | undefined {
  if (known?.leftReadyAt === undefined || node.phase !== "coming") return undefined;
  return plusSeconds(
    known.leftReadyAt,
    node.unexpectedStatus === true ? policy.snapshotIntervalSeconds : timeoutsOf(policy, known).bootSeconds,
  );
}

/** Whether that time is over. Then the node is no capacity until it is Ready again, but still counts against the limits. */
export function isDown(
  node: Node,
  known: LedgerNode | undefined,
  policy: TimeoutRules & Pick<Policy, "snapshotIntervalSeconds">,
  now: Instant,
): boolean {
  const until = awaitedUntil(node, known, policy);
  return until !== undefined && now >= until;
}
