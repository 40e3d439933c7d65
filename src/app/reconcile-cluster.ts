import { changedHosts, nodesOf, withoutStops } from "../decide/amend.ts";
import type { MeasuredCall } from "../decide/calls.ts";
import { noteCalls } from "../decide/calls.ts";
import type { Doubt, Look } from "../decide/observe.ts";
import { doubtLook, suspectedSince } from "../decide/observe.ts";
import type { Decision } from "../decide/reconcile.ts";
import { decide } from "../decide/reconcile.ts";
import type { Settled } from "../decide/settle.ts";
import { settle } from "../decide/settle.ts";
import type { Effects } from "../decide/turn.ts";
import {
  beginLook,
  dropLostStops,
  effectsOf,
  endLook,
  followUpAt,
  hasSameEffects,
  isCovered,
  isLookOld,
  isOlderLook,
  isPlanFirst,
  isWakePending,
  letPlanFirst,
  mendLooks,
  notBefore,
  noteGoodLook,
  takeOver,
  withoutCoveredWake,
  withoutDueWake,
} from "../decide/turn.ts";
import type { Owner, RequestId } from "../domain/ids.ts";
import { changesSomething, keepPlan } from "../domain/kept-plan.ts";
import type { Plan } from "../domain/plan.ts";
import type { Policy } from "../domain/policy.ts";
import type { ClusterRecord, Intent, Ledger, SetEntries, Trouble } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import { isoTime, plusSeconds } from "../domain/units.ts";
import type { App, Change, Current, CurrentWhole } from "./commit.ts";
import { commitRecord, commitWhole } from "./commit.ts";
import type { Finding, Run } from "./effects.ts";
import { applyIntents, askIntents, resendIntents } from "./effects.ts";
import type { Seen } from "./look-at-cluster.ts";
import { lookAtCluster } from "./look-at-cluster.ts";
import { measureCalls } from "./measure-calls.ts";
import type { Site } from "./ports.ts";
import { PortError } from "./ports.ts";

/** A use case starts no effect later than this after its beginning. */
const EFFECTS_SECONDS = 180;
/** How often a plan that somebody else overtook is tried again before it is left to the timer. */
const ROUNDS = 3;
/** A tick that waits for its turn looks at the record again so soon. */
const POLL_SECONDS = 5;
/** A plan is decided again so often because demand, marks or grants changed while it was being saved. */
const DECIDED_AGAIN = 2;

/** What wants the reconcile. Only `demand` can be covered by a plan that has already seen it; `tick` waits for its turn. */
export type Cause = "demand" | "tick";

export type ReconcileOutcome =
  /** A plan has already taken this demand into account. */
  | { readonly kind: "covered" }
  /** Too early, or somebody's create is under way: a wake message is due then. */
  | { readonly kind: "waiting"; readonly until: Instant }
  | { readonly kind: "planned"; readonly plan: Plan }
  /** CycleCloud could not be asked, or its answer is not believed: no plan. */
  | { readonly kind: "troubled"; readonly trouble: Trouble }
  /** Left to the timer. `byPlan`: others were quicker with a plan; else the look had become too old, or the record was fought over. */
  | { readonly kind: "overtaken"; readonly byPlan: boolean };

interface Reconcile extends Run {
  readonly owner: Owner;
  /** A wake message brought us here: if the record still waits for one that is due, this is it. */
  readonly woken: boolean;
  readonly policy: Policy;
}

/** Reads like docs/protocol.md: look when it is our turn, decide, commit, apply, settle. */
export async function reconcileCluster(
  app: App,
  site: Site,
  cause: Cause,
  known?: ClusterRecord,
): Promise<ReconcileOutcome> {
  const { clock, entropy } = app.ports;
  const owner = entropy.owner();
  const early =
    cause === "demand" && known !== undefined ? needsNoLook(known, owner, clock.now()) : undefined;
  if (early !== undefined) return early;
  const run: Reconcile = {
    app,
    site: measureCalls(app, site),
    owner,
    woken: cause === "demand" && known === undefined,
    policy: await app.ports.policyOf(site.cluster),
    deadline: plusSeconds(clock.now(), EFFECTS_SECONDS),
  };
  let next = cause;
  for (let round = 0; round < ROUNDS; round += 1) {
    const begun = await reserveLook(run, next);
    if (begun.kind !== "begun") return begun;
    const outcome = await lookAndDecide(run, begun);
    if (outcome.kind !== "overtaken") return outcome;
    // The plan that was quicker has done a tick's work; what it may have left out is demand.
    if (outcome.byPlan) next = "demand";
  }
  return { kind: "overtaken", byPlan: false };
}

