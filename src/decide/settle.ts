import type { NodeId, RequestId } from "../domain/ids.ts";
import type {
  ClusterRecord,
  Draining,
  GrantedSet,
  Intent,
  Ledger,
  LedgerNode,
  NodeStart,
  StartEffect,
  TerminateEffect,
} from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import { plusSeconds } from "../domain/units.ts";
import { backOff } from "./back-off.ts";
import { settleCreate } from "./settle-create.ts";

const START_REST_SECONDS = 900;

/** What was learnt about an intent by sending it or by asking for its id. */
export type Evidence =
  /** What CycleCloud granted of each set of a create. */
  | { readonly kind: "accepted"; readonly sets: readonly GrantedSet[] }
  | {
      readonly kind: "terminated";
      readonly nodes: ReadonlyMap<NodeId, { readonly ok: boolean; readonly error?: string }>;
    }
  | {
      readonly kind: "started";
      readonly nodes: ReadonlyMap<NodeId, { readonly ok: boolean; readonly error?: string }>;
    }
  /** Certainly no effect, and not because of the input: our credentials, or (`late`) its time to be sent had passed. */
  | { readonly kind: "not-sent"; readonly late?: true }
  /** Certainly no effect: CycleCloud will not have it. */
  | { readonly kind: "refused"; readonly message: string }
  /** CycleCloud knows the id: it took effect. */
  | { readonly kind: "found" }
  /** CycleCloud does not know the id, asked after a send with (`conflict`) or without an answer of 409, or without a send. */
  | (Asked & {
      readonly kind: "absent";
      readonly afterSend: "conflict" | "no-answer" | "none";
      readonly message?: string;
    })
  /** Sent, or maybe sent, and nothing could be learnt. `certainFrom`: see {@link Asked}; absent: of an effect that is no create. */
  | { readonly kind: "unclear"; readonly certainFrom?: Instant };

/** A question for a request's id. */
interface Asked {
  /** When the question began. */
  readonly askedAt: Instant;
  /** "No" to a question that begins then or later is certain: by then each send has arrived, and what came of it shows. */
  readonly certainFrom: Instant;
}

export interface Settled {
  readonly record: ClusterRecord;
  readonly ledger: Ledger;
}

/** Applies what was learnt about one intent. Learning the same again changes nothing: an intent that is gone stays gone. */
export function settle(state: Settled, id: RequestId, evidence: Evidence, now: Instant): Settled {
  const intent = state.record.intents.find((candidate) => candidate.id === id);
  if (intent === undefined) return state;
  switch (intent.effect.kind) {
    case "create":
      return { ...state, record: settleCreate(state.record, intent, intent.effect, evidence, now) };
    case "start":
      return settleStart(state, intent, intent.effect, evidence, now);
    case "terminate":
      return settleTerminate(state, intent, intent.effect, evidence, now);
  }
}

/** Nor is a start replayed: what was learnt is noted with its nodes, and a look shows what became of them (starts.ts says why). */
function settleStart(
  state: Settled,
  intent: Intent,
  effect: StartEffect,
  evidence: Evidence,
  now: Instant,
): Settled {
  let record: ClusterRecord = {
    ...state.record,
    intents: state.record.intents.filter((other) => other !== intent),
  };
  const ledger = new Map(state.ledger);
  for (const id of effect.nodes) {
    const node = ledger.get(id);
    // A look that shows the node on its way up may come before the answer. It knows more, and the boot timeout counts from it.
    if (node === undefined || node.start?.state === "shown") continue;
    const start = afterStart(id, evidence, now);
    const { start: _before, ...rest } = node;
    ledger.set(
      id,
      start === undefined ? rest : { ...rest, start: { ...start, plannedAt: intent.committedAt } },
    );
    if (start?.state === "refused")
      record = backOff(record, effect.bucket, "refused", `${node.name}: ${start.message}`, now);
  }
  return { record, ledger };
}

/** A start that came to nothing: a broken node is not tried again at once, or it would keep its bucket paused for ever. */
export function cameToNothing(message: string, now: Instant, seconds = START_REST_SECONDS): NodeStart {
  return { state: "refused", since: now, until: plusSeconds(now, seconds), message };
}

/** undefined: certainly no effect and nobody's refusal, so that it may be decided again at once. */
function afterStart(id: NodeId, evidence: Evidence, now: Instant): NodeStart | undefined {
  switch (evidence.kind) {
    case "started": {
      const answer = evidence.nodes.get(id);
      if (answer?.ok === true) return { state: "accepted", since: now };
      // Not matched: it is not there any more, or cannot be started (cyclecloud-wire.md A.7).
      const message =
        answer === undefined ? "CycleCloud's answer to its start does not list it" : answer.error;
      return cameToNothing(message ?? "CycleCloud refused to start it", now);
    }
    case "refused":
      return cameToNothing(evidence.message, now);
    case "found":
      return { state: "accepted", since: now };
    case "not-sent":
      return undefined;
    case "absent": {
      if (evidence.afterSend === "none") return undefined;
      const { message } = evidence;
      return { state: "unsure", since: now, ...(message === undefined ? {} : { message }) };
    }
    case "unclear":
    case "accepted":
    case "terminated":
      return { state: "unsure", since: now };
  }
}

/** A terminate is never replayed: whatever was learnt, the intent is gone, and the next decision is a new one. */
function settleTerminate(
  state: Settled,
  intent: Intent,
  effect: TerminateEffect,
  evidence: Evidence,
  now: Instant,
): Settled {
  const record = { ...state.record, intents: state.record.intents.filter((other) => other !== intent) };
  const ledger = new Map(state.ledger);
  for (const id of effect.nodes) {
    const node = ledger.get(id);
    if (node?.draining !== undefined) ledger.set(id, afterTerminate(node, node.draining, evidence, now));
  }
  return { record, ledger };
}

function afterTerminate(node: LedgerNode, draining: Draining, evidence: Evidence, now: Instant): LedgerNode {
  const sent: LedgerNode = {
    ...node,
    draining: { ...draining, attempts: draining.attempts + 1, sentAt: now },
  };
  switch (evidence.kind) {
    case "terminated":
      // A node that is not listed did not exist (cyclecloud-wire.md A.7): the next look shows it.
      return evidence.nodes.get(node.nodeId)?.ok === false ? undrain(node, now) : sent;
    case "refused":
    case "not-sent":
      return undrain(node, now);
    case "accepted":
    case "started":
    case "found":
    case "absent":
    case "unclear":
      return sent;
  }
}

/** Takes a node out of draining; its idle clock starts anew. */
export function undrain(node: LedgerNode, now: Instant): LedgerNode {
  const { draining: _gone, ...kept } = node;
  return { ...kept, busyness: { state: "unknown", since: now } };
}
