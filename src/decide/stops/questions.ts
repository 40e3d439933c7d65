import type { NodeId } from "../../domain/ids.ts";
import type { Question, Questions, UnhealthyHold } from "../../domain/questions.ts";
import type { Draining, Ledger, LedgerNode, NodeBinding } from "../../domain/ledger.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { sameData } from "../../domain/same-data.ts";
import { withStay } from "../../domain/questions.ts";

/** A node that asked within this time is stopped by its own question only (docs/protocol.md, Questions of nodes). */
const ASKED_RECENTLY_SECONDS: Seconds = 300;
/** No question waits longer than this before it reaches a host. After that an older question cannot be mistaken for a newer one. */
export const OLD_QUESTION_SECONDS: Seconds = 300;
/** The stay of a node that sends no time of its own is noted again after this time. */
const STAY_AGAIN_SECONDS: Seconds = 240;
/** An entry of this age has no effect any more: a report counts for two intervals at most, and a question for five minutes. */
const KEEP_SECONDS: Seconds = 600;

/** The ledger with the marks, accepted stops and bindings of the questions. The same object if they change nothing. */
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

function withQuestion(known: LedgerNode, { draining, stayAt, bound, clock }: Question): LedgerNode {
  const told = clock === undefined || sameData(known.clock, clock) ? known : { ...known, clock };
  const node = bound === undefined || isSameBinding(known.bound, bound) ? told : { ...told, bound };
  if (draining !== undefined) return node.draining === draining ? node : { ...node, draining };
  if (stayAt === undefined || node.draining === undefined || lastStep(node.draining) > stayAt) return node;
  return undrain(node, stayAt);
}

function isSameBinding(a: NodeBinding | undefined, b: NodeBinding): boolean {
  return a?.token === b.token && a.instanceId === b.instanceId;
}

/** When the stop was accepted, else when the node was marked. A stay after that ends the mark. */
function lastStep({ since, sentAt }: Draining): Instant {
  return sentAt ?? since;
}

/** The node without its mark. Its idle time starts again. */
export function undrain(node: LedgerNode, now: Instant): LedgerNode {
  const { draining: _gone, ...kept } = node;
  return { ...kept, busyness: { state: "unknown", since: now } };
}

/**
 * Whether a report may stop the node: the report is newer than the last time that the node was told to stay, and the node has not asked
 * for a while. A node that asks and gets no verdict takes work again, and a stop by report could hit it then.
 */
export function mayStopByReport(
  question: Question | undefined,
  reportedAt: Instant | undefined,
  now: Instant,
): boolean {
  if (question === undefined || reportedAt === undefined) return true;
  if (hasAskedRecently(question, now)) return false;
  const { stayAt } = question;
  return stayAt === undefined || reportedAt > stayAt;
}

/** Whether the node has asked within the last five minutes. Then it is up, whatever CycleCloud shows. */
export function hasAskedRecently(question: Question | undefined, now: Instant): boolean {
  const { askedAt } = question ?? {};
  return askedAt !== undefined && secondsBetween(askedAt, now) < ASKED_RECENTLY_SECONDS;
}

/**
 * The questions after a plan has moved their marks and stops to the ledger, without entries that have no effect any more. A binding stays
 * as long as its entry, because the plan may be saved together with newer questions than those that it was made with.
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

/** The times of a node's question. */
export interface Asking {
  /** When it reached the host. */
  readonly arrivedAt: Instant;
  /** The node's own time. Absent: an older script asks. */
  readonly asked?: number;
  /** `asked` is no time of our clock: on one machine ours may run faster. */
  readonly untimed?: true;
}

/** Whether a newer question of the node was answered with "stay" while this one waited for a host. The node may work again. */
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

/** Notes that the node is told to stay. This removes its mark, and older questions and reports do not count any more. */
export function noteStay(question: Question | undefined, asking: Asking, now: Instant): Question {
  const { draining: _mark, markedAsked: _marker, ...rest } = noteAsked(question, asking);
  return withStay(rest, asking.asked, now);
}

/** {@link noteStay} for a node without a mark. A caller that sends no time asks often, so most of its stays are not noted. */
export function noteStayUnmarked(
  question: Question | undefined,
  asking: Asking,
  now: Instant,
): Question | undefined {
  const { stayAt } = question ?? {};
  const isRecent = stayAt !== undefined && secondsBetween(stayAt, now) < STAY_AGAIN_SECONDS;
  return asking.asked === undefined && isRecent ? question : noteStay(question, asking, now);
}

/** Notes that a call for the node was refused because it did not carry the node's token. */
export function noteRefused(question: Question | undefined, asking: Asking, now: Instant): Question {
  return { ...noteAsked(question, asking), refusedAt: now };
}

/** Notes the token that the node's calls must carry from now on. */
export function noteBinding(question: Question | undefined, bound: NodeBinding): Question {
  return { ...question, bound };
}

/** Notes why a node that calls itself unhealthy stays. `held` undefined: it no longer calls itself unhealthy, or it is stopped. */
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
