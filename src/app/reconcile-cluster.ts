import type { Look } from "../decide/observe.ts";
import { doubtLook } from "../decide/observe.ts";
import { decide } from "../decide/reconcile.ts";
import type { Settled } from "../decide/settle.ts";
import { LEASE_SECONDS, settle } from "../decide/settle.ts";
import type { NodeId, Owner, RequestId } from "../domain/ids.ts";
import type { Plan } from "../domain/plan.ts";
import type { Policy } from "../domain/policy.ts";
import type { ClusterRecord, Intent, Trouble } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import { plusSeconds, secondsBetween } from "../domain/units.ts";
import type { App, Change, Current, CurrentWhole } from "./commit.ts";
import { commitRecord, commitWhole } from "./commit.ts";
import { withCredentials } from "./credentials.ts";
import type { Finding, Run } from "./effects.ts";
import { applyIntents, resumeIntents } from "./effects.ts";
import type { Site } from "./ports.ts";
import { PortError } from "./ports.ts";

/** Looks are so far apart: at most 13 in any 60 s (design.md section 3). */
export const LOOK_APART_SECONDS = 5;
/** A use case starts no effect later than this after its beginning. */
const EFFECTS_SECONDS = 180;
/** How often a plan that somebody else overtook is tried again before it is left to the timer. */
const ROUNDS = 3;
/** A wake message that is so late is taken for lost. */
const WAKE_LATE_SECONDS = 10;

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
  if (cause === "demand" && known !== undefined && isCovered(known, clock.now())) return { kind: "covered" };
  const run: Reconcile = {
    app,
    site,
    owner: entropy.owner(),
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
  /** Creates whose owner is gone; ours now. */
  readonly taken: readonly Intent[];
}

type Beginning =
  | Begun
  | { readonly kind: "covered" }
  | { readonly kind: "waiting"; readonly until: Instant; readonly wake: boolean };

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
    const wake = cause === "demand" && !isWakePending(record, now);
    const result: Beginning = { kind: "waiting", until, wake };
    if (!wake) return { result };
    return { save: { record: { ...record, wakeAt: until, wakeFor: "demand" }, changes: {} }, result };
  }
  const { record: reserved, taken } = takeOver(withoutDueWake(record, now), run.owner, now);
  const open = [...record.inFlight.map((entry) => entry.requestId), ...taken.map((intent) => intent.id)];
  return {
    save: { record: { ...reserved, lookedAt: now }, changes: {} },
    result: { kind: "begun", plan: record.plan, open, taken },
  };
}

/** A plan has observed this generation, nothing is under way, and no follow-up is due. */
function isCovered(record: ClusterRecord, now: Instant): boolean {
  const followUpDue = record.wakeFor === "follow-up" && record.wakeAt !== undefined && record.wakeAt <= now;
  return (
    record.observedGeneration === record.generation &&
    record.intents.length === 0 &&
    !followUpDue &&
    record.plan > 0
  );
}

function notBefore(record: ClusterRecord, owner: Owner, now: Instant): Instant | undefined {
  const leases = record.intents
    .filter((intent) => intent.effect.kind === "create" && intent.owner !== owner && intent.leaseUntil > now)
    .map((intent) => intent.leaseUntil);
  const nextLook = record.lookedAt === undefined ? now : plusSeconds(record.lookedAt, LOOK_APART_SECONDS);
  const until = leases.reduce((latest, lease) => (lease > latest ? lease : latest), nextLook);
  return until > now ? until : undefined;
}

function isWakePending(record: ClusterRecord, now: Instant): boolean {
  return record.wakeAt !== undefined && secondsBetween(record.wakeAt, now) < WAKE_LATE_SECONDS;
}

function withoutDueWake(record: ClusterRecord, now: Instant): ClusterRecord {
  if (record.wakeAt === undefined || record.wakeAt > now) return record;
  const { wakeAt: _at, wakeFor: _for, ...rest } = record;
  return rest;
}

