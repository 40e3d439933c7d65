import type { Node } from "../../domain/cluster.ts";
import { isOurs } from "../../domain/exclusive.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Draining, LedgerNode } from "../../domain/ledger.ts";
import { timeoutsOf } from "../../domain/timeouts.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { minusSeconds, plusSeconds, secondsBetween } from "../../domain/units.ts";
import { isRecordDoubted, STALE_MARK_SECONDS } from "../nodes/doubt.ts";
import { isDown } from "../nodes/down.ts";
import { undrain } from "./questions.ts";
import { bootingSince } from "../intents/node-starts.ts";
import { DECIDE_AGAIN_SECONDS } from "../nodes/excluded.ts";

/** What is to become of one node. */
export type NodeAction =
  | { readonly kind: "none" }
  /** Mark it; it is looked at again, after the commit, before it is stopped. */
  | { readonly kind: "mark"; readonly by: "idle" | "failed" }
  /** Stop it with this plan. */
  | { readonly kind: "terminate"; readonly by: Draining["by"] }
  | { readonly kind: "undrain" };

/** What {@link judgeNode} needs to know beside the node. */
export interface Circumstances {
  readonly policy: Policy;
  readonly now: Instant;
  /** The plan about to be committed. */
  readonly plan: number;
  /** Scale-down of nodes that have been Ready rests after an outage of ours. */
  readonly resting: boolean;
  /** Spare in the plan, and still spare if only Ready nodes count as substitutes. */
  readonly spare: boolean;
  /** Reported without a job, and not as open to more, at this moment. */
  readonly reportedIdleAt: Instant | undefined;
  readonly busy: boolean;
}

/**
 * The rules of stopping (architecture.md, Stopping; cyclecloud-wire.md A.5). A node that never was Ready has no jobs, whatever a plan
 * says: its boot timeout stands. A node that has been Ready is marked first, and stopped only after a newer observation and a newer report.
 */
export function judgeNode(node: Node, known: LedgerNode, around: Circumstances): NodeAction {
  if (node.keepAlive || !isOurs(known, around.policy))
    return known.draining === undefined ? { kind: "none" } : { kind: "undrain" };
  if (isUnderWay(known, around.now)) return { kind: "none" };
  if (isRecordDoubted(node, known, around.policy, around.now)) return judgeSettled(known, around);
  if (whyGivenUp(node, known, around) !== undefined)
    return { kind: "terminate", by: node.phase === "failed" ? "failed" : "boot-timeout" };
  switch (node.phase) {
    case "going":
      return node.status === "Failed" ? { kind: "terminate", by: "stuck" } : { kind: "none" };
    case "coming":
      if (isDown(node, known, around.policy, around.now)) return judgeFailed(known, around);
      return known.firstReadyAt === undefined ? { kind: "none" } : judgeSettled(known, around);
    case "failed":
      return judgeFailed(known, around);
    case "unknown":
    // Its time is over. It is never stopped for that, as it may be at work, but it may be idle like one that is up.
    case "ready":
      return judgeReady(node, known, around);
    case "off":
    case "deallocated":
      return { kind: "none" };
  }
}

/** A terminate was accepted a short while ago. */
function isUnderWay(known: LedgerNode, now: Instant): boolean {
  const sentAt = known.draining?.sentAt;
  return sentAt !== undefined && secondsBetween(sentAt, now) < DECIDE_AGAIN_SECONDS;
}

/** Why a node that never was Ready is stopped: it failed, or its time to boot is over. It has no jobs, whatever a plan says. */
export function whyGivenUp(
  node: Node,
  known: LedgerNode,
  around: Pick<Circumstances, "policy" | "now" | "busy" | "resting">,
): string | undefined {
  if (!isOurs(known, around.policy)) return undefined;
  if (known.firstReadyAt !== undefined || node.keepAlive || isUnderWay(known, around.now)) return undefined;
  // It is in doubt whether it is there at all: it may be gone by itself.
  if (node.missing !== undefined) return undefined;
  // Seen only as Failed, it may have been Ready before we looked, or while we did not.
  if (node.phase === "failed") return around.busy || around.resting ? undefined : failureText(node);
  if (node.phase !== "coming") return undefined;
  const age = secondsBetween(bootingSince(known), around.now);
  const begun = known.start === undefined ? "it was first seen" : "its start";
  return age < timeoutsOf(around.policy, known).bootSeconds
    ? undefined
    : `${node.name} was not Ready ${Math.round(age)} s after ${begun} (${failureText(node)})`;
}

