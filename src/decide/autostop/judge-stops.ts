import type { Policy } from "../../domain/policy.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { entryOfNode } from "../../domain/hosts.ts";
import { factThatCounts } from "../nodes/planned-beside.ts";
import { clockAfter, isHeldUp, noteVerdicts } from "./note-verdicts.ts";
import { maySpeak, bindingsOf, surveyOf } from "./stop-survey.ts";
import { isOvertaken } from "../stops/questions.ts";
import type { FinalVerdict, StopCall, StopDecision, StopVerdict, Survey } from "./stop-survey.ts";
import {
  hasFreshMark,
  judgeRecord,
  judgeRestart,
  judgeStop,
  judgeWait,
  mayStop,
  objectionTo,
  staying,
  undecided,
} from "./stop-objections.ts";
import { spareNodes, without } from "./spare-nodes.ts";
import { lapseParts } from "../record/lapse.ts";

/** An instance that the last observation does not show counts as unknown only if that observation is not older than this. */
const UNKNOWN_OBSERVATION_SECONDS: Seconds = 45;

/**
 * Answers all calls of one moment together: of nodes that ask at the same time, enough must stay. Decides on the last believed observation.
 * If it is too old (`outageSeconds`), the verdict is "cannot-tell". The answers are noted in `questions`: a mark, or that the node stays
 * (docs/protocol.md, Questions of nodes).
 */
export function judgeStops(
  record: ClusterRecord,
  bodies: Bodies,
  calls: readonly StopCall[],
  policy: Policy,
  now: Instant,
): StopDecision {
  // As in a plan: sets that have lapsed since the last one do not count.
  const current = lapseParts(record, now, policy.maxExpirationSeconds);
  const byInstance = indexByInstance(bodies.ledger, calls);
  const asked = new Set([...byInstance.values()].map(({ nodeId }) => nodeId));
  const view = surveyOf(current, bodies, asked, policy, now, bindingsOf(calls, byInstance));
  const first = calls.map((call) => judgeAlone(view, byInstance.get(call.instance), call, now));
  const marks = first.flatMap((verdict) => (verdict.kind === "marked" ? [verdict.node] : []));
  const sick = new Set(
    first.flatMap((verdict, index) =>
      verdict.kind === "marked" && calls[index]?.unhealthy === true ? [verdict.node] : [],
    ),
  );
  const limited = view.limited(sick);
  const askers = without(new Set(marks), sick);
  const free = spareNodes(current, bodies, { askers, unfit: sick }, policy, now);
  const verdicts = first.map((verdict, index): StopVerdict => {
    if (verdict.kind !== "marked") return verdict;
    const mark = calls[index]?.unsendable === true ? ASK_ANOTHER : verdict;
    if (free.spare.has(verdict.node)) return mark;
    if (sick.has(verdict.node)) return limited.get(verdict.node) ?? mark;
    const unknown = free.unknown.get(verdict.node);
    if (unknown !== undefined) return undecided(unknown);
    return { kind: "needed", why: free.why(verdict.node), undrain: !view.isForgetful };
  });
  return { ...noteVerdicts(record, bodies, view, byInstance, calls, verdicts, now), up: askers };
}

/** The stop of the node is not marked where it cannot be sent: it would be open until it counts as lost. */
const ASK_ANOTHER = undecided("this instance does not reach CycleCloud just now; ask again");

/** The verdict on a call by itself, before it is known which nodes the demand needs. */
function judgeAlone(view: Survey, known: LedgerNode | undefined, call: StopCall, now: Instant): StopVerdict {
  if (known === undefined) return judgeUnknown(view, now);
  const mayOpen = (): boolean => !view.isForgetful && !mayStop(view, known, now);
  if (known.array !== call.array) return { kind: "forbidden", undrain: mayOpen() };
  const bound = view.bindings.get(known.nodeId)?.binding;
  if (!maySpeak(bound, call.token, factThatCounts(entryOfNode(view.facts, known), known), now))
    return { kind: "forbidden", undrain: mayOpen(), unbound: true };
  const stopping = judgeStop(view, known, now) ?? judgeRecord(view, known, call, now);
  if (stopping !== undefined) return stopping;
  if (isOvertaken(view.questions.get(known.nodeId), call, now))
    return undecided("a newer question of this node was answered");
  const clock = clockAfter(view.questions.get(known.nodeId)?.clock ?? known.clock, call);
  if (call.begin && isHeldUp(clock, call))
    return undecided("the question was too long on its way; ask again");
  const late = judgeWait(call, now) ?? judgeRestart(known, call, now);
  if (late !== undefined) return late;
  const objection = objectionTo(view, known, call);
  if (objection !== undefined) return staying(view, objection);
  if (call.begin) return { kind: "marked", node: known.nodeId };
  // Another instance may be about to commit the stop that this question asks about.
  if (hasFreshMark(known, now)) return undecided("its stop is being decided; ask again");
  const limited = call.unhealthy ? view.limited([known.nodeId]).get(known.nodeId) : undefined;
  return (
    limited ?? { kind: "cannot-tell", why: "no stop of this node is under way", undrain: !view.isForgetful }
  );
}

/** The verdict on an instance that the ledger does not know. It may be newer than the last observation. */
function judgeUnknown({ isForgetful, blind: why, seenAt }: Survey, now: Instant): FinalVerdict {
  if (isForgetful) return undecided("the record of this cluster is new; ask again");
  if (why !== undefined) return { kind: "not-seen-yet", why };
  if (seenAt === undefined || secondsBetween(seenAt, now) > UNKNOWN_OBSERVATION_SECONDS)
    return {
      kind: "not-seen-yet",
      why: "no node with this instance id is known yet: ask again after the next observation",
    };
  return { kind: "unknown-instance" };
}

/** The callers' nodes by instance id, the only id that the callback sends (cyclecloud-wire.md D.2). A live node wins over a gone one. */
function indexByInstance(ledger: Ledger, calls: readonly StopCall[]): ReadonlyMap<string, LedgerNode> {
  const asked = new Set(calls.map(({ instance }) => instance));
  const index = new Map<string, LedgerNode>();
  for (const node of ledger.values()) {
    if (node.instanceId === undefined || !asked.has(node.instanceId)) continue;
    if (node.goneAt !== undefined && index.has(node.instanceId)) continue;
    index.set(node.instanceId, node);
  }
  return index;
}
