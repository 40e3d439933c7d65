import type { Instant, Milliseconds, Seconds } from "../../domain/units.ts";
import type { Draining, LedgerNode, NodeBinding, NodeClock } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Question, UnhealthyHold } from "../../domain/questions.ts";
import { NO_QUESTIONS } from "../../domain/questions.ts";
import type { Bodies } from "../../domain/bodies.ts";
import {
  noteAsked,
  noteBinding,
  noteMark,
  noteRefused,
  noteStay,
  noteStayUnmarked,
  noteUnhealthy,
} from "../stops/questions.ts";
import type { StopCall, StopDecision, StopVerdict, Survey } from "./stop-survey.ts";
import { secondsBetween } from "../../domain/units.ts";
import type { Asking } from "../stops/questions.ts";

/**
 * Notes the answers to the nodes. A node that is told to stay takes work again, so the mark of its earlier call must go: another instance
 * that has set it and stood still would stop the node, which may be busy by then.
 */
export function noteVerdicts(
  record: ClusterRecord,
  { ledger, questions: before = NO_QUESTIONS }: Bodies,
  { bindings }: Pick<Survey, "bindings">,
  byInstance: ReadonlyMap<string, LedgerNode>,
  calls: readonly StopCall[],
  verdicts: readonly StopVerdict[],
  now: Instant,
): Omit<StopDecision, "up"> {
  const plan = record.plan + 1;
  const next = new Map(before);
  let isPlanned = false;
  calls.forEach((call, index) => {
    const id = byInstance.get(call.instance)?.nodeId;
    const verdict = verdicts[index];
    if (id === undefined || verdict === undefined || verdict.kind === "stopping") return;
    const known = ledger.get(id);
    const isMarked = known?.draining !== undefined;
    if (verdict.kind === "marked") {
      const by = call.unhealthy ? "unhealthy" : "callback";
      const draining: Draining = { since: now, by, plan, attempts: known?.draining?.attempts ?? 0 };
      next.set(id, noteMark(next.get(id), call, draining));
      isPlanned = true;
    } else if (isStay(verdict)) {
      const stay = isMarked ? noteStay(next.get(id), call, now) : noteStayUnmarked(next.get(id), call, now);
      if (stay !== undefined) next.set(id, stay);
      isPlanned ||= isMarked;
    } else if (isRefused(verdict)) next.set(id, noteRefused(next.get(id), call, now));
    else next.set(id, noteAsked(next.get(id), call));
    if (verdict.kind === "forbidden") return;
    const said = noteCaller(next.get(id), call, verdict, bindings.get(id), now);
    const heard = noteClock(said, known, call);
    if (heard !== undefined) next.set(id, heard);
  });
  const isSame =
    next.size === before.size && [...next].every(([id, question]) => before.get(id) === question);
  // A mark or its removal is a decision, so it gets a plan number: decisions that were made on the record before it cannot be saved.
  return {
    verdicts,
    record: isPlanned ? { ...record, plan } : record,
    questions: isSame ? before : next,
  };
}

/** Notes what the question says of the node's clock. */
function noteClock(
  question: Question | undefined,
  known: LedgerNode | undefined,
  call: StopCall,
): Question | undefined {
  const before = question?.clock ?? known?.clock;
  const clock = clockAfter(before, call);
  return clock === undefined || clock === before ? question : { ...question, clock };
}

/** Notes what else an accepted call says: whether the node calls itself unhealthy, and its token if this is the first. */
function noteCaller(
  question: Question | undefined,
  { unhealthy }: StopCall,
  verdict: StopVerdict,
  bound: { readonly binding: NodeBinding; readonly isNew: boolean } | undefined,
  now: Instant,
): Question | undefined {
  // Without a verdict, what was noted before stays.
  const isKept = unhealthy && verdict.kind === "cannot-tell";
  const said = isKept ? question : noteUnhealthy(question, heldOf(verdict), now);
  return bound?.isNew === true ? noteBinding(said, bound.binding) : said;
}

/** Whether the verdict ends the question without a stop: the node may take work again, or it is unhealthy and must wait. */
export function isStay(verdict: StopVerdict): boolean {
  if (heldOf(verdict) !== undefined) return true;
  return "undrain" in verdict && verdict.undrain && verdict.kind !== "forbidden";
}

