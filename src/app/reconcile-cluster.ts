import type { Decision } from "../decide/reconcile.ts";
import { decide } from "../decide/reconcile.ts";
import type { Settled } from "../decide/settle.ts";
import { settle } from "../decide/settle.ts";
import type { Lacking } from "../decide/unclear.ts";
import { findLacking } from "../decide/unclear.ts";
import {
  dropLostStops,
  followUpAt,
  isCovered,
  isWakePending,
  LOOK_APART_SECONDS,
  notBefore,
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
import { isoTime, plusSeconds, secondsBetween } from "../domain/units.ts";
import type { App, Change, Current, CurrentWhole } from "./commit.ts";
import { commitRecord, commitWhole } from "./commit.ts";
import type { Finding, Run } from "./effects.ts";
import { applyIntents, askIntents, resendIntents } from "./effects.ts";
import type { Seen } from "./look-at-cluster.ts";
import { lookAtCluster } from "./look-at-cluster.ts";
import type { Site } from "./ports.ts";
import { PortError } from "./ports.ts";

/** A use case starts no effect later than this after its beginning. */
const EFFECTS_SECONDS = 180;
/** How often a plan that somebody else overtook is tried again before it is left to the timer. */
const ROUNDS = 3;

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
  /** Others planned every time: left to the timer. */
  | { readonly kind: "overtaken" };

interface Reconcile extends Run {
  readonly owner: Owner;
  /** A wake message brought us here: if the record still waits for one that is due, this is it. */
  readonly woken: boolean;
  readonly policy: Policy;
}

/** Reads like the protocol of design.md section 3: look at most every 5 s, decide, commit, apply, settle. */
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
    site,
    owner,
    woken: cause === "demand" && known === undefined,
    policy: await app.ports.policyOf(site.cluster),
    deadline: plusSeconds(clock.now(), EFFECTS_SECONDS),
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    const begun = await beginLook(run, cause);
    if (begun.kind !== "begun") return begun;
    const outcome = await lookAndDecide(run, begun);
    if (outcome.kind !== "overtaken") return outcome;
  }
  return { kind: "overtaken" };
}

// ---------------------------------------------------------------- whose turn it is

