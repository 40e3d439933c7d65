import { noteCalls } from "../decide/pace/calls.ts";
import { beginTick, isAwaitedWake, isTickDue, passWakeOn } from "../decide/pace/next-tick.ts";
import { beginObservation, effectsOf, mendObservations } from "../decide/pace/observation-times.ts";
import { settle } from "../decide/intents/settle.ts";
import { contradictedNodes } from "../decide/stops/still-idle.ts";
import {
  followUpAt,
  isCovered,
  isWakePending,
  notBefore,
  takeOver,
  withoutDueWake,
} from "../decide/record/whose-turn.ts";
import type { Owner, RequestId, WakeId } from "../domain/ids.ts";
import { changesSomething, keepPlan } from "../domain/kept-plan.ts";
import type { Plan } from "../domain/plan.ts";
import { modeShown } from "../domain/plan.ts";
import type { Intent } from "../domain/intent.ts";
import type { Ledger } from "../domain/ledger.ts";
import type { ClusterRecord, PendingWake } from "../domain/record.ts";
import type { Policy } from "../domain/policy.ts";
import type { Instant, Seconds } from "../domain/units.ts";
import { isoTime, plusSeconds } from "../domain/units.ts";
import type { Change } from "./commit.ts";
import { commitRecord, commitWhole } from "./commit.ts";
import type { Concluded, ObservationBegun, Planner } from "./conclude-observation.ts";
import { changesOf, concluder, noteTrouble, settleFindings, takeCalls } from "./conclude-observation.ts";
import type { Finding } from "./effects.ts";
import { applyIntents, askIntents, resendIntents } from "./effects.ts";
import type { Seen } from "./observe-cluster.ts";
import { observeCluster } from "./observe-cluster.ts";
import { measureCalls } from "./measure-calls.ts";
import type { ArrayTemplates } from "./ports/cyclecloud.ts";
import type { Site } from "./ports/site.ts";
import { PortError } from "./ports/port-error.ts";
import type { Settled } from "../decide/intents/evidence.ts";
import type { App } from "./app.ts";
import type { Current, CurrentWhole } from "./current.ts";
import type { Run } from "./run.ts";
import { reviveLoop } from "./revive-loop.ts";

/** Maximum time from the beginning of an observation to the start of its last effect. */
const EFFECTS_SECONDS: Seconds = 180;
/** Maximum number of tries when other instances commit first. After that the plan is left to the timer. */
const ROUNDS = 3;
/** A tick that waits for its turn reads the record at this interval. */
const POLL_SECONDS: Seconds = 5;

/**
 * The trigger of a reconcile. Only `demand` can be covered by a plan that has already used it. `tick` waits for its turn. `due` does too,
 * and ends if no tick is due.
 */
export type Cause = "demand" | "tick" | "due";

export type ReconcileOutcome =
  /** A plan has already used this demand. */
  | { readonly kind: "covered" }
  /** Too early, or another instance's create is under way. A wake message is due at `until`. */
  | { readonly kind: "waiting"; readonly until: Instant }
  | { readonly kind: "planned"; readonly plan: Plan }
  /** The tick was made already, or the cluster rests. `until`: the next tick. */
  | { readonly kind: "not-due"; readonly until: Instant }
  /** A wake message that the loop does not wait for. */
  | { readonly kind: "superseded" }
  /** Other instances committed first in every round. The plan is left to the timer. */
  | Extract<Concluded, { readonly kind: "troubled" | "overtaken" }>;

interface Reconcile extends Planner {
  /** A wake message triggered this run. If the record still waits for one that is due, it is this one. */
  readonly woken: boolean;
}

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

// ---------------------------------------------------------------- whose turn it is

interface Begun extends ObservationBegun {
  readonly kind: "begun";
  readonly open: readonly RequestId[];
  /** Creates and starts whose owner is gone. They are ours now. */
  readonly taken: readonly Intent[];
  /** The wake message to send for the next tick. Absent: another one is under way. */
  readonly wake?: PendingWake;
}

