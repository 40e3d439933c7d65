import type { ClusterName } from "../../domain/ids.ts";
import type { ClustersShown } from "../../wire/api/health-answers.ts";
import { isoTime } from "../../domain/units.ts";
import { PortError } from "../ports/port-error.ts";
import type { App } from "../process/app.ts";

/** When the timer last ran. Undefined: never, or storage does not answer. Never throws because of storage. */
export async function describeTimer({ ports }: App): Promise<ClustersShown["timerAt"]> {
  const at = await unlessDown(() => ports.triggers.timerAt());
  return at === undefined ? undefined : isoTime(at);
}

/** The last wake message with an id that came through the queue. Undefined: as above. Never throws because of storage. */
export async function describeLastWake(
  { ports }: App,
  cluster: ClusterName,
): Promise<ClustersShown["clusters"][number]["lastWake"]> {
  const wake = await unlessDown(() => ports.triggers.lastWake(cluster));
  return wake === undefined ? undefined : { id: wake.id, at: isoTime(wake.at) };
}

async function unlessDown<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return undefined;
  }
}
