import { withoutStops } from "../../decide/record/amend.ts";
import type { MeasuredCall } from "../../decide/pace/calls.ts";
import { endPlanning } from "../../decide/record/processes.ts";
import { noteCalls, noteUnseen } from "../../decide/pace/calls.ts";
import {
  endObservation,
  hasSameEffects,
  isLanding,
  isObservationOld,
  isOlderObservation,
  isPlanFirst,
  letPlanFirst,
  lostPriority,
  noteGoodObservation,
} from "../../decide/pace/observation-times.ts";
import { tickSoon } from "../../decide/pace/next-tick.ts";
import type { Lacking } from "../../decide/nodes/missing.ts";
import { findLacking } from "../../decide/nodes/missing.ts";
import { presumeShown } from "../../decide/nodes/presume-shown.ts";
import { withDearDemand } from "../../decide/need/dear-demand.ts";
import { decide } from "../../decide/reconcile/reconcile.ts";
import { endOldStops, settleStopsByObservation } from "../../decide/intents/stops.ts";
import type { Policy } from "../../domain/policy.ts";
import { NO_QUESTIONS } from "../../domain/questions.ts";
import type { ClusterRecord, Observation } from "../../domain/record.ts";
import { NO_SENDER_RULES } from "../../domain/sender-rules.ts";
import type { ReconcileFailure } from "../../domain/troubles.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { isoTime, secondsBetween } from "../../domain/units.ts";
import type { Change } from "../record/commit.ts";
import type { Finding } from "../effects/effects.ts";
import type { Seen } from "./observe-cluster.ts";
import { isEarly } from "../../domain/record.ts";
import type { Settled } from "../../decide/intents/evidence.ts";
import type { CurrentInForce, CurrentWhole } from "../record/load-record.ts";
import { basisOf, amend } from "./amend-decision.ts";
import type { Made } from "./amend-decision.ts";
import type { Planner, ObservationBegun, Concluded } from "../effects/run.ts";
import { savePlan, retire } from "./save-plan.ts";
import { settleFindings, changesOf, takeCalls } from "../effects/settle-all.ts";
import type { Decision } from "../../domain/decision.ts";
import { withVirtualFleet, type VirtualInput } from "../../decide/virtual/plan-virtual.ts";
import type { Log } from "../ports/ports.ts";

/** A plan is decided again this often because demand, marks, grants or the configuration changed while it was being saved. */
const DECIDED_AGAIN = 2;
/** Half of the time for which an observation is decided on. */
const NEW_SECONDS: Seconds = 15;

/**
 * What an observation changes in the record (docs/protocol.md, Plans). Decides unless the observation is too old: others have since
 * committed creates or saved a later one. The result is called once for each try to save. If demand, marks, grants or the configuration
 * changed in between, it decides again on the same observation. None of these can keep a plan from being saved: see {@link saveAgain} and
 * {@link needsPriority}.
 */
export function concluder(
  planner: Planner,
  begun: ObservationBegun,
  resumed: readonly Finding[],
  seen: Seen,
): (current: CurrentInForce) => Change<Concluded | { readonly kind: "plan-first" }> {
  const { clock } = planner.app.ports;
  const calls = takeCalls(planner);
  let made: Made | undefined;
  let met: Met = { grants: 0, demand: 0, configurations: 0 };
  return (loaded) => {
    const now = clock.now();
    const run: Planner = { ...planner, policy: loaded.policy };
    const noted = noteCalls(loaded.record, calls, run.policy, now);
    const { arrivedAt } = seen;
    const timed = noteUnseen(noted, { began: seen.observation.snapshot.at, arrivedAt }, run.policy);
    const record = endPlanning(endObservation(timed, begun.at), run.app.lanes.process);
    const current: CurrentInForce = { ...loaded, record };
    const observation = asProof(seen.observation, record);
    const settled = settleFindings(current, resumed, now);
    const byPlan = isOvertaken(current, begun, observation, now);
    if (byPlan || isTooOld(record, arrivedAt, now))
      return saveOvertaken(current, settled, observation, run.policy, { byPlan }, now);
    if (made !== undefined) {
      met = countMet(met, made, current, now);
      const again = saveAgain(run, made, met, current, now);
      if (again !== undefined) return again;
    }
    if (needsPriority(met, record, now)) {
      const save = { record: letPlanFirst(loaded.record, now), changes: {} };
      return { save, result: { kind: "plan-first" } };
    }
    if (isLanding(record, now)) return { result: { kind: "plan-first" } };
    const lacking = findLacking(settled.record, observation.snapshot);
    if (lacking !== undefined && now < lacking.until)
      return saveLacking(run, current, endOldStops(settled, now), lacking, now);
    made = decideOn(run, current, settled, observation, now);
    return savePlan(made.decision, run);
  };
}

