import type { Policy } from "../domain/policy.ts";
import type { Bodies } from "../domain/bodies.ts";
import type { Ledger, LedgerNode } from "../domain/ledger.ts";
import type { ClusterRecord } from "../domain/record.ts";
import type { Instant, Seconds } from "../domain/units.ts";
import { secondsBetween } from "../domain/units.ts";
import { factOfNode } from "./nodes/planned-beside.ts";
import { maySpeak } from "./stops/node-token.ts";
import { isOvertaken } from "./stops/questions.ts";
import type { FinalVerdict, StopCall, StopDecision, StopVerdict } from "./stop-verdict.ts";
import type { Survey } from "./stop-objections.ts";
import {
  bindingsOf,
  isFreshMark,
  judgeRecord,
  judgeStop,
  mayStop,
  objectionTo,
  staying,
  surveyOf,
  unsettled,
} from "./stop-objections.ts";
import { spareNodes, without } from "./spare-nodes.ts";
import { noteVerdicts } from "./note-verdicts.ts";
import type { Recalls } from "./recalls.ts";
import { noRecalls } from "./recalls.ts";
import { lapseParts } from "./record/lapse.ts";

/** A question is too old to begin anything so long after it reached a host: the node has given up waiting, and may have opened. */
export const PATIENCE_SECONDS: Seconds = 20;
/** An instance that no observation shows is unknown only if an observation is not older than this: a node may be newer than the observation. */
const UNKNOWN_OBSERVATION_SECONDS: Seconds = 45;

/**
 * Answers all calls of one moment together, so that nodes which ask at once cannot all be let go when some are needed. Decides on the
 * last believed observation: cannot tell if that is older than two snapshot intervals. What a node is told is in `questions`: its mark, or that
 * it is to stay (docs/protocol.md, Questions of nodes). `recall` only spares work.
 */
export function judgeStops(
  record: ClusterRecord,
  bodies: Bodies,
  calls: readonly StopCall[],
  policy: Policy,
  now: Instant,
  recall: Recalls = noRecalls(),
): StopDecision {
  // Without what has run out since the last plan: both looks at demand must see the same.
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
  const free = spareNodes(current, bodies, { askers, unfit: sick }, policy, now, recall);
  const verdicts = first.map((verdict): StopVerdict => {
    if (verdict.kind !== "marked" || free.spare.has(verdict.node)) return verdict;
    if (sick.has(verdict.node)) return limited.get(verdict.node) ?? verdict;
    const unknown = free.unknown.get(verdict.node);
    if (unknown !== undefined) return unsettled(unknown);
    return { kind: "needed", why: free.why(verdict.node), undrain: !view.isForgetful };
  });
  return noteVerdicts(record, bodies, view, byInstance, calls, verdicts, now);
}

/** What can be said of a call without weighing it against the others. */
function judgeAlone(view: Survey, known: LedgerNode | undefined, call: StopCall, now: Instant): StopVerdict {
  if (known === undefined) return judgeUnknown(view, now);
  const mayOpen = (): boolean => !view.isForgetful && !mayStop(view, known, now);
  if (known.array !== call.array) return { kind: "forbidden", undrain: mayOpen() };
  const bound = view.bindings.get(known.nodeId)?.binding;
  if (!maySpeak(bound, call.token, factOfNode(view.facts, known, known), now))
    return { kind: "forbidden", undrain: mayOpen(), unbound: true };
  const settled = judgeStop(view, known, now) ?? judgeRecord(view, known, call.unhealthy, now);
  if (settled !== undefined) return settled;
  if (isOvertaken(view.questions.get(known.nodeId), call, now))
    return unsettled("a newer question of this node was answered");
  if (secondsBetween(call.arrivedAt, now) >= PATIENCE_SECONDS)
    return unsettled("the question waited too long here; ask again");
  const undrain = !view.isForgetful;
  const objection = objectionTo(view, known, call.unhealthy);
  if (objection !== undefined) return staying(objection, undrain);
  if (call.begin) return { kind: "marked", node: known.nodeId };
  // A question on another instance may be about to commit the stop that this one asks about.
  if (isFreshMark(known, now)) return unsettled("its stop is being decided; ask again");
  const limited = call.unhealthy ? view.limited([known.nodeId]).get(known.nodeId) : undefined;
  return limited ?? { kind: "cannot-tell", why: "no stop of this node is under way", undrain };
}

/** A node may be newer than the last observation: it is unknown once an observation has come that does not show it. */
function judgeUnknown({ isForgetful, blind: why, seenAt }: Survey, now: Instant): FinalVerdict {
  if (isForgetful) return unsettled("the record of this cluster is new; ask again");
  if (why !== undefined) return { kind: "not-seen-yet", why };
  if (seenAt === undefined || secondsBetween(seenAt, now) > UNKNOWN_OBSERVATION_SECONDS)
    return {
      kind: "not-seen-yet",
      why: "no node with this instance id is known yet: ask again after the next observation",
    };
  return { kind: "unknown-instance" };
}

/** The callers' nodes. A VM is known by its instance id, as the callback knows no other (cyclecloud-wire.md D.2). A live node wins over a gone one. */
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
