import type { RequestId, WakeId } from "../../domain/ids.ts";
import type { Intent } from "../../domain/intent.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Seconds } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import { commitWhole } from "../record/commit.ts";
import { LANDING_SECONDS } from "../../decide/pace/observation-times.ts";
import type { Concluded } from "./planner.ts";
import { takeCalls } from "../effects/settle-findings.ts";
import { concluder, noteFailedObservation } from "./conclude-observation.ts";
import type { Finding } from "../effects/effects.ts";
import { askIntents, resendIntents } from "../effects/effects.ts";
import type { Seen } from "./observe-cluster.ts";
import { observeOrHandOn } from "./hand-on.ts";
import { measureCalls } from "../effects/measure-calls.ts";
import type { Site } from "../ports/site.ts";
import type { App } from "../process/app.ts";
import { reviveLoop } from "./revive-loop.ts";
import { applyOurs } from "./apply-plan.ts";
import { keepReasons, logPlan } from "./note-plan.ts";
import type { Cause, ReconcileOutcome, Reconcile, Begun } from "./reconcile-run.ts";
import { needsNoObservation, reserveObservation } from "./reserve-observation.ts";
import { sendWake, wakeOfEnd } from "./send-wake.ts";
import { settleAll } from "../effects/settle-all.ts";

/** Maximum time from the beginning of an observation to the start of its last effect. */
const EFFECTS_SECONDS: Seconds = 180;

/** Maximum number of tries when other instances commit first. After that the plan is left to the timer. */
const ROUNDS = 3;

/**
 * The steps of docs/protocol.md: observe in turn, decide, commit, apply, settle. `broughtBy`: the wake message of a due tick. Throws
 * PortError from the store and, for a wake message, from the queue.
 */
export async function reconcileCluster(
  app: App,
  site: Site,
  cause: Cause,
  known?: ClusterRecord,
  broughtBy?: WakeId,
): Promise<ReconcileOutcome> {
  const { clock, entropy } = app.ports;
  const owner = entropy.owner();
  if (known !== undefined) await reviveLoop(app, known);
  const early =
    cause === "demand" && known !== undefined ? needsNoObservation(known, owner, clock.now()) : undefined;
  if (early !== undefined) return early;
  const run: Reconcile = {
    app,
    site: measureCalls(app, site),
    owner,
    woken: cause === "demand" && known === undefined,
    ...(broughtBy === undefined ? {} : { broughtBy }),
    policy: await app.ports.policyOf(site.cluster),
    deadline: plusSeconds(clock.now(), EFFECTS_SECONDS),
  };
  let next = cause;
  for (let round = 0; round < ROUNDS; round += 1) {
    const begun = await reserveObservation(run, next);
    if (begun.kind !== "begun") return begun;
    const deadline = plusSeconds(begun.at, EFFECTS_SECONDS);
    const outcome = await observeAndDecide({ ...run, deadline }, begun);
    if (outcome.kind !== "overtaken") return outcome;
    // The other plan has done the work of a tick. Only demand can be left.
    if (outcome.byPlan) next = "demand";
  }
  return { kind: "overtaken", byPlan: false };
}

/** Observes, commits what follows from it, and sends the effects of the plan. */
async function observeAndDecide(run: Reconcile, begun: Begun): Promise<ReconcileOutcome> {
  const { app, site } = run;
  const [observed, asked] = await Promise.all([observeOrHandOn(run, begun), askIntents(run, begun.taken)]);
  if (observed.kind === "failed") {
    const ended = { began: begun.at, calls: takeCalls(run) };
    const noted = await commitWhole(app, site.cluster, (current) =>
      noteFailedObservation(run, current, asked, observed.failure, ended),
    );
    if (noted.kind === "committed") await sendWake(run, wakeOfEnd(run, begun, noted.record));
    return { kind: "troubled", failure: observed.failure };
  }
  const resumed = await resendIntents(run, begun.taken, asked, observed.templates);
  const concluded = await concludeObservation(run, begun, resumed, observed);
  if (concluded === undefined) return { kind: "overtaken", byPlan: false };
  const wakeSent = sendWake(run, wakeOfEnd(run, begun, concluded.record));
  if (concluded.result.kind !== "planned") {
    await wakeSent;
    return concluded.result;
  }
  const { plan, ledger, wakeAt } = concluded.result;
  logPlan(run, plan, concluded.record);
  const ours = concluded.record.intents.filter(
    (intent) => intent.owner === run.owner && intent.committedAt === plan.at,
  );
  await Promise.all([applyOurs(run, ours, observed.templates), wakeSent]);
  const left = stillOpen(begun.taken, concluded.record);
  if (left.length > 0) await settleAll(run, [], left);
  const { createsFrom } = concluded.record;
  for (const due of [createsFrom, wakeAt])
    if (due !== undefined) await app.ports.queue.wake(site.cluster, due);
  await keepReasons(run, plan, ledger);
  return { kind: "planned", plan };
}

/** Commits the result of the observation. Undefined if too many conflicts occurred. */
async function concludeObservation(
  run: Reconcile,
  begun: Begun,
  resumed: readonly Finding[],
  seen: Seen,
): Promise<{ readonly result: Concluded; readonly record: ClusterRecord } | undefined> {
  const { clock, policyOf } = run.app.ports;
  if (begun.isFirst && run.policy.modeIsDefault === true) await policyOf(run.site.cluster, "with-mode");
  const conclude = concluder(run, begun, resumed, seen);
  for (;;) {
    const committed = await commitWhole(run.app, run.site.cluster, conclude);
    if (committed.kind === "contended") return undefined;
    const { result, record } = committed;
    if (result.kind !== "plan-first") return { result, record };
    await clock.sleep(1000 * LANDING_SECONDS);
  }
}

/** Of the intents that we took over, those that a later observation will settle. */
function stillOpen(taken: readonly Intent[], { intents }: ClusterRecord): readonly RequestId[] {
  const ids = new Set(intents.map(({ id }) => id));
  return taken.flatMap(({ id }) => (ids.has(id) ? [id] : []));
}
