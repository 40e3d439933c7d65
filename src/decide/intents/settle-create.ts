import { dynamicArrayOf } from "../../domain/bucket.ts";
import type { CreateEffect, Intent, CreateSet, GrantedSet } from "../../domain/intent.ts";
import type { ClusterRecord, InFlight } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import { isEarly } from "../../domain/record.ts";
import { backOff, pauseKey } from "./back-off.ts";
import { sendAlone, sendTogether } from "./create-requests.ts";
import { afterRefusedNames, isForNames, narrow, nodeNameOf, refuseNames } from "./named-requests.ts";
import { LONGEST_INTENT_SECONDS } from "./send-times.ts";
import type { Evidence } from "./evidence.ts";
import { spotIn } from "../../domain/attributes.ts";
import { digestOfAttributes } from "../../domain/digest.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** CycleCloud is asked twice, with this distance, before a 409 counts as invalid input. */
const SECOND_ASK_SECONDS: Seconds = 10;
const NO_WORDS = "CycleCloud refused the request as invalid (409)";

type Absent = Extract<Evidence, { kind: "absent" }>;

/** Settles a create by new evidence (docs/protocol.md, Creates). */
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
      if (isCertain(intent, effect, evidence, record))
        return afterNoEffect(without, intent, effect, evidence, now);
      if (evidence.held.by !== intent.owner) return record;
      return replaceIntent(record, intent, afterAbsent(intent, evidence, now));
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

/** Removes creates without any news for 15 minutes. If they created nodes, these show by now. */
export function dropSilentCreates(record: ClusterRecord, now: Instant): ClusterRecord {
  const intents = record.intents.filter(
    ({ effect, committedAt }) =>
      effect.kind !== "create" || secondsBetween(committedAt, now) < LONGEST_INTENT_SECONDS,
  );
  return intents.length === record.intents.length ? record : { ...record, intents };
}

// ---------------------------------------------------------------- no effect, or not yet known

/** Ends the lease of a create that was not sent this time. An earlier send may have had an effect, which only a question about the id shows. */
function letGo(record: ClusterRecord, intent: Intent, now: Instant): ClusterRecord {
  return replaceIntent(record, intent, { ...intent, leaseUntil: now });
}

/**
 * Whether "not known" is certain. Not soon after a standstill of CycleCloud, which may still hold the request. An instance that no longer holds
 * the intent does not know later sends, so the record counts then.
 */
function isCertain(
  intent: Intent,
  { sets }: CreateEffect,
  { askedAt, held, afterSend }: Absent,
  record: ClusterRecord,
): boolean {
  if (isEarly(record, askedAt)) return false;
  const isHeld = held.by === intent.owner;
  // CycleCloud makes a name once, so that asking again cannot make it twice.
  if (isHeld && afterSend === "conflict" && isForNames(sets)) return true;
  if (isHeld && meansInvalid(intent, askedAt)) return true;
  const certainFrom = isHeld ? held.certainFrom : intent.certainFrom;
  return askedAt >= certainFrom;
}

/** Whether the input is invalid: the only send was answered with 409, and CycleCloud did not know the id in two questions. */
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
  if (refusal === undefined && isForNames(effect.sets)) return narrow(record, effect.sets);
  return refusal === undefined ? sendAlone(record, effect.sets) : afterRefused(record, effect, refusal, now);
}

/** The record after a refusal. If several sets were sent, any may be the cause. A set that was sent alone is the cause, and its bucket pauses. */
function afterRefused(
  record: ClusterRecord,
  { sets }: CreateEffect,
  message: string,
  now: Instant,
): ClusterRecord {
  if (isForNames(sets)) return afterRefusedNames(record, sets, message, now);
  const alone = sendAlone(record, sets);
  const [only, ...more] = sets;
  if (only === undefined || more.length > 0) return alone;
  return backOff(alone, only.bucket, "refused", message, now, dynamicArrayOf(only.purpose));
}

