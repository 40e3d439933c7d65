import { spotIn } from "../domain/attributes.ts";
import { dynamicArrayOf } from "../domain/bucket.ts";
import type {
  ClusterRecord,
  CreateEffect,
  CreateSet,
  GrantedSet,
  InFlight,
  Intent,
} from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import { plusSeconds, secondsBetween } from "../domain/units.ts";
import { backOff, pauseKey } from "./back-off.ts";
import { sendAlone, sendTogether } from "./create-requests.ts";
import { lookOf } from "./look.ts";
import { LONGEST_INTENT_SECONDS } from "./send-times.ts";
import type { Evidence } from "./settle.ts";

/** CycleCloud is asked twice, this far apart, before a 409 is believed to mean invalid input. */
const SECOND_ASK_SECONDS = 10;
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
      return afterAccepted(without, intent, effect, evidence.sets, now);
    case "found":
      return afterFound(without, intent, effect, now);
    case "refused":
      if (intent.sent === "maybe") return letGo(record, intent, now);
      return afterRefused(without, effect, evidence.message, now);
    case "not-sent":
      return intent.sent === "maybe" ? letGo(record, intent, now) : without;
    case "absent":
      if (evidence.askedAt >= evidence.certainFrom || meansInvalid(intent, now))
        return afterNoEffect(without, intent, effect, evidence, now);
      return replaceIntent(record, intent, afterAbsent(intent, evidence, now));
    case "unclear": {
      const { certainFrom } = evidence;
      const known = certainFrom === undefined ? {} : { certainFrom };
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

/** A 409 to an id that was never sent before, and two questions that find nothing: the input is invalid. */
function meansInvalid(intent: Intent, now: Instant): boolean {
  return (
    intent.sent === "once-refused" &&
    intent.absentSince !== undefined &&
    secondsBetween(intent.absentSince, now) >= SECOND_ASK_SECONDS
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
  const { afterSend, message, certainFrom } = evidence;
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

// ---------------------------------------------------------------- with an effect

function afterAccepted(
  record: ClusterRecord,
  intent: Intent,
  { sets }: CreateEffect,
  granted: readonly GrantedSet[],
  now: Instant,
): ClusterRecord {
  let next = sendTogether(record, sets);
  sets.forEach((set, index) => {
    const { added, message } = granted[index] ?? { added: 0 };
    if (added > 0) next = withInFlight(next, inFlightOf(set, intent, added, now));
    if (added < set.count) {
      const words = `${set.count} asked, ${added} added${message === undefined ? "" : `: ${message}`}`;
      next = backOff(next, set.bucket, "fell-short", words, now);
    } else next = withoutRefusals(next, set);
  });
  return next;
}

/** Each set may have got less than it asked for: until the list of the request's nodes says how many, all of it is taken to come. */
function afterFound(
  record: ClusterRecord,
  intent: Intent,
  { sets }: CreateEffect,
  now: Instant,
): ClusterRecord {
  const unconfirmed = { listed: 0, since: now };
  return sets.reduce(
    (next, set) => {
      const entry = { ...inFlightOf(set, intent, set.count, now), unconfirmed };
      return withoutRefusals(withInFlight(next, entry), set);
    },
    sendTogether(record, sets),
  );
}

function withInFlight(record: ClusterRecord, entry: InFlight): ClusterRecord {
  return { ...record, inFlight: [...record.inFlight, entry] };
}

function inFlightOf(set: CreateSet, intent: Intent, added: number, now: Instant): InFlight {
  const look = lookOf(set.attributes);
  const spot = spotIn(set.attributes);
  return {
    requestId: intent.id,
    bucket: set.bucket,
    purpose: set.purpose,
    ...(look === undefined ? {} : { look }),
    ...(spot === undefined ? {} : { spot }),
    added,
    seen: [],
    since: now,
    plannedAt: intent.committedAt,
  };
}

/** An accepted create ends what creates are refused for; that its nodes boot it does not show. */
function withoutRefusals(record: ClusterRecord, { bucket, purpose }: CreateSet): ClusterRecord {
  const key = pauseKey({ bucket, dynamic: dynamicArrayOf(purpose) });
  const backoffs = record.backoffs.filter(
    (entry) => pauseKey(entry) !== key || entry.cause === "boot-failed" || entry.cause === "unhealthy",
  );
  return { ...record, backoffs };
}
