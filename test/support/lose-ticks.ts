import type { Ports } from "../../src/app/ports/ports.ts";
import { isTickWake } from "../../src/domain/ids.ts";

/** Ports that lose the wake messages that run a tick in place of a silent timer. Without this, a tick runs each minute even if no timer does. */
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
