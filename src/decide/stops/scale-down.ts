import type { Node } from "../../domain/cluster.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Draining, LedgerNode } from "../../domain/ledger.ts";
import { timeoutsOf } from "../../domain/timeouts.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import type { NodeStanding } from "../../domain/node-standing.ts";
import { isRecordDoubted, isStopping, isUseless } from "../../domain/node-standing.ts";
import { isFreshMark } from "../nodes/standing.ts";
import { undrain } from "./questions.ts";
import { bootingSince, isStarting } from "../intents/node-starts.ts";

/** What a plan does with one node. */
export type NodeAction =
  | { readonly kind: "none" }
  /** Mark it. After the commit it is observed once more, before it is stopped. */
  | { readonly kind: "mark"; readonly by: "idle" | "failed" }
  /** Stop it with this plan. */
  | { readonly kind: "terminate"; readonly by: Draining["by"] }
  /** Remove its mark. */
  | { readonly kind: "undrain" };

/** The inputs of {@link judgeNode} besides the node and its standing. */
interface Circumstances {
  readonly policy: Policy;
  readonly now: Instant;
  /** The plan about to be committed. */
  readonly plan: number;
  /** Scale-down of nodes that have been Ready pauses after an outage of the autoscaler. */
  readonly resting: boolean;
  /** The demand does not need it, also if only Ready nodes can replace it. */
  readonly spare: boolean;
  /** When a report called its host idle. Undefined: the report in force does not, or there is none. */
  readonly reportedIdleAt: Instant | undefined;
  /** It was made by name, no demand needs it, and reports call its host closed without a job. */
  readonly withdrawn?: boolean;
  readonly busy: boolean;
  /** It may have become Ready and busy since the moment that the status shows: a newer report has a job on it, or a report was not read. */
  readonly mayBeBusy?: boolean;
  /** A scheduler's report keeps it. */
  readonly kept: boolean;
  /** It is down, and its time is over (end-down.ts). */
  readonly ends: boolean;
  /** It is deallocated, and ends for this reason (end-kept.ts). Absent: it does not. */
  readonly keptEnd?: Draining["by"];
}

/**
 * Applies the rules of stopping (architecture.md, Stopping; cyclecloud-wire.md A.5). A node that never was Ready has no jobs, so its boot
 * timeout applies even if a plan places jobs there, but not while it may have become Ready since. A node that has been Ready is marked first, and stopped only after a newer observation
 * and a newer report.
 */
export function judgeNode(
  node: Node,
  known: LedgerNode,
  standing: NodeStanding,
  around: Circumstances,
): NodeAction {
  if (node.keepAlive || standing.notOurs === true || (around.kept && !isStopping(standing)))
    return known.draining === undefined ? { kind: "none" } : { kind: "undrain" };
  if (isStopping(standing)) return { kind: "none" };
  if (isRecordDoubted(standing, around.now)) return judgeUncertain(known, around);
  if (whyGivenUp(node, known, standing, around) !== undefined)
    return { kind: "terminate", by: node.phase === "failed" ? "failed" : "boot-timeout" };
  if (around.ends) return { kind: "terminate", by: "down" };
  switch (node.phase) {
    case "going":
      return node.status === "Failed" ? { kind: "terminate", by: "stuck" } : { kind: "none" };
    case "coming":
      if (standing.why === "down" && isUseless(standing)) return judgeFailed(known, around);
      return known.firstReadyAt === undefined ? judgeBooting(known, around) : judgeUncertain(known, around);
    case "failed":
      return judgeFailed(known, around);
    case "unknown":
    // Doubt about it is over. It may be at work, so doubt is no reason to stop it. It may be idle, like a node that is up.
    case "ready":
      return judgeReady(node, known, around);
    case "deallocated":
      if (around.keptEnd !== undefined && !isStarting(known))
        return { kind: "terminate", by: around.keptEnd };
      return known.draining === undefined ? { kind: "none" } : { kind: "undrain" };
    case "off":
      return { kind: "none" };
  }
}

/** Why a node that never was Ready is stopped: it failed, or its boot timeout is over. Undefined if it is not stopped for that. */
export function whyGivenUp(
  node: Node,
  known: LedgerNode,
  standing: NodeStanding,
  around: Pick<Circumstances, "now" | "busy" | "resting" | "mayBeBusy">,
): string | undefined {
  if (!isUseless(standing) || known.firstReadyAt !== undefined) return undefined;
  // The observation lacks it, so it may be gone already.
  if (standing.notOurs === true || node.keepAlive || node.missing !== undefined) return undefined;
  // It may have been Ready between two observations, or before the first one.
  if (standing.why === "failed") return around.busy || around.resting ? undefined : failureText(node);
  if (standing.why !== "late" || around.mayBeBusy === true) return undefined;
  const age = secondsBetween(bootingSince(known), around.now);
  const begun = known.start === undefined ? "it was first seen" : "its start";
  return `${node.name} was not Ready ${Math.round(age)} s after ${begun} (${failureText(node)})`;
}

/**
 * The action for a failed node that may run jobs: a health event sets Failed on a running node, and a node with an unknown Status may run.
 * So it is drained first (cyclecloud-wire.md A.5).
 */
