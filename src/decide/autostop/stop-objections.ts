import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import type { Asking } from "../stops/questions.ts";
import { OLD_QUESTION_SECONDS } from "../stops/questions.ts";
import type { LedgerNode } from "../../domain/ledger.ts";
import type { UnhealthyHold } from "../../domain/questions.ts";
import { actsOn } from "../../domain/mode.ts";
import { entryOfNode } from "../../domain/hosts.ts";
import { isOurs, ownershipText } from "../../domain/exclusive.ts";
import type { FinalVerdict, Stay, StopCall, Survey } from "./stop-survey.ts";
import { isRecordDoubted } from "../../domain/node-standing.ts";
import { flawShown, isFreshMark, isStopFresh } from "../nodes/standing.ts";
import { NEEDED_BY } from "./spare-nodes.ts";

/** A question older than this begins no stop: the node has given up waiting, and may have taken work again. */
export const PATIENCE_SECONDS: Seconds = 20;
/** A node that no observation shows for this long is certainly gone. */
const GONE_SECONDS: Seconds = 60;

/** Not decided yet: the node asks again, and does not take work meanwhile. */
export function undecided(why: string): Stay {
  return { kind: "cannot-tell", why, undrain: false };
}

/** The stop of the node is committed, and its outcome is not known. */
export const STOP_UNDER_WAY: Stay & { readonly kind: "cannot-tell" } = {
  kind: "cannot-tell",
  why: "its stop is under way; ask again",
  undrain: false,
  underWay: true,
};

/** The verdict on a node that is being stopped, or may be. Undefined if no stop of it can be under way. */
export function judgeStop(view: Survey, known: LedgerNode, now: Instant): FinalVerdict | undefined {
  const { draining, goneAt } = known;
  const isAsked = draining?.sentAt !== undefined;
  if (goneAt !== undefined)
    return isAsked || secondsBetween(goneAt, now) >= GONE_SECONDS
      ? { kind: "stopping" }
      : undecided("the last observation does not show the node");
  if (isStopFresh(known, { ...view, at: view.seenAt ?? now })) return { kind: "stopping" };
  const node = view.nodes.get(known.nodeId);
  if (node?.phase === "going" || node?.phase === "off") return { kind: "stopping" };
  // We had it deallocated, so the question is late, or the node was just started.
  if (node?.phase === "deallocated" && known.kept?.by !== undefined)
    return undecided("CycleCloud shows the node as deallocated");
  return view.stopping.has(known.nodeId) ? STOP_UNDER_WAY : undefined;
}

/**
 * The verdict on a node of which it is in doubt whether it exists, or is wanted (docs/protocol.md, Doubt). Undefined if there is no doubt, or
 * if the node is unhealthy and only its being wanted is in doubt.
 */
export function judgeRecord(
  { nodes, policy }: Survey,
  known: LedgerNode,
  { unhealthy }: Pick<StopCall, "unhealthy">,
  now: Instant,
): FinalVerdict | undefined {
  const node = nodes.get(known.nodeId);
  if (node?.missing !== undefined) return undecided("the last observation does not show the node");
  if (unhealthy || node === undefined) return undefined;
  if (!isRecordDoubted(flawShown(node, known, policy, now), now)) return undefined;
  return undecided("CycleCloud's record of the node does not say whether it is wanted");
}

/** The verdict on a question that waited too long for an answer. Undefined if it did not. */
export function judgeWait({ arrivedAt }: Pick<Asking, "arrivedAt">, now: Instant): FinalVerdict | undefined {
  return secondsBetween(arrivedAt, now) >= PATIENCE_SECONDS
    ? undecided("the question waited too long here; ask again")
    : undefined;
}

/**
 * The verdict on a question without a time, from a node that we had deallocated and that was started lately: it may be from before, and the
 * node may have a job by now. Undefined if it cannot be.
 */
export function judgeRestart(
  { start }: LedgerNode,
  { asked, untimed }: Asking,
  now: Instant,
): FinalVerdict | undefined {
  const isTimed = asked !== undefined && untimed !== true;
  if (isTimed || start?.stopped !== true || secondsBetween(start.since, now) >= OLD_QUESTION_SECONDS)
    return undefined;
  return undecided("the question may be from before the node was started; ask again");
}

/** Whether a stop of the node may take effect, now or later. */
export function mayStop(view: Survey, known: LedgerNode, now: Instant): boolean {
  return judgeStop(view, known, now) !== undefined || hasFreshMark(known, now);
}

/** The node was marked by a question that may still lead to its stop. */
export function hasFreshMark({ draining }: LedgerNode, now: Instant): boolean {
  return draining !== undefined && isFreshMark(draining, now);
}

/** Why a node must not be stopped. `held`: the node calls itself unhealthy. */
type Objection =
  | { readonly kind: "cannot-tell"; readonly why: string }
  | { readonly kind: "needed"; readonly why: string; readonly held?: UnhealthyHold };

/** The verdict for an objection. A node that calls itself unhealthy is never told to take work again. */
export function staying({ isForgetful }: Pick<Survey, "isForgetful">, objection: Objection): Stay {
  const isHeld = objection.kind === "needed" && objection.held !== undefined;
  return { ...objection, undrain: !isForgetful && !isHeld };
}

/**
 * Why a node must not be stopped, whatever the demand is. A node that calls itself unhealthy needs no fresh observation and no idle time. But
 * it stays while a job is on it, because every node of its array knows the stop URL and could have sent the call.
 */
export function objectionTo(
  view: Survey,
  known: LedgerNode,
  { unhealthy }: Pick<StopCall, "unhealthy">,
): Objection | undefined {
  const node = view.nodes.get(known.nodeId);
  if (node?.keepAlive === true) return { kind: "needed", why: "KeepAlive is set" };
  if (!actsOn(view.policy, known.array)) return { kind: "needed", why: "observe mode" };
  // Without its array it is not known whether the node is ours, and what it is needed for.
  if (view.listed?.has(known.array) === false)
    return { kind: "cannot-tell", why: `the last observation did not show node array "${known.array}"` };
  if (view.managed?.has(known.array) === false) {
    return { kind: "needed", why: `node array "${known.array}" is not autoscaled` };
  }
  if (!isOurs(known, view.policy)) return { kind: "needed", why: ownershipText(known, view.policy) };
  const fact = entryOfNode(view.facts, node ?? known);
  if (fact?.keep !== undefined) return { kind: "needed", why: `its scheduler keeps it: ${fact.keep}` };
  const job = fact?.jobs[0];
  const busy = job === undefined ? undefined : { kind: "needed" as const, why: `job ${job} is on it` };
  if (unhealthy) return busy === undefined ? undefined : { ...busy, held: "job" };
  const unsure = view.blind ?? view.resting;
  if (unsure !== undefined) return { kind: "cannot-tell", why: unsure };
  return busy ?? (fact?.hasAmounts === true ? plannedThere(known) : undefined);
}

/** The objection for a node on which a job of another set may run that no report names (nodes/planned-beside.ts). */
function plannedThere({ plannedBeside }: LedgerNode): Objection | undefined {
  const [first] = plannedBeside ?? [];
  return first === undefined
    ? undefined
    : { kind: "needed", why: `${NEEDED_BY}${first.set}/${first.demand}, which was planned there` };
}

/** Whether the node is marked because it called itself unhealthy. */
export function isUnhealthy(known: LedgerNode | undefined): boolean {
  return known?.draining?.by === "unhealthy";
}
