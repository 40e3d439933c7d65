import type { Instant } from "../../domain/units.ts";
import type { GrantedSet } from "../../domain/intent.ts";
import type { Ledger } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Questions } from "../../domain/questions.ts";
import type { NodeId, Owner } from "../../domain/ids.ts";

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

/** What the record becomes when intents are settled. */
export interface Settled {
  readonly record: ClusterRecord;
  readonly ledger: Ledger;
  /** Absent: none. */
  readonly questions?: Questions;
}
