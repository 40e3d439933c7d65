import type { TriggerLog, WakeSeen } from "../../app/ports/ports.ts";
import type { ClusterName } from "../../domain/ids.ts";
import type { Instant } from "../../domain/units.ts";

/** When the triggers last ran, in memory. */
export function memoryTriggerLog(): TriggerLog {
  const wakes = new Map<ClusterName, WakeSeen>();
  let timer: Instant | undefined;
  return {
    async noteTimer(at) {
      timer = at;
    },
    async noteWake(cluster, wake) {
      wakes.set(cluster, wake);
    },
    timerAt: () => Promise.resolve(timer),
    lastWake: (cluster) => Promise.resolve(wakes.get(cluster)),
  };
}
