import type { Clock, DemandQueue, RejectedMessage } from "../../app/ports.ts";
import type { ClusterName } from "../../domain/ids.ts";
import type { Instant } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";

/** What waits in the queue: a wake, or a text that was put back. Not to be delivered before `at`. */
export type QueuedItem =
  | { readonly kind: "wake"; readonly cluster: ClusterName; readonly at: Instant }
  | { readonly kind: "text"; readonly text: string; readonly at: Instant };

/** A demand queue in memory. Nothing is delivered by itself: whoever drives the run drains it. */
export interface MemoryDemandQueue extends DemandQueue {
  /** Takes everything out, in the order it came. */
  drain(): readonly QueuedItem[];
}

/** How many of the rejected messages `rejected` shows, as with the storage queue. */
const SHOWN = 32;

export function memoryDemandQueue(clock: Pick<Clock, "now">): MemoryDemandQueue {
  let waiting: QueuedItem[] = [];
  const rejected: RejectedMessage[] = [];
  return {
    async wake(cluster, at) {
      waiting.push({ kind: "wake", cluster, at });
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
    rejected: () => Promise.resolve({ count: rejected.length, oldest: rejected.slice(0, SHOWN) }),
  };
}
