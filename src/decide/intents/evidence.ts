import type { Instant } from "../../domain/units.ts";
import type { GrantedSet } from "../../domain/intent.ts";
import type { Ledger } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Questions } from "../../domain/questions.ts";
import type { NodeId, Owner } from "../../domain/ids.ts";

/** What is known about an intent after it was sent, or after CycleCloud was asked for its id. */
export type Evidence =
  /** CycleCloud accepted it. `sets`: its grants for the sets of a create. `keyId`: the key of the stop URL that was sent. */
  | { readonly kind: "accepted"; readonly sets: readonly GrantedSet[]; readonly keyId?: string }
  | {
      readonly kind: "terminated";
      readonly nodes: ReadonlyMap<NodeId, { readonly ok: boolean; readonly error?: string }>;
    }
  | {
      readonly kind: "started";
      readonly nodes: ReadonlyMap<NodeId, { readonly ok: boolean; readonly error?: string }>;
    }
  /** Certainly no effect, and the input is not the cause: our credentials were refused, or the time to send it was over. */
  | { readonly kind: "not-sent" }
  /** Certainly no effect, because CycleCloud refused it. */
  | { readonly kind: "refused"; readonly message: string }
  /** CycleCloud knows the id, so it took effect. `keyId`: the key of the stop URL, if no other instance sent the create. */
  | { readonly kind: "found"; readonly keyId?: string }
  /** CycleCloud lists these nodes under the id of a stop. It is accepted for them, and unknown for the others. */
  | { readonly kind: "named"; readonly nodes: ReadonlySet<NodeId> }
  /** Its owner has not sent the stop for these nodes and will not send it. */
  | { readonly kind: "withdrawn"; readonly nodes: ReadonlySet<NodeId> }
  /** CycleCloud does not know the id. `conflict`: the question followed a send that was answered with 409. */
  | (Asked & {
      readonly kind: "absent";
      readonly afterSend: "conflict" | "no-answer" | "none";
      readonly message?: string;
    })
  /** Sent, or maybe sent, and the outcome is unknown. `held`: for creates and starts. */
  | { readonly kind: "unclear"; readonly held?: Held };

/** A question about a request id. */
interface Asked {
  /** When the question began. */
  readonly askedAt: Instant;
  readonly held: Held;
}

/** What the asking instance knows about the sends of an intent that it holds. */
interface Held {
  /** The owner of the intent when the question began. A later owner may have sent it again. */
  readonly by: Owner;
  /** If CycleCloud does not know the id from this moment on, there was no effect: every send has arrived by then, and shows. */
  readonly certainFrom: Instant;
}

/** The state after intents were settled. */
export interface Settled {
  readonly record: ClusterRecord;
  readonly ledger: Ledger;
  /** Absent: none. */
  readonly questions?: Questions;
}