type Beginning =
  | Begun
  | { readonly kind: "covered" | "superseded" }
  | { readonly kind: "not-due"; readonly until: Instant; readonly wake?: PendingWake }
  | { readonly kind: "waiting"; readonly until: Instant; readonly wake: boolean };

/**
 * Decides from the record that holds the demand, so that of a thousand messages in five seconds only the first few load it again. No
 * observation is needed if a plan has covered the demand, or if the instance that observes next has been woken and will find it.
 */
function needsNoObservation(known: ClusterRecord, owner: Owner, now: Instant): ReconcileOutcome | undefined {
  if (isCovered(known, now)) return { kind: "covered" };
  const until = notBefore(known, owner, now);
  return until !== undefined && isWakePending(known, now, until) ? { kind: "waiting", until } : undefined;
}

/** Reserves the observation in the record, which limits the rate of all instances together. Otherwise returns why not now. */
async function reserveObservation(run: Reconcile, cause: Cause): Promise<Begun | ReconcileOutcome> {
  const { clock, queue } = run.app.ports;
  const sendFirst = wakeSender(run);
  for (;;) {
    const change = (current: Current) => begin(run, current, cause, clock.now());
    const committed = await commitRecord(run.app, run.site.cluster, change, sendFirst);
    if (committed.kind === "contended") return { kind: "overtaken", byPlan: false };
    const beginning = committed.result;
    if (beginning.kind !== "waiting") return beginning;
    if (cause !== "demand" && clock.now() < run.deadline) {
      await clock.sleep(Math.min(POLL_SECONDS * 1000, Math.max(1, beginning.until - clock.now())));
      continue;
    }
    if (beginning.wake) await queue.wake(run.site.cluster, beginning.until);
    return { kind: "waiting", until: beginning.until };
  }
}

function begin(run: Reconcile, current: Current, cause: Cause, now: Instant): Change<Beginning> {
  const { record } = current;
  if (cause === "demand" && isCovered(record, now)) return { result: { kind: "covered" } };
  const idle = cause === "due" ? beginNothing(run, record, now) : undefined;
  if (idle !== undefined) return idle;
  const until = notBefore(record, run.owner, now);
  if (until !== undefined) {
    const ours = run.woken && record.wakeAt !== undefined && record.wakeAt <= now;
    const wake = cause === "demand" && (ours || !isWakePending(record, now, until));
    const result: Beginning = { kind: "waiting", until, wake };
    const mended = mendObservations(record, now);
    if (!wake) return mended === record ? { result } : { save: { record: mended, changes: {} }, result };
    return { save: { record: { ...mended, wakeAt: until, wakeFor: "demand" }, changes: {} }, result };
  }
  const ticking = cause === "due" ? beginTick(record, run, now) : record;
  const { record: reserved, taken } = takeOver(withoutDueWake(ticking, now), run.owner, now, run.policy);
  const resumed = taken.filter(({ effect }) => effect.kind === "create").map((intent) => intent.id);
  const open = [...new Set([...record.inFlight.map((entry) => entry.requestId), ...resumed])];
  return {
    save: { record: beginObservation(reserved, now), changes: {} },
    result: { kind: "begun", at: now, effects: effectsOf(record), open, taken, ...newWake(record, reserved) },
  };
}

/** The outcome if this tick is not for us: its wake message is not awaited, or no tick is due. Undefined: begin. */
function beginNothing(run: Reconcile, record: ClusterRecord, now: Instant): Change<Beginning> | undefined {
  const { broughtBy } = run;
  if (broughtBy !== undefined && !isAwaitedWake(record, broughtBy, now))
    return { result: { kind: "superseded" } };
  if (isTickDue(record, now)) return undefined;
  const passed = passWakeOn(record, run, now);
  const { nextTickAt: until = now } = record;
  const result: Beginning = { kind: "not-due", until, ...newWake(record, passed) };
  return passed === record ? { result } : { save: { record: passed, changes: {} }, result };
}

