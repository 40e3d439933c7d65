import { withoutStops } from "../decide/record/amend.ts";
import type { MeasuredCall } from "../decide/pace/calls.ts";
import { noteCalls } from "../decide/pace/calls.ts";
import type { Effects } from "../decide/pace/observation-times.ts";
import {
  endObservation,
  hasSameEffects,
  isObservationOld,
  isOlderObservation,
  isPlanFirst,
  letPlanFirst,
  noteGoodObservation,
} from "../decide/pace/observation-times.ts";
import { isRemembered, retireSets } from "../decide/record/finished-sets.ts";
import type { FinishedSet } from "../domain/finished-set.ts";
import { restSeconds, tickAfterPlan, tickSoon } from "../decide/pace/next-tick.ts";
import type { Lacking } from "../decide/nodes/unclear.ts";
import { findLacking } from "../decide/nodes/unclear.ts";
import { presumeShown } from "../decide/nodes/presume-shown.ts";
import { decide } from "../decide/reconcile.ts";
import { settle } from "../decide/intents/settle.ts";
import { foldQuestions } from "../decide/stops/questions.ts";
import { withoutContradicted } from "../decide/stops/still-idle.ts";
import { endOldStops, settleStopsByObservation } from "../decide/intents/stops.ts";
import { isWakePending, withoutCoveredWake } from "../decide/record/whose-turn.ts";
import type { Owner, WakeId } from "../domain/ids.ts";
import type { Plan } from "../domain/plan.ts";
import type { Policy } from "../domain/policy.ts";
import { NO_QUESTIONS } from "../domain/questions.ts";
import type { Ledger } from "../domain/ledger.ts";
import type { ClusterRecord } from "../domain/record.ts";
import type { SetEntries, SetEntry } from "../domain/request-sets.ts";
import type { Trouble } from "../domain/troubles.ts";
import type { Instant, Seconds } from "../domain/units.ts";
import { isoTime, plusSeconds } from "../domain/units.ts";
import type { Change } from "./commit.ts";
import type { Finding } from "./effects.ts";
import type { BodyChanges } from "./ports/record-store.ts";
import type { Seen } from "./observe-cluster.ts";
import { tryVirtualFleet } from "./try-virtual-fleet.ts";
import type { Observation } from "../domain/observation.ts";
import type { Settled } from "../decide/intents/evidence.ts";
import type { Decision } from "../domain/decision.ts";
import type { CurrentWhole } from "./current.ts";
import type { Run } from "./run.ts";

/** The result of an observation: the change of the record that follows from it (docs/protocol.md, Plans). */

/** A plan is decided again this often because demand, marks or grants changed while it was being saved. */
const DECIDED_AGAIN = 2;

/** A run that observes and decides. */
export interface Planner extends Run {
  readonly owner: Owner;
  /** The wake message of this tick. Absent: no wake message triggered the run. */
  readonly broughtBy?: WakeId;
  readonly policy: Policy;
}

/** When an observation began, and what had been committed by then. */
export interface ObservationBegun {
  readonly at: Instant;
  readonly effects: Effects;
}

export type Concluded =
  /** `wakeAt`: a follow-up is due then, and its wake message must be sent. */
  | { readonly kind: "planned"; readonly plan: Plan; readonly ledger: Ledger; readonly wakeAt?: Instant }
  /** CycleCloud did not answer, or its answer is not accepted: no plan. */
  | { readonly kind: "troubled"; readonly trouble: Trouble }
  /** `byPlan`: another instance committed a plan first. Otherwise the observation is too old, or there were too many conflicts. */
  | { readonly kind: "overtaken"; readonly byPlan: boolean };

/** The calls that ended since the record last received any. */
export function takeCalls({ app, site }: Run): readonly MeasuredCall[] {
  return app.lanes.memoryOf(site.cluster).calls.take();
}

interface Made {
  readonly basis: string;
  readonly decision: Decision;
  readonly on: CurrentWhole;
}

/**
 * Decides on this observation unless it is too old: others have since committed creates or saved a later one. If demand, marks or grants
 * changed while the decision was being saved, decides again on the same observation. None of these can keep a plan from being saved. After
 * renewals the decision still holds. Marks and grants wait for a plan that has met them twice. If demand changes all the time, the creates
 * of a decision stand, and its marks and stops are left out.
 */
