import type { ClusterName } from "../../domain/ids.ts";
import type { Instant, Seconds } from "../../domain/units.ts";

/** The demand queue from our side: wake messages, and messages that were put aside. */
export interface DemandQueue {
  /**
   * Sends a message that only asks for a reconcile of the cluster, not before `at`. The app notes when one with an `id` comes through. The
   * id of a {@link WakeId} belongs to the loop: such a message is a tick if the record waits for it.
   */
  wake(cluster: ClusterName, at: Instant, id?: string): Promise<void>;
  /** Puts a message aside in `demand-rejected`. */
  reject(message: RejectedMessage): Promise<void>;
  /** The messages in `demand-rejected`: their number, and the oldest few. */
  rejected(): Promise<{ readonly count: number; readonly oldest: readonly RejectedMessage[] }>;
  /** The state of `demand-poison`, where the host puts messages that failed too often. */
  poison(): Promise<PoisonQueue>;
  /**
   * Up to `most` messages of `demand-poison`, oldest first. No other caller gets them for two minutes. After that, messages that are left
   * appear again.
   */
  takePoison(most: number): Promise<readonly PoisonMessage[]>;
  /** Removes a message of `demand-poison` that was taken. No error if it is gone. */
  dropPoison(message: PoisonMessage): Promise<void>;
  /** Puts a text back into the demand queue: a poison message to try once more, or one for a cluster that another release serves. */
  resend(text: string, delaySeconds: Seconds): Promise<void>;
}

interface PoisonQueue {
  /** Approximate number of messages, including those in work. */
  readonly count: number;
  /** When the oldest message that is not in work was put there, to the second. Absent: there is none. */
  readonly oldestAt?: Instant;
}

export interface PoisonMessage {
  /** The id of the host's copy. */
  readonly messageId: string;
  readonly text: string;
  /** How often it was taken, including this time. */
  readonly taken: number;
  /** The queue requires this to remove the message. */
  readonly receipt: string;
}

export interface RejectedMessage {
  readonly messageId: string;
  readonly rejectedAt: Instant;
  readonly cluster?: string;
  readonly set?: string;
  readonly problems: readonly {
    readonly path: string;
    readonly found: string;
    readonly expected: string;
    readonly didYouMean?: string;
  }[];
  /** The message as received, cut so that the total stays below the queue's 64 KiB. */
  readonly text: string;
}
