import { isAfterGap } from "../../decide/pace/outage.ts";
import { handOn } from "../../decide/record/whose-turn.ts";
import type { Instant } from "../../domain/units.ts";
import { isSilence } from "../effects/credentials.ts";
import { PortError } from "../ports/port-error.ts";
import type { Change } from "../record/commit.ts";
import { commitRecord } from "../record/commit.ts";
import type { Observed } from "./observe-cluster.ts";
import { observeCluster } from "./observe-cluster.ts";
import type { Begun, Reconcile } from "./reconcile-run.ts";

/**
 * Observes. If no answer comes in the usual time, or none at all, another instance is asked to observe, because perhaps only this one does
 * not reach CycleCloud (docs/protocol.md, Instances that are cut off).
 */
export async function observeOrHandOn(run: Reconcile, begun: Begun): Promise<Observed> {
  const ended = new AbortController();
  const observing = observeCluster(run, begun.open).finally(() => ended.abort("over"));
  // The observation does not wait for the message.
  const observed = await Promise.race([
    observing,
    handOnLate(run, begun, ended.signal).then(() => observing),
  ]);
  if (observed.kind === "failed" && isSilence(observed.failure)) await askOther(run, begun.at);
  return observed;
}

async function handOnLate(run: Reconcile, { at, lateFrom }: Begun, ended: AbortSignal): Promise<void> {
  const { clock } = run.app.ports;
  await clock.sleep(Math.max(0, lateFrom - clock.now()), ended);
  if (!ended.aborted) await askOther(run, at);
}

/**
 * Wakes another instance, unless one has observed since. If no instance has reached CycleCloud for long, only a tick does so and not the run that it
 * woke: each instance tries once a minute. Never throws PortError: the next tick tries again.
 */
async function askOther(run: Reconcile, began: Instant): Promise<void> {
  const { app, site, policy, woken } = run;
  const { clock, log, queue } = app.ports;
  const { cluster } = site;
  try {
    const committed = await commitRecord(app, cluster, ({ record }): Change<Instant | undefined> => {
      const now = clock.now();
      const next = woken && isAfterGap(record, policy, now) ? undefined : handOn(record, began, now);
      if (next === undefined) return { result: undefined };
      return { save: { record: next, changes: {} }, result: next.wakeAt };
    });
    if (committed.kind === "contended" || committed.result === undefined) return;
    await queue.wake(cluster, committed.result);
    log("observation-handed-on", { cluster });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const { kind, message } = error;
    log("wake-not-sent", { cluster, kind, message });
  }
}