// ---------------------------------------------------------------- whose turn it is

interface Begun {
  readonly kind: "begun";
  /** When the look began, and what others had committed by then. */
  readonly at: Instant;
  readonly effects: Effects;
  readonly open: readonly RequestId[];
  /** Creates and starts whose owner is gone; ours now. */
  readonly taken: readonly Intent[];
}

type Beginning =
  | Begun
  | { readonly kind: "covered" }
  | { readonly kind: "waiting"; readonly until: Instant; readonly wake: boolean };

/**
 * What the record that holds the demand already tells, so that of a thousand messages in five seconds only the first few load it again:
 * a plan has covered it, or whoever is to look next has been woken and will find it.
 */
function needsNoLook(known: ClusterRecord, owner: Owner, now: Instant): ReconcileOutcome | undefined {
  if (isCovered(known, now)) return { kind: "covered" };
  const until = notBefore(known, owner, now);
  return until !== undefined && isWakePending(known, now, until) ? { kind: "waiting", until } : undefined;
}

/** Reserves the look in the record, so that all instances together look seldom enough; or says why not now. */
async function reserveLook(
  run: Reconcile,
  cause: Cause,
): Promise<Exclude<Beginning, { wake: boolean }> | ReconcileOutcome> {
  const { clock, queue } = run.app.ports;
  for (;;) {
    const committed = await commitRecord(run.app, run.site.cluster, (current) =>
      begin(run, current, cause, clock.now()),
    );
    if (committed.kind === "contended") return { kind: "overtaken", byPlan: false };
    const beginning = committed.result;
    if (beginning.kind !== "waiting") return beginning;
    if (cause === "tick" && clock.now() < run.deadline) {
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
  const until = notBefore(record, run.owner, now);
  if (until !== undefined) {
    const ours = run.woken && record.wakeAt !== undefined && record.wakeAt <= now;
    const wake = cause === "demand" && (ours || !isWakePending(record, now, until));
    const result: Beginning = { kind: "waiting", until, wake };
    const mended = mendLooks(record, now);
    if (!wake) return mended === record ? { result } : { save: { record: mended, changes: {} }, result };
    return { save: { record: { ...mended, wakeAt: until, wakeFor: "demand" }, changes: {} }, result };
  }
  const { record: reserved, taken } = takeOver(withoutDueWake(record, now), run.owner, now);
  const resumed = taken.filter(({ effect }) => effect.kind === "create").map((intent) => intent.id);
  const open = [...record.inFlight.map((entry) => entry.requestId), ...resumed];
  return {
    save: { record: beginLook(reserved, now), changes: {} },
    result: { kind: "begun", at: now, effects: effectsOf(record), open, taken },
  };
}

// ---------------------------------------------------------------- look, decide, apply, settle

async function lookAndDecide(run: Reconcile, begun: Begun): Promise<ReconcileOutcome> {
  const { app, site } = run;
  const [looked, asked] = await Promise.all([
    lookAtCluster(run, begun.open),
    askIntents(run, begun.taken),
  ]);
  if (looked.kind === "trouble") {
    const ended = { began: begun.at, calls: takeCalls(run) };
    await commitWhole(app, site.cluster, (current) =>
      noteTrouble(current, asked, looked.trouble, ended, app.ports.clock.now()),
    );
    return { kind: "troubled", trouble: looked.trouble };
  }
  const resumed = await resendIntents(run, begun.taken, asked, looked.templates);
  const concluded = await concludeLook(run, begun, resumed, looked);
  if (concluded === undefined) return { kind: "overtaken", byPlan: false };
  if (concluded.result.kind !== "planned") return concluded.result;
  const { plan, ledger } = concluded.result;
  logPlan(run, plan, concluded.record);
  const ours = concluded.record.intents.filter(
    (intent) => intent.owner === run.owner && intent.committedAt === plan.at,
  );
  if (ours.length > 0) await settleAll(run, await applyIntents(run, ours, looked.templates));
  await keepReasons(run, plan, ledger);
  return { kind: "planned", plan };
}

/** The calls that have ended since the record was last told of any. */
function takeCalls({ app, site }: Run): readonly MeasuredCall[] {
  return app.lanes.memoryOf(site.cluster).calls.take();
}

type Concluded =
  | { readonly kind: "planned"; readonly plan: Plan; readonly ledger: Ledger }
  | Extract<ReconcileOutcome, { readonly kind: "troubled" | "overtaken" }>;

/** Commits what the look leads to. undefined: the record was fought over too long. */
async function concludeLook(
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

interface Made {
  readonly basis: string;
  readonly decision: Decision;
  readonly on: CurrentWhole;
}

/**
 * Decides on this look, unless it is too old: others have committed creates since, or saved a later look. If demand, marks or grants have
 * moved while the decision was being saved, the same look is decided on again. Renewals cannot keep a plan from being saved, as its decision
 * still holds; marks and grants cannot, as they wait for a plan that has met them twice; and demand that moves all the time cannot, as the
 * creates of a decision stand then, and its marks and stops are left out.
 */
function concluder(
  run: Reconcile,
  begun: Begun,
  resumed: readonly Finding[],
  seen: Seen,
): (current: CurrentWhole) => Change<Concluded | { readonly kind: "plan-first" }> {
  const { clock } = run.app.ports;
  const calls = takeCalls(run);
  let made: Made | undefined;
  let met = { grants: 0, demand: 0 };
  return (loaded) => {
    const now = clock.now();
    const record = endLook(noteCalls(loaded.record, calls, now), begun.at);
    const current: CurrentWhole = { ...loaded, record };
    const byPlan = isOvertaken(current, begun, seen.look, now);
    if (byPlan || isLookOld(record, seen.arrivedAt, now)) {
      const settled = settleFindings(current, resumed, now);
      const noted = noteGoodLook(settled.record, seen.look.snapshot.at, run.policy, now);
      const changes = ledgerChange(current, settled.ledger);
      return { save: { record: noted, changes }, result: { kind: "overtaken", byPlan } };
    }
    const basis = basisOf(record);
    if (made?.basis === basis) return savePlan(amend(made, current), seen.look);
    if (made !== undefined) {
      const isGrant = basisOf(record, made.on.record) !== made.basis;
      const isDemand = made.on.record.generation !== record.generation;
      met = { grants: met.grants + Number(isGrant), demand: met.demand + Number(isDemand) };
      if (met.demand > DECIDED_AGAIN && !isGrant) {
        const { ledger } = made.on.bodies;
        return savePlan(rebase(withoutStops(made.decision, ledger, () => true), record), seen.look);
      }
      if (met.grants >= DECIDED_AGAIN && !isPlanFirst(record, now)) {
        met = { ...met, grants: 0 };
        return { save: { record: letPlanFirst(loaded.record, now), changes: {} }, result: { kind: "plan-first" } };
      }
    }
    const settled = settleFindings(current, resumed, now);
    const doubt = doubtLook(settled.record, settled.ledger, seen.look.snapshot, run.policy);
    if (doubt !== undefined) return saveDoubt(settled.record, settled.ledger, doubt, seen.look, now);
    const bodies = { ...current.bodies, ledger: settled.ledger };
    const decision = decide(
      dropLostStops(settled.record, seen.look),
      bodies,
      seen.look,
      run.policy,
      now,
      run.owner,
      run.app.lanes.recallOf(run.site.cluster).plans,
    );
    made = { basis, decision, on: { ...current, bodies } };
    return savePlan(decision, seen.look);
  };
}

/** Others have committed creates since the look began, or have saved a later look. */
function isOvertaken({ record, bodies }: CurrentWhole, begun: Begun, look: Look, now: Instant): boolean {
  return !hasSameEffects(record, begun.effects) || isOlderLook(bodies.seen, look.snapshot.at, now);
}

/** All of the manifest that a decision rests on, with the demand of `demand`; what else accepts and wakes write does not change it. */
function basisOf(record: ClusterRecord, demand = record): string {
  const { epoch, plan, intents, inFlight, backoffs, suspicion, outage } = record;
  return JSON.stringify([epoch, plan, demand.generation, intents, inFlight, backoffs, suspicion, outage]);
}

/** The same decision on a manifest whose sets were only renewed, without the marks and stops of hosts whose report has changed. */
function amend({ decision, on }: Made, current: CurrentWhole): Decision {
  const hosts = changedHosts({ ...on.record, ...on.bodies }, { ...current.record, ...current.bodies });
  const held = hosts.size === 0 ? decision : withoutStops(decision, on.bodies.ledger, nodesOf(hosts));
  return rebase(held, current.record);
}

/** The decision on a record in which others have moved nothing but what senders said, looks and wakes. */
function rebase(decision: Decision, current: ClusterRecord): Decision {
  const { sets, separateReports, separatePools } = decision.record;
  const held = {
    sets: lapseAsDecided(current.sets, sets),
    separateReports: lapseAsDecided(current.separateReports, separateReports),
    separatePools: lapseAsDecided(current.separatePools, separatePools),
  };
  const { lookedAt: _look, looks: _looks, wakeAt: _at, wakeFor: _for, calls: _calls, ...record } = decision.record;
  const { generation, lookedAt, looks, wakeAt, wakeFor, rejections, calls } = current;
  const looked = lookedAt === undefined ? {} : { lookedAt, ...(looks === undefined ? {} : { looks }) };
  const wake = wakeAt === undefined || wakeFor === undefined ? {} : { wakeAt, wakeFor };
  const slow = calls === undefined ? {} : { calls };
  return { ...decision, record: { ...record, ...held, generation, rejections, ...looked, ...wake, ...slow } };
}

function lapseAsDecided(current: SetEntries, decided: SetEntries): SetEntries {
  const next = new Map(current);
  for (const [name, lapsed] of decided) {
    if (!lapsed.live && next.get(name)?.revision.value === lapsed.revision.value) next.set(name, lapsed);
  }
  return next;
}

function savePlan(decision: Decision, look: Look): Change<Concluded> {
  const { planBy: _saved, ...record } = decision.record;
  return {
    save: {
      record: withoutCoveredWake(record),
      changes: { ledger: decision.ledger, seen: look.snapshot, plan: decision.plan },
    },
    result: { kind: "planned", plan: decision.plan, ledger: decision.ledger },
  };
}

function saveDoubt(
  record: ClusterRecord,
  ledger: Ledger,
  doubt: Doubt,
  look: Look,
  now: Instant,
): Change<Concluded> {
  const detail = `${doubt.missing} of ${doubt.expected} nodes are missing at once; waiting for a second look`;
  const trouble: Trouble = { at: now, kind: "suspicious", message: detail };
  const { missing } = doubt;
  const since = suspectedSince(record, missing) ?? look.snapshot.at;
  return {
    save: { record: { ...record, trouble, suspicion: { since, missing, detail } }, changes: { ledger } },
    result: { kind: "troubled", trouble },
  };
}

function settleFindings(current: CurrentWhole, findings: readonly Finding[], now: Instant): Settled {
  const state: Settled = { record: current.record, ledger: current.bodies.ledger };
  return findings.reduce((settled, { id, evidence }) => settle(settled, id, evidence, now), state);
}

function ledgerChange({ bodies }: CurrentWhole, ledger: Ledger): { readonly ledger?: Ledger } {
  return ledger === bodies.ledger ? {} : { ledger };
}

/** A look that failed says nothing once a later one has been believed. */
function noteTrouble(
  current: CurrentWhole,
  findings: readonly Finding[],
  trouble: Trouble,
  { began, calls }: { readonly began: Instant; readonly calls: readonly MeasuredCall[] },
  now: Instant,
): Change<undefined> {
  const { lastGoodLookAt } = current.record;
  const { record, ledger } = settleFindings(current, findings, now);
  const noted = endLook(noteCalls(record, calls, now), began);
  const isOver = lastGoodLookAt !== undefined && trouble.at < lastGoodLookAt && lastGoodLookAt <= now;
  return {
    save: { record: isOver ? noted : { ...noted, trouble }, changes: ledgerChange(current, ledger) },
    result: undefined,
  };
}

/** Commits what was learnt; what is still open, or fell short, is followed up before the next tick. */
export async function settleAll(run: Run, findings: readonly Finding[]): Promise<void> {
  const { clock, queue } = run.app.ports;
  const ids = new Set(findings.map((finding) => finding.id));
  const calls = takeCalls(run);
  const committed = await commitWhole(run.app, run.site.cluster, (current): Change<Instant | undefined> => {
    const now = clock.now();
    const { record: settled, ledger } = settleFindings(current, findings, now);
    const noted = noteCalls(settled, calls, now);
    const due = followUpAt(noted, ids, now);
    const wake = due !== undefined && !isWakePending(noted, now, due);
    const record: ClusterRecord = wake ? { ...noted, wakeAt: due, wakeFor: "follow-up" } : noted;
    return { save: { record, changes: ledgerChange(current, ledger) }, result: wake ? due : undefined };
  });
  if (committed.kind === "committed" && committed.result !== undefined) {
    await queue.wake(run.site.cluster, committed.result);
  }
}

/** Once all is done, and for nobody's decision: a plan that cannot be kept is only not explained later. */
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
    ...(withheld === undefined
      ? {}
      : {
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