export function concluder(
  run: Planner,
  begun: ObservationBegun,
  resumed: readonly Finding[],
  seen: Seen,
): (current: CurrentWhole) => Change<Concluded | { readonly kind: "plan-first" }> {
  const { clock } = run.app.ports;
  const calls = takeCalls(run);
  let made: Made | undefined;
  let met = { grants: 0, demand: 0 };
  return (loaded) => {
    const now = clock.now();
    const record = endObservation(noteCalls(loaded.record, calls, now), begun.at);
    const current: CurrentWhole = { ...loaded, record };
    const byPlan = isOvertaken(current, begun, seen.observation, now);
    if (byPlan || isObservationOld(record, seen.arrivedAt, now)) {
      const settled = settleFindings(current, resumed, now);
      return saveOvertaken(current, settled, seen.observation, run.policy, byPlan, now);
    }
    const basis = basisOf(record);
    if (made?.basis === basis) return savePlan(amend(made, current, run.policy, now), run);
    if (made !== undefined) {
      const isGrant = basisOf(record, made.on.record) !== made.basis;
      const isDemand = made.on.record.generation !== record.generation;
      met = { grants: met.grants + Number(isGrant), demand: met.demand + Number(isDemand) };
      if (met.demand > DECIDED_AGAIN && !isGrant) {
        const { ledger } = made.on.bodies;
        const decision = withoutStops(made.decision, ledger);
        return savePlan(amend({ ...made, decision }, current, run.policy, now), run);
      }
      if (met.grants >= DECIDED_AGAIN && !isPlanFirst(record, now)) {
        const save = { record: letPlanFirst(loaded.record, now), changes: {} };
        return { save, result: { kind: "plan-first" } };
      }
    }
    const settled = settleFindings(current, resumed, now);
    const lacking = findLacking(settled.record, seen.observation.snapshot);
    if (lacking !== undefined && now < lacking.until)
      return saveLacking(run, current, endOldStops(settled, now), lacking, now);
    const stops = settleStopsByObservation(settled, seen.observation.snapshot, now);
    const { ledger, questions = NO_QUESTIONS } = stops;
    const bodies = { ...current.bodies, ledger, questions };
    const { plans, virtual } = run.app.lanes.recallOf(run.site.cluster);
    const { policy, owner } = run;
    const shown = presumeShown(stops.record, ledger, seen.observation, now);
    const decision = tryVirtualFleet(
      decide(shown, bodies, seen.observation, policy, now, owner, plans),
      { bodies, policy, now, owner, recall: virtual },
      run.app.ports.log,
    );
    made = { basis, decision, on: { ...current, bodies } };
    return savePlan(decision, run);
  };
}

/** No decision: saves what was settled, and that the tick took place. */
function saveOvertaken(
  current: CurrentWhole,
  settled: Settled,
  observation: Observation,
  policy: Policy,
  byPlan: boolean,
  now: Instant,
): Change<Concluded> {
  const record = noteGoodObservation(settled.record, observation.snapshot.at, policy, now);
  const changes = changesOf(current, settled);
  return { save: { record, changes }, result: { kind: "overtaken", byPlan } };
}

/** Others have committed creates since the observation began, or have saved a later observation. */
function isOvertaken(
  { record, bodies }: CurrentWhole,
  begun: ObservationBegun,
  observation: Observation,
  now: Instant,
): boolean {
  const isOlder = isOlderObservation(bodies.seen, observation.snapshot.at, now);
  return !hasSameEffects(record, begun.effects) || isOlder;
}

/** All parts of the manifest that a decision depends on, with the demand of `demand`. Accepts and wakes change no other part. */
function basisOf(record: ClusterRecord, demand = record): string {
  const { epoch, plan, intents, inFlight, backoffs, outage, targetStatesLackedSince: lacked } = record;
  return JSON.stringify([epoch, plan, demand.generation, intents, inFlight, backoffs, lacked, outage]);
}

/**
 * The same decision on a manifest whose sets were only renewed, without marks and stops that a newer report or answer contradicts. Keeps
 * questions that nodes asked meanwhile.
 */
function amend({ decision }: Made, { record, bodies }: CurrentWhole, policy: Policy, now: Instant): Decision {
  const questions = foldQuestions(bodies.questions ?? NO_QUESTIONS, now);
  return rebase({ ...withoutContradicted(decision, record, bodies, policy, now), questions }, record);
}

/** The decision on a record in which others changed only messages of senders, observations and wakes. */
function rebase(decision: Decision, current: ClusterRecord): Decision {
  const { sets, separateReports, separatePools } = decision.record;
  const held = {
    sets: lapseAsDecided(current.sets, sets),
    separateReports: lapseAsDecided(current.separateReports, separateReports),
    separatePools: lapseAsDecided(current.separatePools, separatePools),
  };
  const {
    lookedAt: _observedAt,
    looks: _observations,
    wakeAt: _at,
    wakeFor: _for,
    nextTickAt: _next,
    restsUntil: _rest,
    pendingWake: _pending,
    calls: _calls,
    ...record
  } = decision.record;
  const { generation, lookedAt, looks, wakeAt, wakeFor, rejections, calls } = current;
  const { nextTickAt, restsUntil, pendingWake } = current;
  const ticks = {
    ...(nextTickAt === undefined ? {} : { nextTickAt }),
    ...(restsUntil === undefined ? {} : { restsUntil }),
    ...(pendingWake === undefined ? {} : { pendingWake }),
  };
  const looked = lookedAt === undefined ? {} : { lookedAt, ...(looks === undefined ? {} : { looks }) };
  const wake = wakeAt === undefined || wakeFor === undefined ? {} : { wakeAt, wakeFor };
  const slow = calls === undefined ? {} : { calls };
  const moved = { ...held, generation, rejections, ...looked, ...wake, ...ticks, ...slow };
  return { ...decision, record: { ...record, ...moved } };
}

