import { foldQuestions } from "../../decide/stops/questions.ts";
import { withoutContradicted } from "../../decide/stops/still-idle.ts";
import { NO_QUESTIONS } from "../../domain/questions.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { SetEntries, SetEntry } from "../../domain/request-sets.ts";
import type { Instant } from "../../domain/units.ts";
import type { Decision } from "../../domain/decision.ts";
import type { CurrentInForce } from "../record/load-record.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** A decision, the record on which it was made, and the parts of that record on which it depends. */
export interface Made {
  readonly basis: string;
  readonly decision: Decision;
  readonly on: CurrentInForce;
}

/** All parts of the manifest that a decision depends on, with the demand of `demand`. Accepts and wakes change no other part. */
export function basisOf(record: ClusterRecord, demand = record): string {
  const { epoch, plan, intents, inFlight, backoffs, outage, targetStatesLackedSince: lacked } = record;
  const { endDown = [], provesFrom } = record;
  return JSON.stringify([
    epoch,
    plan,
    demand.generation,
    intents,
    inFlight,
    backoffs,
    lacked,
    outage,
    endDown,
    provesFrom,
  ]);
}

/**
 * The same decision on a manifest whose sets were only renewed, without marks and stops that a newer report or answer contradicts. Keeps
 * questions that nodes asked meanwhile.
 */
export function amend(
  { decision }: Made,
  { record, bodies, policy }: CurrentInForce,
  now: Instant,
): Decision {
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
    provesFrom: _proves,
    planning: _others,
    deaths: _died,
    ...record
  } = decision.record;
  const { generation, lookedAt, looks, wakeAt, wakeFor, rejections, calls, provesFrom } = current;
  const { nextTickAt, restsUntil, pendingWake, planning, deaths } = current;
  const ticks = withoutAbsent({ nextTickAt, restsUntil, pendingWake });
  const observed = lookedAt === undefined ? {} : { lookedAt, ...withoutAbsent({ looks }) };
  const wake = wakeAt === undefined || wakeFor === undefined ? {} : { wakeAt, wakeFor };
  const slow = {
    ...withoutAbsent({ calls, provesFrom }),
  };
  const processes = {
    ...withoutAbsent({ planning, deaths }),
  };
  const moved = { ...held, generation, rejections, ...observed, ...wake, ...ticks, ...slow, ...processes };
  return { ...decision, record: { ...record, ...moved } };
}

/** Sets that the decision found lapsed lapse, unless a message has come since. */
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