/** The state of earlier sends after another send. One that was refused once stays so. */
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
  // The next question follows the end of the lease. After a 409 it must not come earlier than the second question.
  const leaseUntil = sent === "once-refused" ? plusSeconds(now, SECOND_ASK_SECONDS) : now;
  const refusal = afterSend === "conflict" ? (message ?? NO_WORDS) : undefined;
  return {
    ...intent,
    sent,
    certainFrom,
    absentSince: now,
    leaseUntil,
    ...withoutAbsent({ refusal }),
  };
}

function replaceIntent(record: ClusterRecord, old: Intent, next: Intent): ClusterRecord {
  return { ...record, intents: record.intents.map((intent) => (intent === old ? next : intent)) };
}

// The record after a create with an effect (docs/protocol.md, In flight).

/** Notes the grants of an accepted create. A bucket that grants less than requested pauses. */
function afterAccepted(
  record: ClusterRecord,
  intent: Intent,
  { sets }: CreateEffect,
  { sets: granted, keyId }: { readonly sets: readonly GrantedSet[]; readonly keyId?: string },
  now: Instant,
): ClusterRecord {
  let next = sendTogether(record, sets);
  sets.forEach((set, index) => {
    const { added } = granted[index] ?? { added: 0 };
    if (added > 0) next = withInFlight(next, inFlightOf(set, intent, added, now, keyId));
    if (added >= set.count) next = withoutRefusals(next, set);
  });
  const refused = new Map<string, readonly string[]>();
  // Last, because another name of the same bucket may have been granted.
  sets.forEach((set, index) => {
    const { added, message } = granted[index] ?? { added: 0 };
    if (added >= set.count) return;
    const words = `${set.count} asked, ${added} added${message === undefined ? "" : `: ${message}`}`;
    next = backOff(next, set.bucket, "fell-short", words, now);
    const name = nodeNameOf(set);
    if (name !== undefined) refused.set(words, [...(refused.get(words) ?? []), name]);
  });
  for (const [why, names] of refused)
    next = refuseNames(next, names, { at: now, why, cause: { kind: "pause" } });
  return next;
}

/**
 * Notes a create whose answer was lost. Each set may have been granted less than requested. Until the list of the request's nodes shows the
 * number, all nodes count as in flight. The time for them counts from the commit, because they may have come and gone already.
 */
function afterFound(
  record: ClusterRecord,
  intent: Intent,
  { sets }: CreateEffect,
  { keyId }: { readonly keyId?: string },
  now: Instant,
): ClusterRecord {
  const unconfirmed = { listed: 0, since: now };
  return sets.reduce(
    (next, set) => {
      const entry = { ...inFlightOf(set, intent, set.count, intent.committedAt, keyId), unconfirmed };
      return withoutRefusals(withInFlight(next, entry), set);
    },
    sendTogether(record, sets),
  );
}

function withInFlight(record: ClusterRecord, entry: InFlight): ClusterRecord {
  return { ...record, inFlight: [...record.inFlight, entry] };
}

function inFlightOf(
  set: CreateSet,
  intent: Intent,
  added: number,
  since: Instant,
  keyId: string | undefined,
): InFlight {
  const attributesDigest = digestOfAttributes(set.attributes);
  const spot = spotIn(set.attributes);
  return {
    requestId: intent.id,
    bucket: set.bucket,
    purpose: set.purpose,
    ...withoutAbsent({ look: attributesDigest, keyId, spot }),
    added,
    seen: [],
    since,
    plannedAt: intent.committedAt,
    ...withoutAbsent({ plan: intent.plan }),
  };
}

/** The record without pauses for refusals of this set. An accepted create does not show that nodes boot, so other pauses stay. */
function withoutRefusals(record: ClusterRecord, { bucket, purpose }: CreateSet): ClusterRecord {
  const key = pauseKey({ bucket, dynamic: dynamicArrayOf(purpose) });
  const backoffs = record.backoffs.filter(
    ({ cause, ...entry }) => pauseKey(entry) !== key || (cause !== "refused" && cause !== "fell-short"),
  );
  return { ...record, backoffs };
}
