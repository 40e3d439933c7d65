import type { Instant } from "../domain/units.ts";
import type { Draining, LedgerNode, NodeBinding } from "../domain/ledger.ts";
import type { ClusterRecord } from "../domain/record.ts";
import type { Question, UnhealthyHold } from "../domain/questions.ts";
import { NO_QUESTIONS } from "../domain/questions.ts";
import type { Bodies } from "../domain/bodies.ts";
import { noteAsked, noteBinding, noteMark, noteRefused, noteStay, noteUnhealthy } from "./stops/questions.ts";
import type { StopCall, StopDecision, StopVerdict } from "./stop-verdict.ts";
import type { Survey } from "./stop-objections.ts";

/**
 * Notes what the nodes are told. A node that is told to stay takes work again, so no mark of an earlier call of its own may be left: one
 * that is still under way on another instance, or that a crash has cut short, would stop a busy node, or have another created in its place.
 */
export function noteVerdicts(
  record: ClusterRecord,
  { ledger, questions: before = NO_QUESTIONS }: Bodies,
  { bindings }: Pick<Survey, "bindings">,
  byInstance: ReadonlyMap<string, LedgerNode>,
  calls: readonly StopCall[],
  verdicts: readonly StopVerdict[],
  now: Instant,
): StopDecision {
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
      const stay = noteStay(next.get(id), call, isMarked, now);
      if (stay !== undefined) next.set(id, stay);
      isPlanned ||= isMarked;
    } else if (isRefused(verdict)) next.set(id, noteRefused(next.get(id), call, now));
    else next.set(id, noteAsked(next.get(id), call));
    if (verdict.kind === "forbidden") return;
    const said = noteCaller(next.get(id), call, verdict, bindings.get(id), now);
    if (said !== undefined) next.set(id, said);
  });
  const isSame =
    next.size === before.size && [...next].every(([id, question]) => before.get(id) === question);
  // Marks and their removal are decisions: nobody may go on with one that was made before.
  return {
    verdicts,
    record: isPlanned ? { ...record, plan } : record,
    questions: isSame ? before : next,
  };
}

/** What an accepted call says of its node besides: its token, if this is the first, and whether it calls itself unhealthy. */
function noteCaller(
  question: Question | undefined,
  { unhealthy }: StopCall,
  verdict: StopVerdict,
  bound: { readonly binding: NodeBinding; readonly isNew: boolean } | undefined,
  now: Instant,
): Question | undefined {
  // Where nobody can tell just now, it is as unhealthy as before.
  const isKept = unhealthy && verdict.kind === "cannot-tell";
  const said = isKept ? question : noteUnhealthy(question, heldOf(verdict), now);
  return bound?.isNew === true ? noteBinding(said, bound.binding) : said;
}

/** The node may work again once it hears this; or no stop of it is to come of its question, as it stays although it calls itself unhealthy. */
export function isStay(verdict: StopVerdict): boolean {
  if (heldOf(verdict) !== undefined) return true;
  return "undrain" in verdict && verdict.undrain && verdict.kind !== "forbidden";
}

export function heldOf(verdict: StopVerdict): UnhealthyHold | undefined {
  return verdict.kind === "needed" ? verdict.held : undefined;
}

function isRefused(verdict: StopVerdict): boolean {
  return verdict.kind === "forbidden" && verdict.unbound === true;
}
