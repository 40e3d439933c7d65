import type { CallBounds } from "../../domain/policy.ts";
import type { Intent } from "../../domain/intent.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";

/** When a committed request may be sent, and from when on the answer to a question about it is certain (docs/protocol.md, Creates). */

/** The owner sends an intent this soon after its commit, or not at all. */
const OWNER_SENDS_SECONDS: Seconds = 30;
/** The lease of an owner. No other instance takes the intent over before, because the owner may be waiting for the answer. */
export const LEASE_SECONDS: Seconds = 60;
/** No instance begins to send an intent later than this after its commit. */
const LAST_SEND_SECONDS: Seconds = 120;
/** An intent without any news ends this long after its commit. */
export const LONGEST_INTENT_SECONDS: Seconds = 900;

/** The times of an intent: see {@link Intent}. */
type SendTimes = Pick<Intent, "committedAt" | "leaseUntil" | "notAfter" | "certainFrom">;

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

/** The times of a stop that is committed now. Only its owner sends it, before `sendBy`. Undefined: as late as an owner may. */
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

/** Whether the owner of the intent may begin to send it now. */
export function maySendNow(intent: Intent, now: Instant, { callLimitSeconds }: CallBounds): boolean {
  if (intent.effect.kind === "terminate") return now < intent.leaseUntil;
  if (intent.sent === "never") return now < plusSeconds(intent.committedAt, OWNER_SENDS_SECONDS);
  return now < intent.leaseUntil && plusSeconds(now, callLimitSeconds) <= intent.notAfter;
}

/**
 * The moment after which no instance begins to send the intent. `isResent`: an instance that takes a create over may send it. A start and a
 * stop are sent by their owner only.
 */
export function sentUntil(
  { effect, committedAt, leaseUntil }: Intent,
  { isResent }: { readonly isResent: boolean },
): Instant {
  if (effect.kind === "terminate") return leaseUntil;
  const isLate = isResent && effect.kind === "create";
  return plusSeconds(committedAt, isLate ? LAST_SEND_SECONDS : OWNER_SENDS_SECONDS);
}

/**
 * Whether a create that was taken over is sent again, with the same id: there is time, and CycleCloud has not answered 409. A second 409 would
 * show nothing new.
 */
export function isWorthResending(intent: Intent, now: Instant, { callLimitSeconds }: CallBounds): boolean {
  return intent.refusal === undefined && plusSeconds(now, callLimitSeconds) <= intent.notAfter;
}

/** The moment from which on the answer to a question is certain with regard to all sends of earlier owners. */
export function certainBefore(intent: Intent, bounds: CallBounds): Instant {
  if (intent.sent === "never") {
    // Its owner may have sent it at the last moment and then died.
    const seconds = OWNER_SENDS_SECONDS + bounds.callLimitSeconds + bounds.lagSeconds;
    return plusSeconds(intent.committedAt, seconds);
  }
  return intent.certainFrom;
}

/** The moment from which on it is certain with regard to all sends, by any owner. */
export function certainAtLast({ notAfter }: Intent, { lagSeconds }: CallBounds): Instant {
  return plusSeconds(notAfter, lagSeconds);
}

/** The moment from which on it is certain after our own send, which ended now. Without an answer the request may still be on its way. */
export function certainAfterSend(
  intent: Intent,
  { answered }: { readonly answered: boolean },
  now: Instant,
  { callLimitSeconds, lagSeconds }: CallBounds,
): Instant {
  const arrived = answered ? now : plusSeconds(now, callLimitSeconds);
  return plusSeconds(arrived < intent.notAfter ? arrived : intent.notAfter, lagSeconds);
}
