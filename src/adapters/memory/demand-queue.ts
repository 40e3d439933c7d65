import type { Clock } from "../../app/ports/ports.ts";
import type { DemandQueue, RejectedMessage } from "../../app/ports/demand-queue.ts";
import type { ClusterName } from "../../domain/ids.ts";
import type { Instant } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import type { MemoryPoisonQueue } from "./poison-queue.ts";
import { memoryPoisonQueue } from "./poison-queue.ts";

/** An item of the queue: a wake message, or a text that was put back. Not delivered before `at`. */
export type QueuedItem =
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
      waiting.push({ kind: "wake", cluster, at, ...(id === undefined ? {} : { id }) });
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
