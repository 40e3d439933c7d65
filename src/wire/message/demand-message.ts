import type { Revision, SetDemand, WholeUpdate } from "../../domain/demand.ts";
import type { ClusterName, SetName } from "../../domain/ids.ts";
import type { Sliced } from "../../domain/sliced.ts";
import { atOnce } from "../../domain/sliced.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, instant, isoTime } from "../../domain/units.ts";
import type { Decoded } from "../json/decode.ts";
import { decodeInSlices, MOST_BY_QUEUE, MOST_OVER_HTTP } from "../json/decode.ts";
import { measureInSlices, readUpdateInSlices } from "./read-update.ts";
import { problemAt } from "../json/problem.ts";
import { envelopeSchema, version, clusterProblems } from "./envelope.ts";
import type {
  MessageContext,
  SenderTime,
  RequestSetContext,
  MessageRead,
  QueueMessageRead,
} from "./message-read.ts";
import * as z from "zod";
import { clusterName } from "../../domain/ids.ts";
import { isName, labelSchema, nameSchema } from "../json/name.ts";
import { addSchemaProblems } from "../json/schema-problems.ts";
import { Problems } from "../json/problems.ts";
import { BOUNDS } from "../json/bounds.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

const UPDATE_KEYS = Object.keys(envelopeSchema.shape);

/** In the queue a message may also be a wake message: a misspelling of that key must be recognised. */
const MESSAGE_KEYS = [...UPDATE_KEYS, "wake"];

/**
 * Reads a message of the demand queue in any packaging. Never throws. Without an explicit revision the message's revision is the second in
 * which it was put into the queue, with ties decided by message id (architecture.md, Revisions; docs/decisions.md, "Messages without a
 * revision are ordered by second and message id").
 */
export function readDemandMessage(
  input: string | Uint8Array | object,
  context: MessageContext,
): QueueMessageRead {
  return atOnce(readDemandMessageInSlices(input, context));
}

/** {@link readDemandMessage} in slices. */
export function* readDemandMessageInSlices(
  input: string | Uint8Array | object,
  context: MessageContext,
): Sliced<QueueMessageRead> {
  const decoded = yield* decodeInSlices(input, MOST_BY_QUEUE);
  if (decoded.kind === "problem") return undecodable(decoded);
  const message = isFields(decoded.value) ? decoded.value : {};
  if ("wake" in message) return readWake(message, context);
  const { senderTime = sameTime } = context;
  const { revision } = message;
  const sentAt = context.insertedAt ?? (typeof revision === "number" ? instant(revision) : context.now);
  const read = yield* readUpdateInSlices(decoded, {
    keys: MESSAGE_KEYS,
    sentAt,
    now: context.now,
    maxExpirationSeconds: context.maxExpirationSeconds,
    knownClusters: context.knownClusters,
    senderNow: senderTime(context.now),
    implicitRevision: {
      value: Math.floor(senderTime(sentAt) / 1000) * 1000,
      tieBreak: context.messageId,
    },
  });
  return read.kind === "update" ? { ...read, message } : read;
}

/**
 * Reads the body of `PUT /api/clusters/{cluster}/request-sets/{set}`: a demand message whose `version` may be left out, and whose `cluster`
 * and `requestSet` may be left out and otherwise must match the address. Without an explicit revision it gets the current time in milliseconds, with an empty tie-break like
 * an explicit one, because HTTP has no message id. Never "wake". "stale" only if its interval is less than a millisecond, because it
 * arrives when it is sent.
 */
export function readRequestSet(body: string | Uint8Array | object, context: RequestSetContext): MessageRead {
  return atOnce(readRequestSetInSlices(body, context));
}

