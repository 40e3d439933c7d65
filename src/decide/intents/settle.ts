import type { NodeId, Owner, RequestId } from "../../domain/ids.ts";
import type {
  ClusterRecord,
  GrantedSet,
  Intent,
  Ledger,
  NodeStart,
  StartEffect,
} from "../../domain/record.ts";
import type { Questions } from "../../domain/questions.ts";
import type { Instant } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import { backOff } from "./back-off.ts";
import { settleCreate } from "./settle-create.ts";
import { settleStop } from "./stops.ts";

const START_REST_SECONDS = 900;

/** What was learnt about an intent by sending it or by asking for its id. */
export type Evidence =
  /** What CycleCloud granted of each set of a create. `keyId`: the key of the stop URL that was sent with it. */
  | { readonly kind: "accepted"; readonly sets: readonly GrantedSet[]; readonly keyId?: string }
  | {
      readonly kind: "terminated";
      readonly nodes: ReadonlyMap<NodeId, { readonly ok: boolean; readonly error?: string }>;
    }
  | {
      readonly kind: "started";
      readonly nodes: ReadonlyMap<NodeId, { readonly ok: boolean; readonly error?: string }>;
    }
  /** Certainly no effect, and not because of the input: our credentials, or its time to be sent had passed. */
  | { readonly kind: "not-sent" }
  /** Certainly no effect: CycleCloud will not have it. */
  | { readonly kind: "refused"; readonly message: string }
  /** CycleCloud knows the id: it took effect. `keyId`: of a create that nobody else has sent, the key of the stop URL in it. */
  | { readonly kind: "found"; readonly keyId?: string }
  /** CycleCloud names these nodes under the id of a stop: it is accepted for them, and nothing is known of the others. */
  | { readonly kind: "named"; readonly nodes: ReadonlySet<NodeId> }
  /** Its owner has not sent the stop, and will not send it for these nodes. */
  | { readonly kind: "withdrawn"; readonly nodes: ReadonlySet<NodeId> }
  /** CycleCloud does not know the id, asked after a send with (`conflict`) or without an answer of 409, or without a send. */
  | (Asked & {
      readonly kind: "absent";
      readonly afterSend: "conflict" | "no-answer" | "none";
      readonly message?: string;
    })
  /** Sent, or maybe sent, and nothing could be learnt. `held`: of an effect that is a create or a start. */
  | { readonly kind: "unclear"; readonly held?: Held };

/** A question for a request's id. */
interface Asked {
  /** When the question began. */
  readonly askedAt: Instant;
  readonly held: Held;
}

/** What the asker knows of the sends of the intent, as long as it holds it. */
export interface Held {
  /** The intent's owner when it was asked for: once another has taken it over, that one may have sent it. */
  readonly by: Owner;
  /** "No" to a question that begins then or later is certain: by then each send has arrived, and what came of it shows. */
  readonly certainFrom: Instant;
}

export interface Settled {
  readonly record: ClusterRecord;
  readonly ledger: Ledger;
  /** Absent: none. */
  readonly questions?: Questions;
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
      return settleStop(state, intent, intent.effect, evidence, now);
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
  return { ...state, record, ledger };
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
    case "named":
    case "withdrawn":
      return { state: "unsure", since: now };
  }
}
