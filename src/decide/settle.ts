import type { ArrayName, NodeId, RequestId } from "../domain/ids.ts";
import type { BucketKey } from "../domain/bucket.ts";
import type {
  Backoff,
  ClusterRecord,
  CreateEffect,
  Intent,
  Ledger,
  NodeStart,
  StartEffect,
} from "../domain/record.ts";
import { bucketText, dynamicArrayOf } from "../domain/bucket.ts";
import type { Questions } from "../domain/questions.ts";
import type { Instant } from "../domain/units.ts";
import { plusSeconds, secondsBetween } from "../domain/units.ts";
import { spotIn } from "../domain/attributes.ts";
import { lookOf } from "./look.ts";
import { settleStop } from "./stops.ts";

export { CALL_LIMIT_SECONDS } from "./stops.ts";

/** How long the owner of an intent alone may send it. */
export const LEASE_SECONDS = 60;
/** Nobody sends an intent later than this after its commit. */
export const NOT_AFTER_SECONDS = 120;
/** CycleCloud is asked twice, so far apart, before a 409 is believed to mean invalid input. */
export const SECOND_ASK_SECONDS = 10;
const START_REST_SECONDS = 900;
const FIRST_BACKOFF_SECONDS = 60;
const LONGEST_BACKOFF_SECONDS = 1800;

/** What was learnt about an intent by sending it or by asking for its id. */
export type Evidence =
  | { readonly kind: "accepted"; readonly added: number; readonly message?: string }
  | {
      readonly kind: "terminated";
      readonly nodes: ReadonlyMap<NodeId, { readonly ok: boolean; readonly error?: string }>;
    }
  | {
      readonly kind: "started";
      readonly nodes: ReadonlyMap<NodeId, { readonly ok: boolean; readonly error?: string }>;
    }
  /** Certainly no effect, and not because of the input: our credentials, or the deadline. */
  | { readonly kind: "not-sent" }
  /** Certainly no effect: CycleCloud will not have it. */
  | { readonly kind: "refused"; readonly message: string }
  /** CycleCloud knows the id: it took effect. */
  | { readonly kind: "found" }
  /** CycleCloud names these nodes under the id of a stop: it is accepted for them, and nothing is known of the others. */
  | { readonly kind: "named"; readonly nodes: ReadonlySet<NodeId> }
  /** Its owner has not sent the stop, and will not send it for these nodes. */
  | { readonly kind: "withdrawn"; readonly nodes: ReadonlySet<NodeId> }
  /** CycleCloud does not know the id, asked after a send with (`conflict`) or without an answer of 409, or without a send. */
  | {
      readonly kind: "absent";
      readonly afterSend: "conflict" | "no-answer" | "none";
      readonly message?: string;
    }
  /** Sent, or maybe sent, and nothing could be learnt. */
  | { readonly kind: "unclear" };

export interface Settled {
  readonly record: ClusterRecord;
  readonly ledger: Ledger;
  /** Absent: none. */
  readonly questions?: Questions;
}

/** Applies what was learnt about one intent. Learning the same again changes nothing: an intent that is gone stays gone. */
export function settle(state: Settled, id: RequestId, evidence: Evidence, now: Instant): Settled {
  const intent = state.record.intents.find((candidate) => candidate.id === id);
  if (intent === undefined) return state;
  switch (intent.effect.kind) {
    case "create":
      return { ...state, record: settleCreate(state.record, intent, intent.effect, evidence, now) };
    case "start":
      return settleStart(state, intent, intent.effect, evidence, now);
    case "terminate":
      return settleStop(state, intent, intent.effect, evidence, now);
  }
}