function lapseAsDecided(current: SetEntries, decided: SetEntries): SetEntries {
  const next = new Map(current);
  for (const [name, lapsed] of decided) {
    const held = next.get(name);
    if (!lapsed.live && held !== undefined && isSameMessage(held, lapsed)) next.set(name, lapsed);
  }
  return next;
}

/** A sender may renew a set under the same revision. */
function isSameMessage(a: SetEntry, b: SetEntry): boolean {
  return a.revision.value === b.revision.value && a.expiresAt === b.expiresAt;
}

function savePlan(decision: Decision, run: Planner): Change<Concluded> {
  const { plan, seen, ledger, virtual } = decision;
  const { planBy: _saved, ...planned } = decision.record;
  const { record, changes } = retire(withoutCoveredWake(planned), run.policy, plan.at);
  const wakeAt = followUpOf(decision, record);
  const followed: ClusterRecord = wakeAt === undefined ? record : { ...record, wakeAt, wakeFor: "follow-up" };
  // Virtual nodes boot, idle and stop by the minute, like real ones.
  const isMoving = (virtual?.nodes.length ?? 0) > 0;
  const rest = isMoving ? undefined : restSeconds(followed, seen, ledger, plan);
  return {
    save: {
      record: tickAfterPlan(followed, rest, run, plan.at),
      changes: {
        ...changes,
        ledger,
        questions: decision.questions,
        seen,
        plan,
        ...(virtual === undefined ? {} : { virtual }),
      },
    },
    result: {
      kind: "planned",
      plan,
      ledger,
      ...(wakeAt === undefined ? {} : { wakeAt }),
    },
  };
}

/** By then CycleCloud has usually accepted the stops of a plan. */
const STOPS_ACCEPTED_SECONDS: Seconds = 5;

/** When to observe again for replacements that wait for the plan's stops. Undefined: none wait, or an observation is due anyway. */
function followUpOf({ waitsForStops, plan }: Decision, record: ClusterRecord): Instant | undefined {
  if (waitsForStops !== true) return undefined;
  const due = plusSeconds(plan.at, STOPS_ACCEPTED_SECONDS);
  return isWakePending(record, plan.at, due) ? undefined : due;
}

/** Finished sets leave the record in each tick, whether it makes a plan or finds that none is possible. A renewal never removes them. */
function retire(
  whole: ClusterRecord,
  { maxExpirationSeconds }: Policy,
  now: Instant,
): { readonly record: ClusterRecord; readonly changes: Pick<BodyChanges, "finished"> } {
  const { record, finished } = retireSets(whole);
  if (finished.size === 0) return { record, changes: {} };
  const isKept = (set: FinishedSet) => isRemembered(set, maxExpirationSeconds, now);
  return { record, changes: { finished: { sets: finished, isKept } } };
}

/** A status in which most records lack TargetState is not accepted for a while (docs/protocol.md, Doubt). */
function saveLacking(
  run: Planner,
  current: CurrentWhole,
  settled: Settled,
  { lacking, of, since, until }: Lacking,
  now: Instant,
): Change<Concluded> {
  const found = `found ${lacking} of ${of} node records without TargetState, expected it in each`;
  const message = `${found}; if that continues, it is accepted from ${isoTime(until)} on`;
  const trouble: Trouble = { at: now, kind: "suspicious", message };
  const record = tickSoon({ ...settled.record, trouble, targetStatesLackedSince: since }, run, now);
  return { save: { record, changes: changesOf(current, settled) }, result: { kind: "troubled", trouble } };
}

export function settleFindings(current: CurrentWhole, findings: readonly Finding[], now: Instant): Settled {
  const { ledger, questions } = current.bodies;
  const state: Settled = {
    record: current.record,
    ledger,
    ...(questions === undefined ? {} : { questions }),
  };
  return findings.reduce((settled, { id, evidence }) => settle(settled, id, evidence, now), state);
}

/** Findings about creates and starts are in the ledger, those about stops in the questions. Only changed parts are written. */
export function changesOf({ bodies }: CurrentWhole, { ledger, questions }: Settled): BodyChanges {
  return {
    ...(ledger === bodies.ledger ? {} : { ledger }),
    ...(questions === undefined || questions === bodies.questions ? {} : { questions }),
  };
}

/** A failed observation is not reported once a later one has been accepted. */
export function noteTrouble(
  run: Planner,
  current: CurrentWhole,
  findings: readonly Finding[],
  trouble: Trouble,
  { began, calls }: { readonly began: Instant; readonly calls: readonly MeasuredCall[] },
): Change<undefined> {
  const now = run.app.ports.clock.now();
  const { lastGoodLookAt } = current.record;
  const settled = endOldStops(settleFindings(current, findings, now), now);
  const noted = endObservation(noteCalls(settled.record, calls, now), began);
  const isOver = lastGoodLookAt !== undefined && trouble.at < lastGoodLookAt && lastGoodLookAt <= now;
  const troubled = tickSoon(isOver ? noted : { ...noted, trouble }, run, now);
  const { record, changes } = retire(troubled, run.policy, now);
  return { save: { record, changes: { ...changes, ...changesOf(current, settled) } }, result: undefined };
}
