import type { NodeId } from "./ids.ts";
import type { Draining, NodeBinding, NodeClock } from "./ledger.ts";
import type { Instant, Seconds } from "./units.ts";
import { secondsBetween } from "./units.ts";

/**
 * The questions of nodes ("may I stop?") and their answers, by node. A body of its own, apart from the ledger, so that an answer writes
 * little. Entries without any effect are removed (docs/protocol.md, Questions of nodes).
 */
export type Questions = ReadonlyMap<NodeId, Question>;

/** The last questions of one node, and their answers. */
export interface Question {
  /** The node's own time of the newest question that was answered with "stay". Absent: no such question had a time. */
  readonly asked?: number;
  /** The node's own time of the question that last marked it. If its stop has no effect, older questions do not count. Absent: as above. */
  readonly markedAsked?: number;
  /** When the last question reached an instance. Absent: none did. */
  readonly askedAt?: Instant;
  /** When the node was last told to stay, or its stop had no effect. It may work since then, whatever was known before. */
  readonly stayAt?: Instant;
  /**
   * Its mark or its accepted stop since the last plan. It overrides the ledger, and the next plan moves it there (docs/decisions.md, "Marks
   * and accepted stops are kept beside the ledger").
   */
  readonly draining?: Draining;
  /** The token that its calls must carry from now on. The next plan writes it to the ledger. Absent: the ledger's token counts. */
  readonly bound?: NodeBinding;
  /** What its questions say of its clock. The next plan writes it to the ledger. Absent: the ledger's counts. */
  readonly clock?: NodeClock;
  /** When a call for this node was last refused for lack of the node's token. Absent: never. */
  readonly refusedAt?: Instant;
  /** The node reports itself unhealthy and is not stopped. Absent: it does not, or it is being stopped. */
  readonly unhealthy?: Unhealthy;
}

/** Why a node that reports itself unhealthy stays: a job is on it, or enough others of its array were stopped within the hour. */
export type UnhealthyHold = "job" | "limit";

/** A node that reports itself unhealthy and stays. */
interface Unhealthy {
  /** The first call of the current run of such calls. */
  readonly since: Instant;
  readonly held: UnhealthyHold;
}

export const NO_QUESTIONS: Questions = new Map();

/** The entry of a node whose stop had no effect. It may work again, and earlier facts about it prove nothing. */
export function withoutStop(question: Question | undefined, now: Instant): Question {
  const { draining: _stop, markedAsked, ...rest } = question ?? {};
  return withStay(rest, markedAsked, now);
}

/** The entry after the node was told to stay. `told`: its own time of the question. */
export function withStay(question: Question, told: number | undefined, now: Instant): Question {
  const asked = Math.max(question.asked ?? 0, told ?? 0);
  return { ...question, ...(asked === 0 ? {} : { asked }), stayAt: now };
}

/** A node asks again every minute. Older statements are out of date. */
const RECENT_SECONDS: Seconds = 600;

/** Undefined if the node does not report itself unhealthy, or last did so too long ago. */
export function unhealthyNow(question: Question | undefined, now: Instant): Unhealthy | undefined {
  if (question === undefined) return undefined;
  const { askedAt, stayAt, unhealthy } = question;
  return isRecent(askedAt, now) || isRecent(stayAt, now) ? unhealthy : undefined;
}

/** True if the moment is recent enough that a statement may still hold. */
export function isRecent(at: Instant | undefined, now: Instant): boolean {
  return at !== undefined && secondsBetween(at, now) < RECENT_SECONDS;
}