function settleCreate(
  record: ClusterRecord,
  intent: Intent,
  effect: CreateEffect,
  evidence: Evidence,
  now: Instant,
): ClusterRecord {
  const without = { ...record, intents: record.intents.filter((other) => other !== intent) };
  switch (evidence.kind) {
    case "accepted":
      return afterAccepted(without, intent, effect, evidence.added, evidence.message, now);
    case "found":
      // After an unknown outcome all of `count` is taken to come (design.md section 3, In flight).
      return afterAccepted(without, intent, effect, effect.count, undefined, now);
    case "refused":
      if (intent.sent === "maybe") return letGo(record, intent, now);
      return backOff(
        without,
        effect.bucket,
        "refused",
        evidence.message,
        now,
        dynamicArrayOf(effect.purpose),
      );
    case "not-sent":
      return intent.sent === "maybe" ? letGo(record, intent, now) : without;
    case "absent":
      if (now >= intent.notAfter) return without;
      if (meansInvalid(intent, now)) {
        return backOff(
          without,
          effect.bucket,
          "refused",
          evidence.message ?? intent.refusal ?? "CycleCloud refused the request as invalid (409)",
          now,
          dynamicArrayOf(effect.purpose),
        );
      }
      return replaceIntent(record, intent, afterAbsent(intent, evidence, now));
    case "unclear":
    case "started":
    case "terminated":
    case "named":
    case "withdrawn":
      return replaceIntent(record, intent, { ...intent, sent: "maybe", leaseUntil: now });
  }
}

/** An earlier send may have had its effect, whatever became of this one: only asking for the id tells. */
function letGo(record: ClusterRecord, intent: Intent, now: Instant): ClusterRecord {
  return replaceIntent(record, intent, { ...intent, leaseUntil: now });
}

/** A 409 to an id that was never sent before, and two asks that find nothing: the input is invalid (design.md section 3, Intents). */
function meansInvalid(intent: Intent, now: Instant): boolean {
  return (
    intent.sent === "once-refused" &&
    intent.absentSince !== undefined &&
    secondsBetween(intent.absentSince, now) >= SECOND_ASK_SECONDS
  );
}

function afterAbsent(intent: Intent, evidence: Extract<Evidence, { kind: "absent" }>, now: Instant): Intent {
  const { afterSend, message } = evidence;
  if (afterSend === "none") {
    return { ...intent, leaseUntil: now, absentSince: intent.absentSince ?? now };
  }
  const sent = afterSend === "conflict" && intent.sent === "never" ? "once-refused" : "maybe";
  // The next ask comes when the lease ends; a 409 needs it no sooner than the second ask.
  const leaseUntil = sent === "once-refused" ? plusSeconds(now, SECOND_ASK_SECONDS) : now;
  return {
    ...intent,
    sent,
    absentSince: now,
    leaseUntil,
    ...(message === undefined ? {} : { refusal: message }),
  };
}

/**
 * Whether a taken-over intent may be sent again, with the same id: CycleCloud does not know it, its time has not passed, and it is not
 * waiting for the second ask that tells an invalid request from a repeated one.
 */
export function maySend(intent: Intent, now: Instant): boolean {
  return now < intent.notAfter && intent.sent !== "once-refused";
}

function replaceIntent(record: ClusterRecord, old: Intent, next: Intent): ClusterRecord {
  return { ...record, intents: record.intents.map((intent) => (intent === old ? next : intent)) };
}

function afterAccepted(
  record: ClusterRecord,
  intent: Intent,
  effect: CreateEffect,
  added: number,
  message: string | undefined,
  now: Instant,
): ClusterRecord {
  const look = lookOf(effect.attributes);
  const spot = spotIn(effect.attributes);
  const next: ClusterRecord =
    added <= 0
      ? record
      : {
          ...record,
          inFlight: [
            ...record.inFlight,
            {
              requestId: intent.id,
              bucket: effect.bucket,
              purpose: effect.purpose,
              ...(look === undefined ? {} : { look }),
              ...(spot === undefined ? {} : { spot }),
              added,
              seen: [],
              since: now,
              plannedAt: intent.committedAt,
            },
          ],
        };
  if (added < effect.count) {
    const words = `${effect.count} asked, ${added} added${message === undefined ? "" : `: ${message}`}`;
    return backOff(next, effect.bucket, "fell-short", words, now);
  }
  return {
    ...next,
    // An accepted create ends what creates are refused for; that its nodes boot it does not show.
    backoffs: next.backoffs.filter(
      (entry) =>
        pauseKey(entry) !== pauseKey({ bucket: effect.bucket, dynamic: dynamicArrayOf(effect.purpose) }) ||
        entry.cause === "boot-failed" ||
        entry.cause === "unhealthy",
    ),
  };
}

