import type { RequestId, WakeId } from "../../domain/ids.ts";
import type { Intent } from "../../domain/intent.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Seconds, Instant } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import type { Concluded, Cause, ReconcileOutcome, Reconcile, Begun } from "../effects/run.ts";
import type { Finding } from "../effects/effects.ts";
import { askIntents, resendIntents, applyIntents, measureCalls } from "../effects/effects.ts";
import type { Seen } from "./observe-cluster.ts";
import { observeOrHandOn } from "./observe-cluster.ts";
import type { Site } from "../ports/ports.ts";
import type { App } from "../process/lanes.ts";
import type { Change } from "../record/commit.ts";
import { commitWhole } from "../record/commit.ts";
import type { ArrayTemplates } from "../ports/cyclecloud.ts";
import type { Settled } from "../../decide/intents/evidence.ts";
import type { CurrentInForce } from "../record/load-record.ts";
import { LANDING_SECONDS } from "../../decide/pace/observation-times.ts";
import { takeCalls, settleAll, changesOf, settleFindings } from "../effects/settle-all.ts";
import { concluder, noteFailedObservation } from "./conclude-observation.ts";
import {
  reviveLoop,
  needsNoObservation,
  reserveObservation,
  sendWake,
  wakeOfEnd,
} from "./reserve-observation.ts";
import { keepReasons, logPlan } from "./save-plan.ts";
import { settle } from "../../decide/intents/settle.ts";
import { contradictedNodes } from "../../decide/stops/still-idle.ts";
import { maySteer } from "../../domain/mode.ts";

/** Maximum time from the beginning of an observation to the start of its last effect. */
const EFFECTS_SECONDS: Seconds = 180;

/** Maximum number of tries when other instances commit first. After that the plan is left to the timer. */
const ROUNDS = 3;

/**
 * The steps of docs/protocol.md: observe in turn, decide, commit, apply, settle. `broughtBy`: the wake message of a due tick. Throws
 * PortError from the store and, for a wake message, from the queue.
 */
export function reconcileCluster(
  app: App,
  site: Site,
  cause: Cause,
  known?: ClusterRecord,
  broughtBy?: WakeId,
): Promise<ReconcileOutcome> {
  return app.lanes.reading.runFirst(() => reconcile(app, site, cause, known, broughtBy));
}

async function reconcile(
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

/** Stops go first, and creates do not wait for their answers: a create that is late is not sent by any instance for a while. */
async function applyOurs(run: Reconcile, ours: readonly Intent[], templates: ArrayTemplates): Promise<void> {
  const stops = ours.filter(({ effect }) => effect.kind === "terminate");
  const others = ours.filter(({ effect }) => effect.kind !== "terminate");
  const apply = async (intents: readonly Intent[]) => {
    if (intents.length > 0) await settleAll(run, await applyIntents(run, intents, templates));
  };
  const ended = await Promise.allSettled([sendStillIdle(run, stops), apply(others)]);
  for (const one of ended) if (one.status === "rejected") throw one.reason;
}

/**
 * Sends the stops of a plan after reading the record again. Leaves out hosts that have a job, about which a newer report or answer
 * disagrees, or whose array the configuration in force only observes.
 */
async function sendStillIdle(run: Reconcile, stops: readonly Intent[]): Promise<void> {
  const ids = new Set(stops.map(({ id }) => id));
  if (ids.size === 0) return;
  const { clock } = run.app.ports;
  const committed = await commitWhole(run.app, run.site.cluster, (current): Change<undefined> => {
    const now = clock.now();
    const settled = current.record.intents
      .filter(({ id }) => ids.has(id))
      .reduce(
        (state, intent) => withdrawContradicted(state, intent, current, now),
        settleFindings(current, [], now),
      );
    if (settled.record === current.record) return { result: undefined };
    return { save: { record: settled.record, changes: changesOf(current, settled) }, result: undefined };
  });
  if (committed.kind === "contended") return;
  const left = committed.record.intents.filter(({ id }) => ids.has(id));
  if (left.length > 0) await settleAll(run, await applyIntents(run, left));
}

/** Withdraws the nodes of a stop about which the record has changed since it was committed, or whose array does not act any more. */
function withdrawContradicted(
  state: Settled,
  { id, effect, committedAt }: Intent,
  { record, bodies, policy }: CurrentInForce,
  now: Instant,
): Settled {
  if (effect.kind !== "terminate") return state;
  const observed = effect.nodes.filter((node) => {
    const array = bodies.ledger.get(node)?.array;
    return array !== undefined && !maySteer(policy, array);
  });
  const contradicted = contradictedNodes(effect.nodes, committedAt, record, bodies, policy, now);
  const nodes = new Set([...observed, ...contradicted]);
  return nodes.size === 0 ? state : settle(state, id, { kind: "withdrawn", nodes }, now);
}
