import type { CallBounds } from "../../domain/policy.ts";
import type { Intent } from "../../domain/intent.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";

/** When a committed request may be sent, and from when on a question tells what became of it (docs/protocol.md, Creates). */

/** The owner sends an intent this soon after its commit, or not at all. */
const OWNER_SENDS_SECONDS: Seconds = 30;
/** Until then nobody takes an intent over: its owner may be waiting for the answer. Also how long a take-over lasts. */
export const LEASE_SECONDS: Seconds = 60;
/** Later than this after the commit nobody begins to send an intent. */
const LAST_SEND_SECONDS: Seconds = 120;
/** Without any word of it, an intent ends this long after its commit. */
export const LONGEST_INTENT_SECONDS: Seconds = 900;

export type SendTimes = Pick<Intent, "committedAt" | "leaseUntil" | "notAfter" | "certainFrom">;

/** The times of an intent that is committed now. */
export function sendTimes(now: Instant, bounds: CallBounds): SendTimes {
  const notAfter = plusSeconds(now, LAST_SEND_SECONDS + bounds.callLimitSeconds);
  return {
    committedAt: now,
    leaseUntil: plusSeconds(now, LEASE_SECONDS),
    notAfter,
    certainFrom: plusSeconds(notAfter, bounds.lagSeconds),
  };
}

/** The times of a stop that is committed now, and that its owner alone sends: before `sendBy`; absent: as late as an owner may. */
export function stopTimes(now: Instant, sendBy: Instant | undefined, bounds: CallBounds): SendTimes {
  const latest = plusSeconds(now, OWNER_SENDS_SECONDS);
  const leaseUntil = sendBy === undefined || sendBy > latest ? latest : sendBy;
  return {
    committedAt: now,
    leaseUntil,
    notAfter: leaseUntil,
    certainFrom: plusSeconds(leaseUntil, bounds.callLimitSeconds + bounds.lagSeconds),
  };
}

/** Whether the owner, or whoever has taken the intent over, may begin to send it now. */
export function maySendNow(intent: Intent, now: Instant, { callLimitSeconds }: CallBounds): boolean {
  if (intent.effect.kind === "terminate") return now < intent.leaseUntil;
  if (intent.sent === "never") return now < plusSeconds(intent.committedAt, OWNER_SENDS_SECONDS);
  return now < intent.leaseUntil && plusSeconds(now, callLimitSeconds) <= intent.notAfter;
}

/**
 * Whether a create that was taken over is worth another send, with the same id: there is time, and CycleCloud has not answered 409. A
 * second 409 would say nothing new.
 */
export function isWorthResending(intent: Intent, now: Instant, { callLimitSeconds }: CallBounds): boolean {
  return intent.refusal === undefined && plusSeconds(now, callLimitSeconds) <= intent.notAfter;
}

/** A question that begins then or later tells for certain, as far as the sends are concerned that came before the one who asks here. */
export function certainBefore(intent: Intent, bounds: CallBounds): Instant {
  if (intent.sent === "never") {
    // Its owner may have sent it at the last moment, and died.
    const seconds = OWNER_SENDS_SECONDS + bounds.callLimitSeconds + bounds.lagSeconds;
    return plusSeconds(intent.committedAt, seconds);
  }
  return intent.certainFrom ?? certainAtLast(intent, bounds);
}

/** The same whoever sends it, and whenever. */
export function certainAtLast({ notAfter }: Intent, { lagSeconds }: CallBounds): Instant {
  return plusSeconds(notAfter, lagSeconds);
}

/** The same after a send of one's own that ended now. Unanswered, the request may still be on its way. */
export function certainAfterSend(
  intent: Intent,
  answered: boolean,
  now: Instant,
  { callLimitSeconds, lagSeconds }: CallBounds,
): Instant {
  const arrived = answered ? now : plusSeconds(now, callLimitSeconds);
  return plusSeconds(arrived < intent.notAfter ? arrived : intent.notAfter, lagSeconds);
}