/** After the lease anybody may go on with a create; a terminate is never replayed, so it is dropped and decided again. */
function takeOver(
  record: ClusterRecord,
  owner: Owner,
  now: Instant,
): { readonly record: ClusterRecord; readonly taken: readonly Intent[] } {
  const taken: Intent[] = [];
  const intents = record.intents.flatMap((intent) => {
    if (intent.leaseUntil > now && intent.owner !== owner) return [intent];
    if (intent.effect.kind === "terminate") return [];
    // Its owner may have sent it before it went: unless its only send is known to have been refused, that is unknown.
    const sent = intent.sent === "never" ? "maybe" : intent.sent;
    const ours: Intent = { ...intent, owner, leaseUntil: plusSeconds(now, LEASE_SECONDS), sent };
    taken.push(ours);
    return [ours];
  });
  return {
    record: taken.length === 0 && intents.length === record.intents.length ? record : { ...record, intents },
    taken,
  };
}

// ---------------------------------------------------------------- look, decide, apply, settle

async function lookAndDecide(run: Reconcile, begun: Begun): Promise<ReconcileOutcome> {
  const resumed = await resumeIntents(run, begun.taken);
  const looked = await lookAt(run, begun.open);
  const finishedAt = run.app.ports.clock.now();
  if (looked.kind === "trouble") {
    await commitWhole(run.app, run.site.cluster, (current) =>
      noteTrouble(current, resumed, looked.trouble, finishedAt),
    );
    return { kind: "troubled", trouble: looked.trouble };
  }
  const committed = await commitWhole(run.app, run.site.cluster, (current) =>
    conclude(run, current, begun, resumed, looked.look, finishedAt),
  );
  if (committed.kind === "contended" || committed.result.kind === "overtaken") return { kind: "overtaken" };
  if (committed.result.kind === "troubled") return committed.result;
  const { plan } = committed.result;
  logPlan(run, plan);
  const ours = committed.record.intents.filter(
    (intent) => intent.owner === run.owner && intent.committedAt === plan.at,
  );
  if (ours.length > 0) await settleAll(run, await applyIntents(run, ours));
  return { kind: "planned", plan };
}

type Looked =
  | { readonly kind: "look"; readonly look: Look }
  | { readonly kind: "trouble"; readonly trouble: Trouble };

/** One status with nodes, and the nodes of each request that is still open. */
async function lookAt(run: Reconcile, open: readonly RequestId[]): Promise<Looked> {
  const { app, site } = run;
  const at = app.ports.clock.now();
  try {
    const status = await withCredentials(app, site, () => site.cyclecloud.status(site.cluster, at));
    if (status.kind === "not-found") {
      return { kind: "trouble", trouble: { at, kind: "not-found", message: status.message } };
    }
    return { kind: "look", look: { snapshot: status.snapshot, requestNodes: await nodesOfOpen(run, open) } };
  } catch (error) {
    if (!(error instanceof PortError) || error.kind === "newer-state") throw error;
    return { kind: "trouble", trouble: { at, kind: error.kind, message: error.message } };
  }
}

/** A request that cannot be asked for stays in flight whole: too little is created then, never too much. */
async function nodesOfOpen(
  run: Reconcile,
  open: readonly RequestId[],
): Promise<ReadonlyMap<RequestId, readonly NodeId[]>> {
  const { app, site } = run;
  const found = new Map<RequestId, readonly NodeId[]>();
  for (const id of open) {
    try {
      found.set(id, await withCredentials(app, site, () => site.cyclecloud.nodesOfRequest(site.cluster, id)));
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      app.ports.log("nodes-of-request-failed", {
        cluster: site.cluster,
        id,
        kind: error.kind,
        message: error.message,
      });
    }
  }
  return found;
}