function newWake(before: ClusterRecord, { pendingWake }: ClusterRecord): { readonly wake?: PendingWake } {
  const isNew = pendingWake !== undefined && pendingWake.id !== before.pendingWake?.id;
  return isNew ? { wake: pendingWake } : {};
}

/**
 * Sends the next tick's wake message before the record names it. If this process ends in between, the message that the record names is
 * still there. A message that the record never names ends with one read. A retry does not send the same message twice. Throws PortError
 * only if a wake message triggered this run and is still in the queue: the timer may be silent.
 */
function wakeSender(run: Reconcile): (beginning: Beginning) => Promise<void> {
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
async function sendWake({ app, site }: Run, wake: PendingWake | undefined): Promise<void> {
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
function wakeOfEnd(
  { owner }: Reconcile,
  begun: Begun,
  { pendingWake }: ClusterRecord,
): PendingWake | undefined {
  const isOurs = pendingWake?.id.startsWith(`tick-${owner}-`) === true;
  return isOurs && pendingWake.id !== begun.wake?.id ? pendingWake : undefined;
}

// ---------------------------------------------------------------- observe, decide, apply, settle

async function observeAndDecide(run: Reconcile, begun: Begun): Promise<ReconcileOutcome> {
  const { app, site } = run;
  const [looked, asked] = await Promise.all([observeCluster(run, begun.open), askIntents(run, begun.taken)]);
  if (looked.kind === "trouble") {
    const ended = { began: begun.at, calls: takeCalls(run) };
    const noted = await commitWhole(app, site.cluster, (current) =>
      noteTrouble(run, current, asked, looked.trouble, ended),
    );
    if (noted.kind === "committed") await sendWake(run, wakeOfEnd(run, begun, noted.record));
    return { kind: "troubled", trouble: looked.trouble };
  }
  const resumed = await resendIntents(run, begun.taken, asked, looked.templates);
  const concluded = await concludeObservation(run, begun, resumed, looked);
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
  await Promise.all([applyOurs(run, ours, looked.templates), wakeSent]);
  const left = stillOpen(begun.taken, concluded.record);
  if (left.length > 0) await settleAll(run, [], left);
  const { createsFrom } = concluded.record;
  for (const due of [createsFrom, wakeAt])
    if (due !== undefined) await app.ports.queue.wake(site.cluster, due);
  await keepReasons(run, plan, ledger);
  return { kind: "planned", plan };
}

/** Of the intents that we took over, those that a later observation will settle. */
function stillOpen(taken: readonly Intent[], { intents }: ClusterRecord): readonly RequestId[] {
  const ids = new Set(intents.map(({ id }) => id));
  return taken.flatMap(({ id }) => (ids.has(id) ? [id] : []));
}

/**
 * Sends the stops of a plan after reading the record again. Leaves out hosts that have a job, or about which a newer report or answer
 * disagrees.
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
        (state, intent) => withdrawContradicted(state, intent, current, run.policy, now),
        settleFindings(current, [], now),
      );
    if (settled.record === current.record) return { result: undefined };
    return { save: { record: settled.record, changes: changesOf(current, settled) }, result: undefined };
  });
  if (committed.kind === "contended") return;
  const left = committed.record.intents.filter(({ id }) => ids.has(id));
  if (left.length > 0) await settleAll(run, await applyIntents(run, left));
}

function withdrawContradicted(
  state: Settled,
  { id, effect, committedAt }: Intent,
  { record, bodies }: CurrentWhole,
  policy: Policy,
  now: Instant,
): Settled {
  if (effect.kind !== "terminate") return state;
  const nodes = contradictedNodes(effect.nodes, committedAt, record, bodies, policy, now);
  return nodes.size === 0 ? state : settle(state, id, { kind: "withdrawn", nodes }, now);
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

/** Commits the result of the observation. Undefined if too many conflicts occurred. */
async function concludeObservation(
  run: Reconcile,
  begun: Begun,
  resumed: readonly Finding[],
  seen: Seen,
): Promise<{ readonly result: Concluded; readonly record: ClusterRecord } | undefined> {
  const conclude = concluder(run, begun, resumed, seen);
  for (;;) {
    const committed = await commitWhole(run.app, run.site.cluster, conclude);
    if (committed.kind === "contended") return undefined;
    const { result, record } = committed;
    if (result.kind !== "plan-first") return { result, record };
  }
}

/**
 * Commits the findings. Everything still open (also of `open`), short of its count or without effect is followed up before the next tick.
 * Returns the record after that. Undefined if others committed first every time.
 */
export async function settleAll(
  run: Run,
  findings: readonly Finding[],
  open: readonly RequestId[] = [],
): Promise<Settled | undefined> {
  const { clock, queue } = run.app.ports;
  const ids = new Set([...findings.map((finding) => finding.id), ...open]);
  const calls = takeCalls(run);
  const committed = await commitWhole(run.app, run.site.cluster, (current): Change<SettledAll> => {
    const now = clock.now();
    const settled = settleFindings(current, findings, now);
    const noted = noteCalls(settled.record, calls, now);
    const due = followUpAt(current.record, noted, ids, now, run.policy);
    const wake = due !== undefined && !isWakePending(noted, now, due);
    const record: ClusterRecord = wake ? { ...noted, wakeAt: due, wakeFor: "follow-up" } : noted;
    const result = { settled: { ...settled, record }, ...(wake ? { due } : {}) };
    return { save: { record, changes: changesOf(current, settled) }, result };
  });
  if (committed.kind === "contended") return undefined;
  const { due, settled } = committed.result;
  if (due !== undefined) await queue.wake(run.site.cluster, due);
  return settled;
}

interface SettledAll {
  readonly settled: Settled;
  readonly due?: Instant;
}

/** Runs after everything else. No decision depends on it: a plan that cannot be kept cannot be explained later. */
async function keepReasons({ app, site, policy }: Reconcile, plan: Plan, ledger: Ledger): Promise<void> {
  if (!changesSomething(plan) || policy.planHistorySeconds === 0) return;
  try {
    await app.ports.plans.keep(site.cluster, keepPlan(plan, ledger));
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const { kind, message } = error;
    app.ports.log("plan-not-kept", { cluster: site.cluster, plan: plan.number, kind, message });
  }
}

function logPlan({ app, site }: Reconcile, plan: Plan, { unneeded }: ClusterRecord): void {
  const { cluster } = site;
  const unmet = plan.demands.filter((outcome) => outcome.placed < outcome.asked).length;
  const { withheld } = plan;
  app.ports.log("plan", {
    cluster,
    plan: plan.number,
    create: nodesIn(plan.creates),
    start: plan.starts?.length ?? 0,
    terminate: plan.terminates.length,
    demands: plan.demands.length,
    unmet,
    ...(plan.leftOut === undefined ? {} : { leftOut: plan.leftOut.map(({ set }) => set) }),
    ...(withheld === undefined
      ? {}
      : {
          ...modeShown(plan),
          wouldCreate: nodesIn(withheld.creates),
          wouldStart: withheld.starts.length,
          wouldTerminate: withheld.terminates.length,
        }),
  });
  if (unneeded === undefined) return;
  const { nodes, since, cost } = unneeded;
  const price = cost === undefined ? {} : { costPerHour: cost.perHour, currency: cost.currency };
  app.ports.log("nodes-not-needed", { cluster, nodes, since: isoTime(since), ...price });
}

const nodesIn = (creates: Plan["creates"]): number => creates.reduce((sum, { count }) => sum + count, 0);