/** What pauses for itself: a bucket, or what one dynamic array has of it. */
function pauseKey({ bucket, dynamic }: { bucket: BucketKey; dynamic?: ArrayName | undefined }): string {
  return `${dynamic ?? ""}\n${bucketText(bucket)}`;
}

/**
 * Pauses a bucket: 60 s, and twice as long each time it fails again, up to 30 min. With `dynamic` only for that dynamic array: what it
 * lays over the attributes of the array that it extends may be what is wrong.
 */
export function backOff(
  record: ClusterRecord,
  bucket: BucketKey,
  cause: Backoff["cause"],
  message: string,
  now: Instant,
  dynamic?: ArrayName,
): ClusterRecord {
  const key = pauseKey({ bucket, dynamic });
  const earlier = record.backoffs.find((entry) => pauseKey(entry) === key);
  if (earlier !== undefined && earlier.until > now) return record;
  const seconds =
    earlier === undefined ? FIRST_BACKOFF_SECONDS : Math.min(LONGEST_BACKOFF_SECONDS, earlier.seconds * 2);
  const entry: Backoff = {
    bucket,
    ...(dynamic === undefined ? {} : { dynamic }),
    until: plusSeconds(now, seconds),
    seconds,
    cause,
    message,
  };
  return {
    ...record,
    backoffs: [...record.backoffs.filter((other) => pauseKey(other) !== key), entry],
  };
}

/** Pauses that ended so long ago that the next failure starts from the shortest again. */
export function forgetOldBackoffs(backoffs: readonly Backoff[], now: Instant): readonly Backoff[] {
  const kept = backoffs.filter((entry) => secondsBetween(entry.until, now) < LONGEST_BACKOFF_SECONDS);
  return kept.length === backoffs.length ? backoffs : kept;
}

/** Nor is a start replayed: what was learnt is noted with its nodes, and a look shows what became of them (starts.ts says why). */
function settleStart(
  state: Settled,
  intent: Intent,
  effect: StartEffect,
  evidence: Evidence,
  now: Instant,
): Settled {
  let record: ClusterRecord = {
    ...state.record,
    intents: state.record.intents.filter((other) => other !== intent),
  };
  const ledger = new Map(state.ledger);
  for (const id of effect.nodes) {
    const node = ledger.get(id);
    // A look that shows the node on its way up may come before the answer. It knows more, and the boot timeout counts from it.
    if (node === undefined || node.start?.state === "shown") continue;
    const start = afterStart(id, evidence, now);
    const { start: _before, ...rest } = node;
    ledger.set(
      id,
      start === undefined ? rest : { ...rest, start: { ...start, plannedAt: intent.committedAt } },
    );
    if (start?.state === "refused")
      record = backOff(record, effect.bucket, "refused", `${node.name}: ${start.message}`, now);
  }
  return { ...state, record, ledger };
}

/** A start that came to nothing: a broken node is not tried again at once, or it would keep its bucket paused for ever. */
export function cameToNothing(message: string, now: Instant, seconds = START_REST_SECONDS): NodeStart {
  return { state: "refused", since: now, until: plusSeconds(now, seconds), message };
}

/** undefined: certainly no effect and nobody's refusal, so that it may be decided again at once. */
function afterStart(id: NodeId, evidence: Evidence, now: Instant): NodeStart | undefined {
  switch (evidence.kind) {
    case "started": {
      const answer = evidence.nodes.get(id);
      if (answer?.ok === true) return { state: "accepted", since: now };
      // Not matched: it is not there any more, or cannot be started (cyclecloud-wire.md A.7).
      const message =
        answer === undefined ? "CycleCloud's answer to its start does not list it" : answer.error;
      return cameToNothing(message ?? "CycleCloud refused to start it", now);
    }
    case "refused":
      return cameToNothing(evidence.message, now);
    case "found":
      return { state: "accepted", since: now };
    case "not-sent":
      return undefined;
    case "absent": {
      if (evidence.afterSend === "none") return undefined;
      const { message } = evidence;
      return { state: "unsure", since: now, ...(message === undefined ? {} : { message }) };
    }
    case "unclear":
    case "accepted":
    case "terminated":
    case "named":
    case "withdrawn":
      return { state: "unsure", since: now };
  }
}
