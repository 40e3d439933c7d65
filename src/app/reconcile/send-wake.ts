import type { WakeId } from "../../domain/ids.ts";
import type { ClusterRecord, PendingWake } from "../../domain/record.ts";
import { PortError } from "../ports/port-error.ts";
import type { Run } from "../effects/run.ts";
import type { Reconcile, Begun, Beginning } from "./reconcile-run.ts";

/**
 * Sends the next tick's wake message before the record names it (docs/decisions.md, "A wake message is sent before the commit that names
 * it"). If this process ends in between, the message that the record names is still there. A message that the record never names ends with
 * one read. A retry does not send the same message twice. Throws PortError only if a wake message triggered this run and is still in the
 * queue: the timer may be silent.
 */
export function wakeSender(run: Reconcile): (beginning: Beginning) => Promise<void> {
  const sent = new Set<WakeId>();
  return async (beginning) => {
    if (beginning.kind !== "begun" && beginning.kind !== "not-due") return;
    const { wake } = beginning;
    if (wake === undefined || sent.has(wake.id)) return;
    if (run.broughtBy === undefined) await sendWake(run, wake);
    else await run.app.ports.queue.wake(run.site.cluster, wake.at, wake.id);
    sent.add(wake.id);
  };
}

/** Never throws: the tick itself matters more, and the timer replaces a lost wake message. */
export async function sendWake({ app, site }: Run, wake: PendingWake | undefined): Promise<void> {
  if (wake === undefined) return;
  try {
    await app.ports.queue.wake(site.cluster, wake.at, wake.id);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const { kind, message } = error;
    app.ports.log("wake-not-sent", { cluster: site.cluster, kind, message });
  }
}

/** The wake message that the end of this observation put into the record. Undefined if none. */
export function wakeOfEnd(
  { owner }: Reconcile,
  begun: Begun,
  { pendingWake }: ClusterRecord,
): PendingWake | undefined {
  const isOurs = pendingWake?.id.startsWith(`tick-${owner}-`) === true;
  return isOurs && pendingWake.id !== begun.wake?.id ? pendingWake : undefined;
}
