import type { NodeId } from "./ids.ts";
import type { Draining, NodeBinding } from "./record.ts";
import type { Instant } from "./units.ts";
import { secondsBetween } from "./units.ts";

/**
 * What nodes have asked ("may I stop?"), and what they were told, by node. It is a body of its own, apart from the ledger, so that an
 * answer writes little. Entries leave it when they prove nothing any more (docs/protocol.md, Questions of nodes).
 */
export type Questions = ReadonlyMap<NodeId, Question>;

export interface Question {
  /** The node's own time of the newest question that was answered with "stay"; absent: no such question carried one. */
  readonly asked?: number;
  /** The node's own time of the question that marked it last: if its stop comes to nothing, no older question counts. Absent: as above. */
  readonly markedAsked?: number;
  /** When the last question reached a host; absent: none did. */
  readonly askedAt?: Instant;
  /** When the node was last told to stay, or its stop came to nothing: it may work since then, whatever was known before. */
  readonly stayAt?: Instant;
  /** Its mark, or its accepted stop, since the last plan: it counts instead of the ledger's, and the next plan moves it there. */
  readonly draining?: Draining;
  /** The token that its calls must carry from now on; the next plan notes it in the ledger. Absent: the ledger's counts. */
  readonly bound?: NodeBinding;
  /** When a call for this node was last refused because it did not carry the node's token; absent: none was. */
  readonly refusedAt?: Instant;
  /** The node calls itself unhealthy and is not stopped; absent: it does not, or it is being stopped. */
  readonly unhealthy?: Unhealthy;
}

/** Why a node that calls itself unhealthy stays: a job is on it, or enough others of its array went within the hour. */
export type UnhealthyHold = "job" | "limit";

export interface Unhealthy {
  /** Its first such call in an unbroken line of them. */
  readonly since: Instant;
  readonly held: UnhealthyHold;
}

export const NO_QUESTIONS: Questions = new Map();

/** The entry of a node whose stop came to nothing: it may work again, and whatever was known of it before proves nothing. */
export function withoutStop(question: Question | undefined, now: Instant): Question {
  const { draining: _stop, markedAsked, ...rest } = question ?? {};
  return withStay(rest, markedAsked, now);
}

export function withStay(question: Question, told: number | undefined, now: Instant): Question {
  const asked = Math.max(question.asked ?? 0, told ?? 0);
  return { ...question, ...(asked === 0 ? {} : { asked }), stayAt: now };
}

/** A node asks again every minute: what it said longer ago says nothing of now. */
const RECENT_SECONDS = 600;

/** Undefined: the node does not call itself unhealthy, or did so too long ago. */
export function unhealthyNow(question: Question | undefined, now: Instant): Unhealthy | undefined {
  if (question === undefined) return undefined;
  const { askedAt, stayAt, unhealthy } = question;
  return isRecent(askedAt, now) || isRecent(stayAt, now) ? unhealthy : undefined;
}

/** So recent that it may still hold. */
export function isRecent(at: Instant | undefined, now: Instant): boolean {
  return at !== undefined && secondsBetween(at, now) < RECENT_SECONDS;
}
