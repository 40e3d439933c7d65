import type { Node } from "../../domain/cluster.ts";
import type { Policy } from "../../domain/policy.ts";
import type { LedgerNode } from "../../domain/ledger.ts";
import type { Instant } from "../../domain/units.ts";
import type { TimeoutRules } from "../../domain/timeouts.ts";
import { timeoutsOf } from "../../domain/timeouts.ts";
import { plusSeconds } from "../../domain/units.ts";

/**
 * Nodes that were Ready, are up no more and are still wanted: shut down from inside, restarting, or without a VM. CycleCloud does not say
 * when that happened, so the time counts from the first observation that showed it.
 */

/** When the node left Ready, as far as observations show; undefined: it is Ready, never was, failed, or is not wanted any more. */
export function nextLeftReady(
  old: LedgerNode | undefined,
  node: Node,
  firstReadyAt: Instant | undefined,
  now: Instant,
): Instant | undefined {
  if (firstReadyAt === undefined) return undefined;
  // An unclear record says nothing of it, neither that it left nor that it is back.
  if (node.phase === "unknown") return old?.leftReadyAt;
  return node.phase === "coming" ? (old?.leftReadyAt ?? now) : undefined;
}

/**
 * Until when a node that left Ready counts as on its way up. One that restarts or boots again has the boot timeout. One whose Status
 * promises nothing has one snapshot interval: a single odd observation makes no new node. Undefined: it did not leave Ready.
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

/** It left Ready and was waited for long enough: no capacity until it is Ready again. It still counts against the limits. */
export function isDown(
  node: Node,
  known: LedgerNode | undefined,
  policy: TimeoutRules & Pick<Policy, "snapshotIntervalSeconds">,
  now: Instant,
): boolean {
  const until = awaitedUntil(node, known, policy);
  return until !== undefined && now >= until;
}
