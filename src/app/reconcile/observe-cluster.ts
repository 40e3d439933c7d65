import type { SilentCall } from "../../decide/pace/calls.ts";
import type { RequestId } from "../../domain/ids.ts";
import { keepNamedConfiguration } from "../../domain/named-configuration.ts";
import type { ReconcileFailure } from "../../domain/troubles.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { isSilence, withCredentials } from "../effects/credentials.ts";
import type { ArrayTemplates } from "../ports/cyclecloud.ts";
import { PortError } from "../ports/port-error.ts";
import type { Observation, RequestNodes } from "../../domain/record.ts";
import type { App } from "../process/lanes.ts";
import type { Run, Begun, Reconcile } from "../effects/run.ts";
import { isAfterGap } from "../../decide/pace/outage.ts";
import { handOn } from "../../decide/record/whose-turn.ts";
import type { Change } from "../record/commit.ts";
import { commitRecord } from "../record/commit.ts";

/** An observation, and when its status arrived. Its age counts from then. */
export interface Seen {
  readonly kind: "observation";
  readonly observation: Observation;
  /** For the creates of the plan on this observation. */
  readonly templates: ArrayTemplates;
  readonly arrivedAt: Instant;
}

type Observed = Seen | { readonly kind: "failed"; readonly failure: ReconcileFailure };

/** Maximum wait for answers about open requests after the status has arrived. */
const ANSWERS_WAIT_SECONDS: Seconds = 2.5;

/** After a status that took this long no node is ended because it is down (docs/protocol.md, Nodes that are down). */
const SLOW_STATUS_SECONDS: Seconds = 30;

/** One status with nodes, and in parallel the nodes of each open request. */
async function observeCluster(run: Run, open: readonly RequestId[]): Promise<Observed> {
  const { app, site } = run;
  const { questions, calls } = app.lanes.memoryOf(site.cluster);
  const at = app.ports.clock.now();
  let ended: SilentCall | undefined;
  calls.noteSilent("status", { began: at });
  try {
    const answer = withCredentials(app, site, () => site.cyclecloud.status(site.cluster, at));
    questions.begin(open, (id) => nodesOfOne(run, id));
    const status = await answer;
    if (status.kind === "not-found") {
      return { kind: "failed", failure: { at, kind: "not-found", message: notFoundText(status) } };
    }
    const arrivedAt = app.ports.clock.now();
    await endsWithin(app, questions.allEnded(), ANSWERS_WAIT_SECONDS);
    const { templates } = status;
    const snapshot = keepNamedConfiguration(status.snapshot, run.policy);
    const requestNodes = questions.answersTo(open);
    const isSlow = secondsBetween(at, arrivedAt) >= SLOW_STATUS_SECONDS;
    const observation = { snapshot, requestNodes, ...(isSlow ? { slow: true as const } : {}) };
    return { kind: "observation", observation, templates, arrivedAt };
  } catch (error) {
    if (!(error instanceof PortError) || error.kind === "other-state") throw error;
    if (isSilence(error)) ended = { began: at, ended: app.ports.clock.now() };
    return { kind: "failed", failure: { at, kind: error.kind, message: error.message } };
  } finally {
    if (ended === undefined) calls.noteAnswer("status", at);
    else calls.noteSilent("status", ended);
  }
}

async function endsWithin({ ports }: App, work: Promise<void>, seconds: Seconds): Promise<void> {
  const ended = new AbortController();
  await Promise.race([work, ports.clock.sleep(seconds * 1000, ended.signal)]);
  ended.abort("over");
}

function notFoundText(outcome: { readonly fromCycleCloud: boolean; readonly message: string }): string {
  const whose = outcome.fromCycleCloud
    ? "CycleCloud has no such cluster"
    : "HTTP 404, and not in CycleCloud's form";
  return `${whose}: ${outcome.message}`;
}

/** A request that cannot be listed in time stays completely in flight. Then too few nodes may be created, never too many. */
async function nodesOfOne(run: Run, id: RequestId): Promise<RequestNodes | undefined> {
  const { app, site } = run;
  const askedAt = app.ports.clock.now();
  try {
    const nodes = await withCredentials(app, site, () => site.cyclecloud.nodesOfRequest(site.cluster, id));
    return { askedAt, nodes: nodes ?? [] };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const { kind, message } = error;
    app.ports.log("nodes-of-request-failed", { cluster: site.cluster, id, kind, message });
    return undefined;
  }
}

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
