import type { NodeId } from "../../domain/ids.ts";
import type { Question, Questions, UnhealthyHold } from "../../domain/questions.ts";
import type { Draining, Ledger, LedgerNode, NodeBinding } from "../../domain/ledger.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { withStay } from "../../domain/questions.ts";

/** A node that has asked so recently is stopped by its own question only (docs/protocol.md, Questions of nodes). */
const ASKED_RECENTLY_SECONDS: Seconds = 300;
/** No question waits longer than this in front of a host, so an older one need not be told from a newer one after that. */
const OLD_QUESTION_SECONDS: Seconds = 300;
/** A node without a clock of its own that stays is written again after so long. */
const STAY_AGAIN_SECONDS: Seconds = 240;
/** An entry that is so old proves nothing: a report counts for two intervals at most, and a question for five minutes. */
const KEEP_SECONDS: Seconds = 600;

/** The ledger with what the questions say of marks, accepted stops and bindings; the very same where they say nothing new. */
export function withQuestions(ledger: Ledger, questions: Questions): Ledger {
  let next: Map<NodeId, LedgerNode> | undefined;
  questions.forEach((question, id) => {
    const node = ledger.get(id);
    if (node === undefined) return;
    const now = withQuestion(node, question);
    if (now === node) return;
    next ??= new Map(ledger);
    next.set(id, now);
  });
  return next ?? ledger;
}

function withQuestion(known: LedgerNode, { draining, stayAt, bound }: Question): LedgerNode {
  const node = bound === undefined || isSameBinding(known.bound, bound) ? known : { ...known, bound };
  if (draining !== undefined) return node.draining === draining ? node : { ...node, draining };
  if (stayAt === undefined || node.draining === undefined || lastStep(node.draining) > stayAt) return node;
  return undrain(node, stayAt);
}

function isSameBinding(a: NodeBinding | undefined, b: NodeBinding): boolean {
  return a?.token === b.token && a.instanceId === b.instanceId;
}

/** When it was marked or, later, accepted: a stay that came after that ended it. */
function lastStep({ since, sentAt }: Draining): Instant {
  return sentAt ?? since;
}

/** Takes a node out of draining; its idle clock starts again. */
export function undrain(node: LedgerNode, now: Instant): LedgerNode {
  const { draining: _gone, ...kept } = node;
  return { ...kept, busyness: { state: "unknown", since: now } };
}

/**
 * Whether a report may stop the node: it was sent after the node was last told to stay, and the node has not asked by itself for a while.
 * A node that asks opens by itself when it gets no verdict, and a stop by report could meet it then.
 */
export function mayStopByReport(
  question: Question | undefined,
  reportedAt: Instant | undefined,
  now: Instant,
): boolean {
  if (question === undefined || reportedAt === undefined) return true;
  const { askedAt, stayAt } = question;
  if (askedAt !== undefined && secondsBetween(askedAt, now) < ASKED_RECENTLY_SECONDS) return false;
  return stayAt === undefined || reportedAt > stayAt;
}

/**
 * The questions once a plan has moved marks and stops to the ledger, without entries that prove nothing any more. Bindings stay as long as
 * their entries: a plan may be saved on questions that are newer than those which it was made on.
 */
export function foldQuestions(questions: Questions, now: Instant): Questions {
  const next = new Map<NodeId, Question>();
  let isSame = true;
  questions.forEach((question, id) => {
    const { draining: _moved, ...rest } = question;
    const last = Math.max(rest.askedAt ?? 0, rest.stayAt ?? 0);
    const isKept = last > 0 && (now - last) / 1000 < KEEP_SECONDS;
    isSame &&= isKept && question.draining === undefined;
    if (isKept) next.set(id, rest);
  });
  return isSame ? questions : next;
}

/** What a node's question carries, as far as it is remembered. */
export interface Asking {
  /** When it reached the host. */
  readonly arrivedAt: Instant;
  /** The node's own time; absent: an older script asks. */
  readonly asked?: number;
}

/** Whether a newer question of the node was told to stay: this one waited in front of a host, and the node may work again. */
export function isOvertaken(question: Question | undefined, { asked }: Asking, now: Instant): boolean {
  if (question?.asked === undefined || asked === undefined || question.stayAt === undefined) return false;
  return asked <= question.asked && secondsBetween(question.stayAt, now) < OLD_QUESTION_SECONDS;
}

/** Notes that a question has reached a host. */
export function noteAsked(question: Question | undefined, { arrivedAt }: Asking): Question {
  const askedAt =
    question?.askedAt === undefined || question.askedAt < arrivedAt ? arrivedAt : question.askedAt;
  return question !== undefined && askedAt === question.askedAt ? question : { ...question, askedAt };
}

/** Notes that a question has marked its node. */
export function noteMark(question: Question | undefined, asking: Asking, draining: Draining): Question {
  const { asked } = asking;
  return { ...noteAsked(question, asking), ...(asked === undefined ? {} : { markedAsked: asked }), draining };
}

/** Notes that the node is told to stay: its mark is gone, and no older question or report of it counts. */
export function noteStay(
  question: Question | undefined,
  asking: Asking,
  isMarked: boolean,
  now: Instant,
): Question | undefined {
  const told = question?.stayAt;
  const isRecent = told !== undefined && secondsBetween(told, now) < STAY_AGAIN_SECONDS;
  // A caller without a clock asks again and again: there is nothing to learn from most of its questions.
  if (asking.asked === undefined && !isMarked && isRecent) return question;
  const { draining: _mark, markedAsked: _marker, ...rest } = noteAsked(question, asking);
  return withStay(rest, asking.asked, now);
}

/** Notes that a call for the node was refused, as it did not carry the node's token. */
export function noteRefused(question: Question | undefined, asking: Asking, now: Instant): Question {
  return { ...noteAsked(question, asking), refusedAt: now };
}

/** Notes the token that the node's calls must carry from now on. */
export function noteBinding(question: Question | undefined, bound: NodeBinding): Question {
  return { ...question, bound };
}

/** Notes that the node calls itself unhealthy and stays; `held` undefined: it does not call itself so any more, or it goes. */
export function noteUnhealthy(
  question: Question | undefined,
  held: UnhealthyHold | undefined,
  now: Instant,
): Question | undefined {
  const known = question?.unhealthy;
  if (known?.held === held) return question;
  const { unhealthy: _before, ...rest } = question ?? {};
  return held === undefined ? rest : { ...rest, unhealthy: { since: known?.since ?? now, held } };
}