/** The observation, with a note if a standstill of CycleCloud makes it prove less (docs/protocol.md, Standstills). */
function asProof(observation: Observation, record: ClusterRecord): Observation {
  const { snapshot } = observation;
  if (!isEarly(record, snapshot.at)) return observation;
  return { ...observation, snapshot: { ...snapshot, early: true } };
}

/** How often marks or grants, demand, and the configuration changed while a decision was being saved. */
interface Met {
  readonly grants: number;
  readonly demand: number;
  readonly configurations: number;
}

/** While the plan has priority, only demand counts: what comes then was under way before. */
function countMet(met: Met, made: Made, { record, policy }: CurrentInForce, now: Instant): Met {
  const demand = met.demand + Number(made.on.record.generation !== record.generation);
  if (isPlanFirst(record, now)) return { grants: 0, demand, configurations: 0 };
  return {
    grants: met.grants + Number(hasOtherGrants(made, record)),
    demand,
    configurations: met.configurations + Number(!isUnder(made, policy)),
  };
}

/** Whether a decision was made under this configuration. */
function isUnder({ on }: Made, { document }: Policy): boolean {
  return on.policy.document === document;
}

/** Whether others have to wait for the plan: they kept it from being saved twice, or the plan before lost its priority. */
function needsPriority({ grants, configurations }: Met, record: ClusterRecord, now: Instant): boolean {
  if (isPlanFirst(record, now)) return false;
  return lostPriority(record, now) || grants >= DECIDED_AGAIN || configurations >= DECIDED_AGAIN;
}

/** The longer priority of a plan that lost it is for an observation that can be decided on until its end. */
function isTooOld(record: ClusterRecord, arrivedAt: Instant, now: Instant): boolean {
  const isLate = lostPriority(record, now) && secondsBetween(arrivedAt, now) > NEW_SECONDS;
  return isLate || isObservationOld(record, arrivedAt, now);
}

/** Whether more than demand has changed since the decision. */
function hasOtherGrants(made: Made, record: ClusterRecord): boolean {
  return basisOf(record, made.on.record) !== made.basis;
}

/**
 * Saves a decision that a conflict kept from being saved. After renewals it still holds. If demand changes all the time, its creates stand,
 * and its marks and stops are left out; at once if others wait for the plan. Undefined: decide again, because marks, grants or the configuration have changed.
 */
function saveAgain(
  run: Planner,
  made: Made,
  met: Met,
  current: CurrentInForce,
  now: Instant,
): Change<Concluded> | undefined {
  const { record } = current;
  if (!isUnder(made, run.policy)) return undefined;
  if (made.basis === basisOf(record)) return savePlan(amend(made, current, now), run);
  if (met.demand > (isPlanFirst(record, now) ? 0 : DECIDED_AGAIN) && !hasOtherGrants(made, record)) {
    const decision = withoutStops(made.decision, made.on.bodies.ledger);
    return savePlan(amend({ ...made, decision }, current, now), run);
  }
  return undefined;
}

