import { isLoopLost } from "../decide/pace/next-tick.ts";
import { wakeId } from "../domain/ids.ts";
import type { ClusterRecord } from "../domain/record.ts";
import { secondsBetween } from "../domain/units.ts";
import type { App } from "./app.ts";
import { PortError } from "./ports.ts";

/** One process sends a lost wake message again this often at most. */
const APART_SECONDS = 60;

/**
 * Sends a cluster's wake message again where its ticks are late and the message is lost: the queue was emptied, say, while the timer is
 * silent. For those who read the record anyway: probes of health, demand, callbacks of nodes. It reads and saves nothing; where the message
 * comes twice after all, the second one ends with one read. Never throws.
 */
export async function reviveLoop({ ports, lanes }: App, record: ClusterRecord): Promise<void> {
  const { cluster, pendingWake } = record;
  const now = ports.clock.now();
  if (!isLoopLost(record, now)) return;
  const last = lanes.revivedAt.get(cluster);
  if (last !== undefined && secondsBetween(last, now) < APART_SECONDS) return;
  lanes.revivedAt.set(cluster, now);
  try {
    await ports.queue.wake(cluster, now, pendingWake?.id ?? wakeId(`tick-${ports.entropy.owner()}-${now}`));
    ports.log("loop-revived", { cluster });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const { kind, message } = error;
    ports.log("wake-not-sent", { cluster, kind, message });
  }
}