type Concluded =
  | { readonly kind: "planned"; readonly plan: Plan }
  | { readonly kind: "troubled"; readonly trouble: Trouble }
  | { readonly kind: "overtaken" };

/**
 * Decides on this look, unless another plan was committed since it was begun: then the look is too old, and we look again. If only
 * demand moved meanwhile, the same look serves (at most 5 s old).
 */
function conclude(
  run: Reconcile,
  current: CurrentWhole,
  begun: Begun,
  resumed: readonly Finding[],
  look: Look,
  finishedAt: Instant,
): Change<Concluded> {
  const now = run.app.ports.clock.now();
  if (current.record.plan !== begun.plan || secondsBetween(finishedAt, now) > LOOK_APART_SECONDS) {
    return { ...saveSettled(current, settleFindings(current, resumed, now)), result: { kind: "overtaken" } };
  }
  const { record, ledger } = settleFindings(current, resumed, now);
  const doubt = doubtLook(record, ledger, look.snapshot, run.policy);
  if (doubt !== undefined) {
    const message = `${doubt.missing} of ${doubt.expected} nodes are missing at once; waiting for a second look`;
    const trouble: Trouble = { at: now, kind: "suspicious", message };
    const since = record.suspicion?.kind === "lost-nodes" ? record.suspicion.since : look.snapshot.at;
    return {
      save: {
        record: { ...record, trouble, suspicion: { kind: "lost-nodes", since, detail: message } },
        changes: { ledger },
      },
      result: { kind: "troubled", trouble },
    };
  }
  const decision = decide(record, { ...current.bodies, ledger }, look, run.policy, now, run.owner);
  const changes = { ledger: decision.ledger, seen: look.snapshot, plan: decision.plan };
  return {
    save: { record: withoutCoveredWake(decision.record), changes },
    result: { kind: "planned", plan: decision.plan },
  };
}

/** The plan has seen the demand that the wake message was for: it need not cause another look. */
function withoutCoveredWake(record: ClusterRecord): ClusterRecord {
  if (record.wakeFor !== "demand") return record;
  const { wakeAt: _at, wakeFor: _for, ...rest } = record;
  return rest;
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
  const committed = await commitWhole(run.app, run.site.cluster, (current): Change<Instant | undefined> => {
    const now = clock.now();
    const settled = settleFindings(current, findings, now);
    const due = followUpAt(settled.record, findings, now);
    const wake = due !== undefined && !isWakePending(settled.record, now);
    const record: ClusterRecord = wake
      ? { ...settled.record, wakeAt: due, wakeFor: "follow-up" }
      : settled.record;
    return { save: { record, changes: { ledger: settled.ledger } }, result: wake ? due : undefined };
  });
  if (committed.kind === "committed" && committed.result !== undefined) {
    await queue.wake(run.site.cluster, committed.result);
  }
}

function followUpAt(record: ClusterRecord, findings: readonly Finding[], now: Instant): Instant | undefined {
  const ours = new Set(findings.map((finding) => finding.id));
  const open = record.intents.filter((intent) => ours.has(intent.id)).map((intent) => intent.leaseUntil);
  const soonest = open.length === 0 ? undefined : open.reduce((a, b) => (a < b ? a : b));
  if (soonest !== undefined) return soonest > now ? soonest : plusSeconds(now, LOOK_APART_SECONDS);
  const pausedNow = record.backoffs.some((entry) => entry.until - entry.seconds * 1000 === now);
  return pausedNow ? plusSeconds(now, LOOK_APART_SECONDS) : undefined;
}

function logPlan(run: Reconcile, plan: Plan): void {
  const unmet = plan.demands.filter((outcome) => outcome.placed < outcome.asked).length;
  run.app.ports.log("plan", {
    cluster: run.site.cluster,
    plan: plan.number,
    create: plan.creates.reduce((sum, effect) => sum + effect.count, 0),
    terminate: plan.terminates.length,
    demands: plan.demands.length,
    unmet,
  });
}