/** Settles what the observation shows, and decides on the result. */
function decideOn(
  { app, policy, owner }: Planner,
  current: CurrentInForce,
  settled: Settled,
  observation: Observation,
  now: Instant,
): Made {
  const stops = settleStopsByObservation(settled, observation.snapshot, now);
  const { ledger, questions = NO_QUESTIONS } = stops;
  const bodies = { ...current.bodies, ledger, questions };
  const shown = presumeShown(stops.record, ledger, observation, now);
  const { clock, log } = app.ports;
  const began = clock.now();
  const decided = tryVirtualFleet(
    decide(shown, bodies, observation, policy, now, owner),
    { bodies, policy, now, owner },
    log,
  );
  const planned = { began, ended: clock.now() };
  const record = withDearDemand(decided.record, decided, policy.senders ?? NO_SENDER_RULES, planned);
  const decision = { ...decided, record };
  return { basis: basisOf(current.record), decision, on: { ...current, bodies } };
}

/** No decision: saves what was settled, and that the tick took place. */
function saveOvertaken(
  current: CurrentWhole,
  settled: Settled,
  observation: Observation,
  policy: Policy,
  { byPlan }: { readonly byPlan: boolean },
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

/** A status in which most records lack TargetState is not accepted for a while (docs/protocol.md, Doubt). */
function saveLacking(
  run: Planner,
  current: CurrentWhole,
  settled: Settled,
  { lacking, of, since, until }: Lacking,
  now: Instant,
): Change<Concluded> {
  const found = `found ${lacking} of ${of} node records without a known TargetState, expected it in each`;
  const message = `${found}; if that continues, it is accepted from ${isoTime(until)} on`;
  const failure: ReconcileFailure = { at: now, kind: "suspicious", message };
  const record = tickSoon({ ...settled.record, trouble: failure, targetStatesLackedSince: since }, run, now);
  return { save: { record, changes: changesOf(current, settled) }, result: { kind: "troubled", failure } };
}

/** A failed observation is not reported once a later one has been accepted. */
export function noteFailedObservation(
  run: Planner,
  current: CurrentInForce,
  findings: readonly Finding[],
  failure: ReconcileFailure,
  { began, calls }: { readonly began: Instant; readonly calls: readonly MeasuredCall[] },
): Change<undefined> {
  const now = run.app.ports.clock.now();
  const { lastGoodLookAt } = current.record;
  const settled = endOldStops(settleFindings(current, findings, now), now);
  const calm = endPlanning(settled.record, run.app.lanes.process);
  const noted = endObservation(noteCalls(calm, calls, current.policy, now), began);
  const isOver = lastGoodLookAt !== undefined && failure.at < lastGoodLookAt && lastGoodLookAt <= now;
  const ticking = tickSoon(isOver ? noted : { ...noted, trouble: failure }, run, now);
  const { record, changes } = retire(ticking, current.policy, now);
  return { save: { record, changes: { ...changes, ...changesOf(current, settled) } }, result: undefined };
}

const LONGEST_MESSAGE = 300;

/**
 * The decision with what the virtual fleet did. Never throws: the virtual fleet changes nothing in CycleCloud, so a fault in it must not stop the
 * real plan. The fleet and the comparison stay as they were then, the log has `virtual-plan-failed`, and the record a failure until a
 * plan succeeds.
 */
export function tryVirtualFleet(decision: Decision, input: VirtualInput, log: Log): Decision {
  try {
    return withVirtualFleet(decision, input);
  } catch (error) {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const { record } = decision;
    log("virtual-plan-failed", { cluster: record.cluster, message: text });
    const message = `the virtual fleet was not planned, the real plan was made: ${text.slice(0, LONGEST_MESSAGE)}`;
    const failure: ReconcileFailure = { at: input.now, kind: "failed", message };
    return { ...decision, record: { ...record, trouble: failure } };
  }
}
