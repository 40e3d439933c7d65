import type { ClusterName } from "../../domain/ids.ts";
import { isoTime } from "../../domain/units.ts";
import { PortError } from "../ports/port-error.ts";
import type { App } from "../process/app.ts";

/** When the timer last ran. Absent: never, or storage does not answer. Never throws because of storage. */
export async function describeTimer({ ports }: App): Promise<{ readonly timerAt?: string }> {
  const at = await unlessDown(() => ports.triggers.timerAt());
  return at === undefined ? {} : { timerAt: isoTime(at) };
}

/** The last wake message with an id that came through the queue. Never throws because of storage. */
export async function describeLastWake(
  { ports }: App,
  cluster: ClusterName,
): Promise<{ readonly lastWake?: { readonly id: string; readonly at: string } }> {
  const wake = await unlessDown(() => ports.triggers.lastWake(cluster));
  return wake === undefined ? {} : { lastWake: { id: wake.id, at: isoTime(wake.at) } };
}

async function unlessDown<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return undefined;
  }
}