/** {@link readRequestSet} in slices. */
export function* readRequestSetInSlices(
  body: string | Uint8Array | object,
  context: RequestSetContext,
): Sliced<MessageRead> {
  const address = { cluster: context.cluster, set: context.set };
  const decoded = yield* decodeInSlices(body, MOST_OVER_HTTP);
  if (decoded.kind === "problem") return { ...undecodable(decoded), ...address };
  const { value, hasOversizeJob } = decoded;
  const senderNow = (context.senderTime ?? sameTime)(context.now);
  if (!isFields(value)) {
    return { kind: "rejected", ...address, problems: [problemAt("", value, "an object: a demand message")] };
  }
  const addressed = {
    ...value,
    version: value["version"] ?? 1,
    cluster: value["cluster"] ?? context.cluster,
    requestSet: value["requestSet"] ?? context.set,
  };
  const read = yield* readUpdateInSlices(
    hasOversizeJob === true ? { value: addressed, hasOversizeJob } : { value: addressed },
    {
      keys: UPDATE_KEYS,
      sentAt: context.now,
      now: context.now,
      maxExpirationSeconds: context.maxExpirationSeconds,
      knownClusters: context.knownClusters,
      senderNow,
      implicitRevision: { value: senderNow, tieBreak: "" },
      address,
    },
  );
  return read.kind === "rejected" ? { ...read, ...address } : read;
}

const sameTime: SenderTime = (at) => at;

function undecodable({
  problem,
  tooLarge,
}: Extract<Decoded, { kind: "problem" }>): Extract<MessageRead, { kind: "rejected" }> {
  return { kind: "rejected", problems: [problem], ...withoutAbsent({ tooLarge }) };
}

/** The update that ends a request set, for DELETE: all its parts are empty, and only its revision is kept for this time. */
export function emptyRequestSet(
  cluster: ClusterName,
  set: SetName,
  revision: Revision,
  now: Instant,
  intervalSeconds: Seconds,
): WholeUpdate {
  const demand: SetDemand = { demands: [], pools: [], rejectedJobs: [] };
  return {
    cluster,
    set,
    revision,
    intervalSeconds,
    sentAt: now,
    expiresAt: plusSeconds(now, intervalSeconds),
    ...atOnce(measureInSlices(demand)),
    demand,
    ends: true,
  };
}

const MOMENT = "a whole number: milliseconds since 1970";

/** The last moment that a Date can hold. */
const LAST_INSTANT = 8.64e15;

const moment = z.int({ error: MOMENT }).min(0, { error: MOMENT }).max(LAST_INSTANT, { error: MOMENT });

/** A message that only asks for a reconcile. */
const wakeSchema = z.strictObject({
  version,
  cluster: nameSchema,
  wake: z.literal(true, { error: "true" }),
  at: moment.optional(),
  id: labelSchema.optional(),
});

type WakeRead = Extract<MessageRead, { kind: "wake" | "rejected" }>;

/** Reads a wake message. Never throws. */
function readWake(message: Fields, context: MessageContext): WakeRead {
  const parsed = wakeSchema.safeParse(message);
  const problems = new Problems();
  if (!parsed.success)
    addSchemaProblems(problems, parsed.error, message, () => Object.keys(wakeSchema.shape));
  problems.addBelow("", clusterProblems(message, context.knownClusters));
  findWakeTooLate(message, context.now, problems);
  if (!parsed.success || problems.count > 0) {
    const { cluster } = message;
    return { kind: "rejected", ...(isName(cluster) ? { cluster } : {}), problems: problems.all() };
  }
  const cluster = clusterName(parsed.data.cluster);
  const { at, id } = parsed.data;
  return {
    kind: "wake",
    cluster,
    ...(at === undefined ? {} : { at: instant(at) }),
    ...withoutAbsent({ id }),
  };
}

/** Our own wake messages are less than half an hour ahead. One that is more than an hour ahead has a wrong clock or unit. */
function findWakeTooLate({ at }: Fields, now: Instant, problems: Problems): void {
  const latest = plusSeconds(now, BOUNDS.wakeSeconds);
  if (typeof at !== "number" || !Number.isSafeInteger(at) || at > LAST_INSTANT || at <= latest) return;
  problems.add(() =>
    problemAt("at", at, `milliseconds since 1970, at most an hour ahead of ${isoTime(now)} (${latest})`),
  );
}