interface Begun {
  readonly kind: "begun";
  readonly plan: number;
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

/** Reserves the look in the record, so that two instances never look at once; or says why not now. */
async function beginLook(
  run: Reconcile,
  cause: Cause,
): Promise<Exclude<Beginning, { wake: boolean }> | ReconcileOutcome> {
  const { clock, queue } = run.app.ports;
  for (;;) {
    const committed = await commitRecord(run.app, run.site.cluster, (current) =>
      begin(run, current, cause, clock.now()),
    );
    if (committed.kind === "contended") return { kind: "overtaken" };
    const beginning = committed.result;
    if (beginning.kind !== "waiting") return beginning;
    if (cause === "tick" && clock.now() < run.deadline) {
      await clock.sleep(Math.max(1, beginning.until - clock.now()));
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
    if (!wake) return { result };
    return { save: { record: { ...record, wakeAt: until, wakeFor: "demand" }, changes: {} }, result };
  }
  const { record: reserved, taken } = takeOver(withoutDueWake(record, now), run.owner, now);
  const resumed = taken.filter(({ effect }) => effect.kind === "create").map((intent) => intent.id);
  const open = [...record.inFlight.map((entry) => entry.requestId), ...resumed];
  return {
    save: { record: { ...reserved, lookedAt: now }, changes: {} },
    result: { kind: "begun", plan: record.plan, open, taken },
  };
}

// ---------------------------------------------------------------- look, decide, apply, settle

async function lookAndDecide(run: Reconcile, begun: Begun): Promise<ReconcileOutcome> {
  const asked = await askIntents(run, begun.taken);
  const looked = await lookAtCluster(run, begun.open);
  if (looked.kind === "trouble") {
    await commitWhole(run.app, run.site.cluster, (current) =>
      noteTrouble(current, asked, looked.trouble, run.app.ports.clock.now()),
    );
    return { kind: "troubled", trouble: looked.trouble };
  }
  const resumed = await resendIntents(run, begun.taken, asked, looked.templates);
  const conclude = concluder(run, begun, resumed, looked);
  const committed = await commitWhole(run.app, run.site.cluster, conclude);
  if (committed.kind === "contended" || committed.result.kind === "overtaken") return { kind: "overtaken" };
  if (committed.result.kind === "troubled") return committed.result;
  const { plan, ledger } = committed.result;
  logPlan(run, plan, committed.record);
  const ours = committed.record.intents.filter(
    (intent) => intent.owner === run.owner && intent.committedAt === plan.at,
  );
  if (ours.length > 0) await settleAll(run, await applyIntents(run, ours, looked.templates));
  await keepReasons(run, plan, ledger);
  return { kind: "planned", plan };
}

type Concluded =
  | { readonly kind: "planned"; readonly plan: Plan; readonly ledger: Ledger }
  | { readonly kind: "troubled"; readonly trouble: Trouble }
  | { readonly kind: "overtaken" };

/**
 * Decides on this look, unless another plan was committed since it was begun: then the look is too old, and we look again. If only
 * demand moved meanwhile, the same look serves (at most 5 s old); if not even that, the decision itself does: mere renewals, however
 * many, cannot keep a plan from being committed.
 */
function concluder(
  run: Reconcile,
  begun: Begun,
  resumed: readonly Finding[],
  seen: Seen,
): (current: CurrentWhole) => Change<Concluded> {
  let made: { readonly basis: string; readonly decision: Decision } | undefined;
  return (current) => {
    const now = run.app.ports.clock.now();
    const basis = basisOf(current.record);
    if (made?.basis === basis) return savePlan(rebase(made.decision, current.record));
    if (current.record.plan !== begun.plan || secondsBetween(seen.arrivedAt, now) > LOOK_APART_SECONDS) {
      return {
        ...saveSettled(current, settleFindings(current, resumed, now)),
        result: { kind: "overtaken" },
      };
    }
    const { record, ledger } = settleFindings(current, resumed, now);
    const lacking = findLacking(record, seen.look.snapshot);
    if (lacking !== undefined && now < lacking.until) return saveLacking(record, ledger, lacking, now);
    const decision = decide(
      dropLostStops(record, seen.look),
      { ...current.bodies, ledger },
      seen.look,
      run.policy,
      now,
      run.owner,
      run.app.lanes.recallOf(run.site.cluster).plans,
    );
    made = { basis, decision };
    return savePlan(decision);
  };
}

/** All of the manifest that a decision rests on; what else accepts and wakes write does not change it. */
function basisOf(record: ClusterRecord): string {
  const {
    epoch,
    plan,
    generation,
    intents,
    inFlight,
    backoffs,
    outage,
    targetStatesLackedSince: lacked,
  } = record;
  return JSON.stringify([epoch, plan, generation, intents, inFlight, backoffs, lacked, outage]);
}

/** The same decision on a manifest whose sets were only renewed. */
function rebase(decision: Decision, current: ClusterRecord): Decision {
  const { sets, separateReports, separatePools } = decision.record;
  const held = {
    sets: lapseAsDecided(current.sets, sets),
    separateReports: lapseAsDecided(current.separateReports, separateReports),
    separatePools: lapseAsDecided(current.separatePools, separatePools),
  };
  const { lookedAt: _look, wakeAt: _at, wakeFor: _for, ...record } = decision.record;
  const { lookedAt, wakeAt, wakeFor, rejections } = current;
  const looked = lookedAt === undefined ? {} : { lookedAt };
  const wake = wakeAt === undefined || wakeFor === undefined ? {} : { wakeAt, wakeFor };
  return { ...decision, record: { ...record, ...held, rejections, ...looked, ...wake } };
}

function lapseAsDecided(current: SetEntries, decided: SetEntries): SetEntries {
  const next = new Map(current);
  for (const [name, lapsed] of decided) {
    if (!lapsed.live && next.get(name)?.revision.value === lapsed.revision.value) next.set(name, lapsed);
  }
  return next;
}

function savePlan(decision: Decision): Change<Concluded> {
  return {
    save: {
      record: withoutCoveredWake(decision.record),
      changes: { ledger: decision.ledger, seen: decision.seen, plan: decision.plan },
    },
    result: { kind: "planned", plan: decision.plan, ledger: decision.ledger },
  };
}

/** A status whose records mostly lack TargetState is not believed for a while (docs/protocol.md, Doubt). */
function saveLacking(
  record: ClusterRecord,
  ledger: Ledger,
  { lacking, of, since, until }: Lacking,
  now: Instant,
): Change<Concluded> {
  const found = `found ${lacking} of ${of} node records without TargetState, expected it in each`;
  const message = `${found}; if that goes on, it is believed from ${isoTime(until)} on`;
  const trouble: Trouble = { at: now, kind: "suspicious", message };
  return {
    save: { record: { ...record, trouble, targetStatesLackedSince: since }, changes: { ledger } },
    result: { kind: "troubled", trouble },
  };
}

function settleFindings(current: CurrentWhole, findings: readonly Finding[], now: Instant): Settled {
  const state: Settled = { record: current.record, ledger: current.bodies.ledger };
  return findings.reduce((settled, { id, evidence }) => settle(settled, id, evidence, now), state);
}

function saveSettled(current: CurrentWhole, settled: Settled): Pick<Change<never>, "save"> {
  if (settled.record === current.record) return {};
  return { save: { record: settled.record, changes: { ledger: settled.ledger } } };
}

function noteTrouble(
  current: CurrentWhole,
  findings: readonly Finding[],
  trouble: Trouble,
  now: Instant,
): Change<undefined> {
  const settled = settleFindings(current, findings, now);
  return {
    save: { record: { ...settled.record, trouble }, changes: { ledger: settled.ledger } },
    result: undefined,
  };
}

/** Commits what was learnt; what is still open, or fell short, is followed up before the next tick. */
export async function settleAll(run: Run, findings: readonly Finding[]): Promise<void> {
  const { clock, queue } = run.app.ports;
  const ids = new Set(findings.map((finding) => finding.id));
  const committed = await commitWhole(run.app, run.site.cluster, (current): Change<Instant | undefined> => {
    const now = clock.now();
    const settled = settleFindings(current, findings, now);
    const due = followUpAt(settled.record, ids, now);
    const wake = due !== undefined && !isWakePending(settled.record, now, due);
    const record: ClusterRecord = wake
      ? { ...settled.record, wakeAt: due, wakeFor: "follow-up" }
      : settled.record;
    return { save: { record, changes: { ledger: settled.ledger } }, result: wake ? due : undefined };
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
