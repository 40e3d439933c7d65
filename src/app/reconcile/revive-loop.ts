import { isLoopLost } from "../../decide/pace/next-tick.ts";
import { wakeId } from "../../domain/ids.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { secondsBetween } from "../../domain/units.ts";
import type { App } from "../process/app.ts";
import { PortError } from "../ports/port-error.ts";
import type { Seconds } from "../../domain/units.ts";

/** One process sends a lost wake message again at most this often. */
const APART_SECONDS: Seconds = 60;

/**
 * Sends a cluster's wake message again if its ticks are late and the message is lost, for example because the queue was emptied while the
 * timer is silent. Called where the record is read anyway: probes of health, demand, callbacks of nodes. A check at each start would read
 * every record. Reads and saves nothing. If the message does arrive twice, the second one ends with one read. Never throws.
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
