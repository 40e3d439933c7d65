import type { Problem, RequestSetUpdate } from "../../domain/demand.ts";
import type { ClusterName, SetName } from "../../domain/ids.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import type { Fields } from "../../domain/fields.ts";

/** The context of a message. */
export interface MessageContext {
  readonly messageId: string;
  /** When the message was put into the queue. Absent: it is not known, and the moment counts that the message's own revision names, else now. */
  readonly insertedAt?: Instant;
  readonly now: Instant;
  /** From the cluster's policy. Longer intervals are cut to it. */
  readonly maxExpirationSeconds: Seconds;
  /** Absent: any cluster is accepted. */
  readonly knownClusters?: ReadonlySet<string>;
  readonly senderTime?: SenderTime;
}

/**
 * Converts a moment of ours to the senders' clocks: revisions are moments on theirs. Absent: no difference. They differ if our clock is
 * scaled.
 */
export type SenderTime = (at: Instant) => Instant;

/** The same for a request set sent over HTTP: the address names cluster and set. */
export interface RequestSetContext {
  readonly cluster: ClusterName;
  readonly set: SetName;
  readonly now: Instant;
  readonly maxExpirationSeconds: Seconds;
  readonly knownClusters?: ReadonlySet<string>;
  readonly senderTime?: SenderTime;
}

/** The result of reading a message of the queue. An update has the message too, decoded, in case it must be sent again. */
export type QueueMessageRead =
  | Exclude<MessageRead, { kind: "update" }>
  | (Extract<MessageRead, { kind: "update" }> & { readonly message: Fields });

/** The result of reading a message. */
export type MessageRead =
  | { readonly kind: "update"; readonly update: RequestSetUpdate }
  /** Asks only for a reconcile, not before `at`. */
  | { readonly kind: "wake"; readonly cluster: ClusterName; readonly at?: Instant; readonly id?: string }
  /** The message is valid, but its time is over: to be acknowledged and noted. */
  | {
      readonly kind: "stale";
      readonly cluster: ClusterName;
      readonly set: SetName;
      readonly expiredAt: Instant;
    }
  /** All problems of the message; `cluster` and `set` if they could be read. */
  | {
      readonly kind: "rejected";
      readonly cluster?: string;
      readonly set?: string;
      readonly problems: readonly Problem[];
      /** The message is too large. */
      readonly tooLarge?: true;
    };