function judgeFailed(known: LedgerNode, around: Circumstances): NodeAction {
  if (around.busy || around.resting) return { kind: "none" };
  if (known.draining === undefined)
    return around.reportedIdleAt === undefined ? { kind: "none" } : { kind: "mark", by: "failed" };
  return isConfirmed(known.draining, around)
    ? { kind: "terminate", by: known.draining.by }
    : { kind: "none" };
}

/**
 * The action for a node that was never Ready. If its scheduler has taken its name back, it is marked by one report and stopped by the next:
 * otherwise a boot that was cancelled would live until its boot timeout.
 */
function judgeBooting({ draining }: LedgerNode, around: Circumstances): NodeAction {
  const isWithdrawn = around.withdrawn === true && !around.resting && !around.busy;
  if (draining === undefined) return isWithdrawn ? { kind: "mark", by: "idle" } : { kind: "none" };
  if (draining.by !== "idle") return { kind: "none" };
  if (!isWithdrawn || draining.sentAt !== undefined) return { kind: "undrain" };
  return isConfirmed(draining, around) ? { kind: "terminate", by: "idle" } : { kind: "none" };
}

/** The action for a node that restarts, is reimaged or is in doubt: only a stale mark is removed. */
function judgeUncertain(known: LedgerNode, around: Circumstances): NodeAction {
  return isStale(known.draining, around) ? { kind: "undrain" } : { kind: "none" };
}

function judgeReady({ stopDisabled }: Node, known: LedgerNode, around: Circumstances): NodeAction {
  const draining = known.draining;
  const spare = around.spare && stopDisabled !== true;
  if (draining !== undefined) {
    if (isStale(draining, around)) return { kind: "undrain" };
    if (draining.by !== "idle") return { kind: "none" };
    if (around.busy || !spare || known.busyness.state !== "idle") return { kind: "undrain" };
    if (around.resting) return { kind: "none" };
    return isConfirmed(draining, around) ? { kind: "terminate", by: "idle" } : { kind: "none" };
  }
  const idle = around.reportedIdleAt !== undefined && isIdleLongEnough(known, around.policy, around.now);
  if (around.resting || !spare || !idle) return { kind: "none" };
  return { kind: "mark", by: "idle" };
}

/** An older report does not prove that the host is idle: it may have been opened since, and a job may have started. */
export const FRESH_REPORT_SECONDS: Seconds = 30;

/** Whether an earlier plan marked the node, and a fresh report has called it idle since. */
function isConfirmed(draining: Draining, around: Circumstances): boolean {
  return (
    draining.plan < around.plan &&
    around.reportedIdleAt !== undefined &&
    around.reportedIdleAt > draining.since &&
    secondsBetween(around.reportedIdleAt, around.now) <= FRESH_REPORT_SECONDS
  );
}

/** Whether a terminate had no effect in time, or a mark is left from a crash. A mark as idle is never stale, because it waits for a report. */
function isStale(draining: Draining | undefined, around: Circumstances): boolean {
  if (draining === undefined) return false;
  return draining.by === "idle" ? draining.sentAt !== undefined : !isFreshMark(draining, around.now);
}

/**
 * Whether the node has been idle and not needed for its idle timeout. False while its busy state is unknown. A named node has none: its
 * scheduler has waited before it took the name back.
 */
export function isIdleLongEnough(known: LedgerNode, policy: Policy, now: Instant): boolean {
  if (known.purpose.kind === "named") return known.busyness.state === "idle";
  return known.busyness.state === "idle" && idleSeconds(known, now) >= timeoutsOf(policy, known).idleSeconds;
}

/** How long the node has been idle and not needed. */
export function idleSeconds(known: LedgerNode, now: Instant): number {
  const since = Math.max(known.busyness.since, known.lastNeededAt ?? 0, known.firstReadyAt ?? 0);
  return Math.max(0, (now - since) / 1000);
}

function failureText(node: Node): string {
  return node.statusMessage === undefined
    ? `Status ${node.status}`
    : `Status ${node.status}: ${node.statusMessage}`;
}

/** The ledger entry after the action. */
export function applyAction(known: LedgerNode, action: NodeAction, plan: number, now: Instant): LedgerNode {
  switch (action.kind) {
    case "none":
      return known;
    case "undrain":
      return undrain(known, now);
    case "mark":
      return { ...known, draining: { since: now, by: action.by, plan, attempts: 0 } };
    case "terminate":
      return {
        ...known,
        ...(action.by === "down" ? { endedAt: now } : {}),
        draining: {
          since: known.draining?.since ?? now,
          by: action.by,
          plan,
          attempts: known.draining?.attempts ?? 0,
        },
      };
  }
}

/**
 * The action for a node of an observed array. Only a mark is removed that was set before the array was observed, so that the node is capacity
 * again. The mark of the node's own question stays for a minute, because that question may still be open.
 */
export function observedAction({ draining }: LedgerNode, due: NodeAction, now: Instant): NodeAction {
  if (due.kind === "undrain") return due;
  if (draining === undefined || draining.sentAt !== undefined) return { kind: "none" };
  const isAsked = draining.by === "callback" || draining.by === "unhealthy";
  return isAsked && isFreshMark(draining, now) ? { kind: "none" } : { kind: "undrain" };
}