/** Why a node that calls itself unhealthy must stay. Undefined if it does not. */
export function heldOf(verdict: StopVerdict): UnhealthyHold | undefined {
  return verdict.kind === "needed" ? verdict.held : undefined;
}

function isRefused(verdict: StopVerdict): boolean {
  return verdict.kind === "forbidden" && verdict.unbound === true;
}

// How long a question was on its way, by the node's own clock (docs/protocol.md, Questions of nodes). A question may wait in front of a
// host that starts or stands still. Its node has given up by then, and may have opened.

/** Two questions that arrived this far apart did not wait in the same place. */
const APART_SECONDS: Seconds = 30;
/** Questions with differences this close were not held up. */
const AGREE_MS: Milliseconds = 20_000;
/** A smaller change of a known difference is not noted, because each note is a write. */
const DRIFT_MS: Milliseconds = 5_000;
/** `asked` need only rise. Only within a day of our time it is a time. */
const DAY_MS: Milliseconds = 86_400_000;

/** As many questions in a row, within {@link DRIFT_MS}, prove that the clock is behind, or was set back: that none of them waited. */
const PROVE_BEHIND = 4;

/** What is known of a node's clock after a question. The same object if nothing new is. */
export function clockAfter(clock: NodeClock | undefined, asking: Asking): NodeClock | undefined {
  const { arrivedAt } = asking;
  const behindMs = differenceOf(asking);
  if (behindMs === undefined) return clock;
  if (clock === undefined) return { arrivedAt, behindMs };
  // A wait only adds to the difference, so the smallest one is the nearest to the clock's. Until four prove it, no clock is behind.
  const { leastMs: before = Math.min(0, clock.behindMs) } = clock;
  const leastMs = behindMs < before - DRIFT_MS ? behindMs : before;
  const next = compare(clock, { arrivedAt, behindMs, leastMs });
  if (next === clock && leastMs === before) return clock;
  const { knownMs, ...rest } = next === clock ? { ...clock, leastMs } : next;
  const isProved = knownMs !== undefined && knownMs <= (rest.leastMs ?? leastMs) + AGREE_MS;
  return { ...rest, ...(isProved ? { knownMs } : {}) };
}

/** What two questions in a row say. */
function compare(
  clock: NodeClock,
  said: Required<Pick<NodeClock, "arrivedAt" | "behindMs" | "leastMs">>,
): NodeClock {
  const { arrivedAt, behindMs, leastMs } = said;
  if (secondsBetween(clock.arrivedAt, arrivedAt) < APART_SECONDS) return clock;
  const known = clock.knownMs === undefined ? {} : { knownMs: clock.knownMs };
  const differMs = Math.abs(behindMs - clock.behindMs);
  if (differMs > AGREE_MS) return { ...said, ...known };
  if (behindMs > leastMs + AGREE_MS) {
    const agreed = differMs > DRIFT_MS ? 1 : (clock.agreed ?? 1) + 1;
    if (agreed < PROVE_BEHIND) return { ...said, ...known, agreed };
    return { arrivedAt, behindMs, knownMs: behindMs, leastMs: behindMs };
  }
  const isSame = clock.knownMs !== undefined && Math.abs(behindMs - clock.knownMs) <= DRIFT_MS;
  return isSame ? clock : { ...said, knownMs: behindMs };
}

/**
 * Whether a question was too long on its way to begin a stop, or may have been: its node's clock has been set. `clock`: what is known after it.
 */
export function isHeldUp(clock: NodeClock | undefined, asking: Asking): boolean {
  const behindMs = differenceOf(asking);
  if (behindMs === undefined) return false;
  // Until more is known of it, a clock that is right is believed.
  const { knownMs = 0 } = clock ?? {};
  return Math.abs(behindMs - knownMs) > AGREE_MS;
}

function differenceOf({ arrivedAt, asked, untimed }: Asking): Milliseconds | undefined {
  if (asked === undefined || untimed === true || Math.abs(arrivedAt - asked) > DAY_MS) return undefined;
  return arrivedAt - asked;
}
