import type { Clock } from "../../app/ports/ports.ts";
import type { DemandQueue, RejectedMessage, PoisonMessage } from "../../app/ports/demand-queue.ts";
import type { ClusterName } from "../../domain/ids.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** An item of the queue: a wake message, or a text that was put back. Not delivered before `at`. */
type QueuedItem =
  | { readonly kind: "wake"; readonly cluster: ClusterName; readonly at: Instant; readonly id?: string }
  | { readonly kind: "text"; readonly text: string; readonly at: Instant };

/** A demand queue in memory. It delivers nothing by itself: the driver of the run drains it. */
export interface MemoryDemandQueue extends DemandQueue, MemoryPoisonQueue {
  /** Takes out everything in the order of arrival. */
  drain(): readonly QueuedItem[];
}

/** Maximum number of rejected messages that `rejected` shows, as with the storage queue. */
const SHOWN = 32;

/** Makes an empty queue. Delays are counted on the clock. */
export function memoryDemandQueue(clock: Pick<Clock, "now">): MemoryDemandQueue {
  let waiting: QueuedItem[] = [];
  const rejected: RejectedMessage[] = [];
  return {
    async wake(cluster, at, id) {
      waiting.push({ kind: "wake", cluster, at, ...withoutAbsent({ id }) });
    },
    async reject(message) {
      rejected.push(message);
    },
    async resend(text, delaySeconds) {
      waiting.push({ kind: "text", text, at: plusSeconds(clock.now(), delaySeconds) });
    },
    drain() {
      const items = waiting;
      waiting = [];
      return items;
    },
    ...memoryPoisonQueue(clock),
    rejected: () => Promise.resolve({ count: rejected.length, oldest: rejected.slice(0, SHOWN) }),
  };
}

/** The part of the demand queue about `demand-poison`, in memory. */
interface MemoryPoisonQueue extends Pick<DemandQueue, "poison" | "takePoison" | "dropPoison"> {
  /** Puts a text into `demand-poison`, as the host does after the last failure. Returns its message id. */
  addPoison(text: string): string;
}

interface Poisoned extends Omit<PoisonMessage, "receipt"> {
  readonly insertedAt: Instant;
  /** Absent: it was never taken. */
  readonly hiddenUntil?: Instant;
}

/** As with the storage queue. */
const TAKEN_SECONDS: Seconds = 120;

/** Makes an empty queue. */
function memoryPoisonQueue(clock: Pick<Clock, "now">): MemoryPoisonQueue {
  let poison: readonly Poisoned[] = [];
  let poisoned = 0;
  return {
    addPoison(text) {
      poisoned += 1;
      const messageId = `poison-${poisoned}`;
      poison = [...poison, { messageId, text, insertedAt: clock.now(), taken: 0 }];
      return messageId;
    },
    async poison() {
      const waiting = poison.find(
        ({ hiddenUntil }) => hiddenUntil === undefined || hiddenUntil <= clock.now(),
      );
      return {
        count: poison.length,
        ...withoutAbsent({ oldestAt: waiting?.insertedAt }),
      };
    },
    async takePoison(most) {
      const now = clock.now();
      const free = poison.filter(({ hiddenUntil }) => hiddenUntil === undefined || hiddenUntil <= now);
      const taken = new Set(free.slice(0, most));
      poison = poison.map((one) =>
        taken.has(one) ? { ...one, taken: one.taken + 1, hiddenUntil: plusSeconds(now, TAKEN_SECONDS) } : one,
      );
      const ids = new Set([...taken].map(({ messageId }) => messageId));
      return poison
        .filter(({ messageId }) => ids.has(messageId))
        .map(({ messageId, text, taken: times }) => ({
          messageId,
          text,
          taken: times,
          receipt: `${messageId} ${times}`,
        }));
    },
    async dropPoison({ messageId, receipt }) {
      poison = poison.filter(
        (one) => `${one.messageId} ${one.taken}` !== receipt || one.messageId !== messageId,
      );
    },
  };
}
