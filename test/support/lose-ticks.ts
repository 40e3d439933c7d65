import type { Ports } from "../../src/app/ports/ports.ts";
import { isTickWake } from "../../src/domain/ids.ts";

/** The wake messages that tick in the timer's place are lost: else each cluster's next one lies in the queue, and ticks each minute. */
export function loseTicks(ports: Ports): Ports {
  const { queue } = ports;
  return {
    ...ports,
    queue: {
      ...queue,
      async wake(cluster, at, id) {
        if (id === undefined || !isTickWake(id)) await queue.wake(cluster, at, id);
      },
    },
  };
}
