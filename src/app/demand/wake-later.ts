import type { ClusterName } from "../../domain/ids.ts";
import { plusSeconds } from "../../domain/units.ts";
import type { Ports } from "../ports/ports.ts";
import { PortError } from "../ports/port-error.ts";
import type { Seconds } from "../../domain/units.ts";

const WAKE_SECONDS: Seconds = 2;

/**
 * Sends a wake message that arrives a little later. It finds the work done, unless this process has ended. Never fails: the timer makes up
 * for a message that was not sent.
 */
export async function wakeLater(ports: Ports, cluster: ClusterName): Promise<void> {
  try {
    await ports.queue.wake(cluster, plusSeconds(ports.clock.now(), WAKE_SECONDS));
  } catch (error) {
    const kind = error instanceof PortError ? error.kind : "defect";
    const message = error instanceof Error ? error.message : String(error);
    ports.log("wake-not-sent", { cluster, kind, message });
  }
}
