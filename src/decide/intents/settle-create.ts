import { dynamicArrayOf } from "../../domain/bucket.ts";
import type { CreateEffect, Intent } from "../../domain/intent.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import { backOff } from "./back-off.ts";
import { sendAlone } from "./create-requests.ts";
import { afterAccepted, afterFound } from "./granted-create.ts";
import { LONGEST_INTENT_SECONDS } from "./send-times.ts";
import type { Evidence } from "./evidence.ts";

/** CycleCloud is asked twice, this far apart, before a 409 is believed to mean invalid input. */
const SECOND_ASK_SECONDS: Seconds = 10;
const NO_WORDS = "CycleCloud refused the request as invalid (409)";

type Absent = Extract<Evidence, { kind: "absent" }>;

/** Applies what was learnt of a create to its record (docs/protocol.md, Creates). */
export function settleCreate(
  record: ClusterRecord,
  intent: Intent,
  effect: CreateEffect,
  evidence: Evidence,
  now: Instant,
): ClusterRecord {
  const without = { ...record, intents: record.intents.filter((other) => other !== intent) };
  switch (evidence.kind) {
    case "accepted":
      return afterAccepted(without, intent, effect, evidence, now);
    case "found":
      return afterFound(without, intent, effect, evidence, now);
    case "refused":
      if (intent.sent === "maybe") return letGo(record, intent, now);
      return afterRefused(without, effect, evidence.message, now);
    case "not-sent":
      return intent.sent === "maybe" ? letGo(record, intent, now) : without;
    case "absent": {
      const isHeld = evidence.held.by === intent.owner;
      if (isCertain(intent, evidence, isHeld)) return afterNoEffect(without, intent, effect, evidence, now);
      return isHeld ? replaceIntent(record, intent, afterAbsent(intent, evidence, now)) : record;
    }
    case "unclear": {
      const { held } = evidence;
      if (held !== undefined && held.by !== intent.owner) return record;
      const known = held === undefined ? {} : { certainFrom: held.certainFrom };
      return replaceIntent(record, intent, {
        ...intent,
        ...known,
        sent: sentBefore(intent),
        leaseUntil: now,
      });
    }
    case "started":
    case "terminated":
    case "named":
    case "withdrawn":
      return replaceIntent(record, intent, { ...intent, sent: "maybe", leaseUntil: now });
  }
}

/** Without creates that nobody has said a word of for 15 minutes: nodes that came of them show by now, and whatever else is no use. */
export function dropSilentCreates(record: ClusterRecord, now: Instant): ClusterRecord {
  const intents = record.intents.filter(
    ({ effect, committedAt }) =>
      effect.kind !== "create" || secondsBetween(committedAt, now) < LONGEST_INTENT_SECONDS,
  );
  return intents.length === record.intents.length ? record : { ...record, intents };
}

// ---------------------------------------------------------------- without an effect, or not yet known

/** An earlier send may have had its effect, whatever became of this one: only asking for the id tells. */
function letGo(record: ClusterRecord, intent: Intent, now: Instant): ClusterRecord {
  return replaceIntent(record, intent, { ...intent, leaseUntil: now });
}

/** Who does not hold the intent any more does not know whether it has been sent since: the record does. */
function isCertain(intent: Intent, { askedAt, held }: Absent, isHeld: boolean): boolean {
  if (isHeld && meansInvalid(intent, askedAt)) return true;
  const certainFrom = isHeld ? held.certainFrom : intent.certainFrom;
  return certainFrom !== undefined && askedAt >= certainFrom;
}

/** A 409 to an id that was never sent before, and two questions that find nothing: the input is invalid. */
function meansInvalid(intent: Intent, askedAt: Instant): boolean {
  return (
    intent.sent === "once-refused" &&
    intent.absentSince !== undefined &&
    secondsBetween(intent.absentSince, askedAt) >= SECOND_ASK_SECONDS
  );
}

function afterNoEffect(
  record: ClusterRecord,
  intent: Intent,
  effect: CreateEffect,
  { afterSend, message }: Absent,
  now: Instant,
): ClusterRecord {
  const was409 = afterSend === "conflict" || intent.sent === "once-refused";
  const refusal = message ?? intent.refusal ?? (was409 ? NO_WORDS : undefined);
  return refusal === undefined ? sendAlone(record, effect.sets) : afterRefused(record, effect, refusal, now);
}

/** Of several sets any one may be why. What goes alone and is refused is why, and rests. */
function afterRefused(
  record: ClusterRecord,
  { sets }: CreateEffect,
  message: string,
  now: Instant,
): ClusterRecord {
  const alone = sendAlone(record, sets);
  const [only, ...more] = sets;
  if (only === undefined || more.length > 0) return alone;
  return backOff(alone, only.bucket, "refused", message, now, dynamicArrayOf(only.purpose));
}

/** One that was refused once still has been sent once. */
function sentBefore({ sent }: Intent): Intent["sent"] {
  return sent === "once-refused" ? sent : "maybe";
}

function afterAbsent(intent: Intent, evidence: Absent, now: Instant): Intent {
  const { afterSend, message } = evidence;
  const { certainFrom } = evidence.held;
  if (afterSend === "none") {
    return { ...intent, certainFrom, leaseUntil: now, absentSince: intent.absentSince ?? now };
  }
  const sent = afterSend === "conflict" && intent.sent === "never" ? "once-refused" : "maybe";
  // The next ask comes when the lease ends; a 409 needs it no sooner than the second ask.
  const leaseUntil = sent === "once-refused" ? plusSeconds(now, SECOND_ASK_SECONDS) : now;
  const refusal = afterSend === "conflict" ? (message ?? NO_WORDS) : undefined;
  return {
    ...intent,
    sent,
    certainFrom,
    absentSince: now,
    leaseUntil,
    ...(refusal === undefined ? {} : { refusal }),
  };
}

function replaceIntent(record: ClusterRecord, old: Intent, next: Intent): ClusterRecord {
  return { ...record, intents: record.intents.map((intent) => (intent === old ? next : intent)) };
}