/**
 * A health event sets Failed on a running node, and a Status that we do not know may be one that runs: jobs may still be there, so it is
 * drained first (wire A.5).
 */
function judgeFailed(known: LedgerNode, around: Circumstances): NodeAction {
  if (around.busy || around.resting) return { kind: "none" };
  if (known.draining === undefined)
    return around.reportedIdleAt === undefined ? { kind: "none" } : { kind: "mark", by: "failed" };
  return confirmed(known.draining, around) ? { kind: "terminate", by: known.draining.by } : { kind: "none" };
}

/** Restarting or reimaging after it was Ready: nothing to do but to take back a mark that nobody followed up. */
function judgeSettled(known: LedgerNode, around: Circumstances): NodeAction {
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
    return confirmed(draining, around) ? { kind: "terminate", by: "idle" } : { kind: "none" };
  }
  const idle = around.reportedIdleAt !== undefined && isIdleLongEnough(known, around.policy, around.now);
  if (around.resting || !spare || !idle) return { kind: "none" };
  return { kind: "mark", by: "idle" };
}

/** A report so old says too little: the host may have been opened since, and a job may have started. */
export const FRESH_REPORT_SECONDS: Seconds = 30;

/** Marked by an earlier plan, and reported idle since, just now: the observation after the mark. */
function confirmed(draining: Draining, around: Circumstances): boolean {
  return (
    draining.plan < around.plan &&
    around.reportedIdleAt !== undefined &&
    around.reportedIdleAt > draining.since &&
    secondsBetween(around.reportedIdleAt, around.now) <= FRESH_REPORT_SECONDS
  );
}

/** For people, what a marked node waits for: a report that would confirm the mark, or else the moment at which it is judged again. */
export function awaitedBy(
  { by, since }: Draining,
  { now }: Pick<Circumstances, "now">,
): { readonly reportAfter?: Instant; readonly until?: Instant } {
  if (by !== "idle" && by !== "failed") return { until: plusSeconds(since, STALE_MARK_SECONDS) };
  const freshAfter = minusSeconds(now, FRESH_REPORT_SECONDS);
  return { reportAfter: freshAfter < since ? since : freshAfter };
}

/** A terminate that had no effect in time, or a mark that a crash left: only marks for idleness wait for a newer observation by themselves. */
function isStale(draining: Draining | undefined, around: Circumstances): boolean {
  if (draining === undefined) return false;
  if (draining.sentAt !== undefined) return true;
  return draining.by !== "idle" && secondsBetween(draining.since, around.now) >= STALE_MARK_SECONDS;
}

/** Idle and not needed for the whole timeout; never while nobody says what the node does. */
export function isIdleLongEnough(known: LedgerNode, policy: Policy, now: Instant): boolean {
  return known.busyness.state === "idle" && idleSeconds(known, now) >= timeoutsOf(policy, known).idleSeconds;
}

export function idleSeconds(known: LedgerNode, now: Instant): number {
  const since = Math.max(known.busyness.since, known.lastNeededAt ?? 0, known.firstReadyAt ?? 0);
  return Math.max(0, (now - since) / 1000);
}

function failureText(node: Node): string {
  return node.statusMessage === undefined
    ? `Status ${node.status}`
    : `Status ${node.status}: ${node.statusMessage}`;
}

/** Carries a node's action out on its ledger entry. */
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
        draining: {
          since: known.draining?.since ?? now,
          by: action.by,
          plan,
          attempts: known.draining?.attempts ?? 0,
        },
      };
  }
}
