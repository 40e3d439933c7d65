import * as z from "zod";
import type {
  PartialUpdate,
  Problem,
  RequestSetUpdate,
  Revision,
  SetDemand,
  WholeUpdate,
} from "../domain/demand.ts";
import { REVISION_LEEWAY_SECONDS } from "../domain/demand.ts";
import { clusterName, setName, type ClusterName, type SetName } from "../domain/ids.ts";
import { instant, isoTime, plusSeconds, type Instant } from "../domain/units.ts";
import { decodeMessage, MOST_BY_QUEUE, MOST_OVER_HTTP, type Decoded } from "./decode.ts";
import { measure } from "./digest.ts";
import { isFields, isTooLong, listOrOne, type Fields } from "./fields.ts";
import { readJobs } from "./job.ts";
import { isName, labelSchema, nameSchema } from "./name.ts";
import { readNodearrays } from "./nodearray.ts";
import { readPools } from "./pool.ts";
import { nearest, problemAt, problemShowing } from "./problem.ts";
import { readSchedulerNodes } from "./scheduler-node.ts";
import { addSchemaProblems } from "./schema-problems.ts";
import { someOf } from "../domain/some-of.ts";
import { Problems } from "./problems.ts";
import { BOUNDS } from "./bounds.ts";
import type { Seconds } from "../domain/units.ts";

/** The context of a message. */
export interface MessageContext {
  readonly messageId: string;
  /** When the message was put into the queue. */
  readonly insertedAt: Instant;
  readonly now: Instant;
  /** From the cluster's policy. Longer intervals are cut to it. */
  readonly maxExpirationSeconds: Seconds;
  /** Absent: any cluster is accepted. */
  readonly knownClusters?: ReadonlySet<string>;
  readonly senderTime?: SenderTime;
}

/**
 * Converts a moment of ours to the senders' clocks: revisions are moments on theirs. Absent: no difference. They differ if our clock is
 * scaled.
 */
export type SenderTime = (at: Instant) => Instant;

/** The same for a request set sent over HTTP: the address names cluster and set. */
export interface RequestSetContext {
  readonly cluster: ClusterName;
  readonly set: SetName;
  readonly now: Instant;
  readonly maxExpirationSeconds: Seconds;
  readonly knownClusters?: ReadonlySet<string>;
  readonly senderTime?: SenderTime;
}

/** The result of reading a message. */
export type MessageRead =
  | { readonly kind: "update"; readonly update: RequestSetUpdate }
  /** Asks only for a reconcile, not before `at`. */
  | { readonly kind: "wake"; readonly cluster: ClusterName; readonly at?: Instant; readonly id?: string }
  /** The message is valid, but its time is over: to be acknowledged and noted. */
  | {
      readonly kind: "stale";
      readonly cluster: ClusterName;
      readonly set: SetName;
      readonly expiredAt: Instant;
    }
  /** All problems of the message; `cluster` and `set` if they could be read. */
  | {
      readonly kind: "rejected";
      readonly cluster?: string;
      readonly set?: string;
      readonly problems: readonly Problem[];
      /** The message is too large. */
      readonly tooLarge?: true;
    };

const DEFAULT_SET = "standard";
const DEFAULT_INTERVAL_SECONDS: Seconds = 300;
const MOST_NAMES_SHOWN = 20;

const INTERVAL = "a number of seconds above 0";
/** In milliseconds since 1970: March 1973. Smaller values are seconds, and would lose against every message without a revision. */
const LEAST_REVISION = 1e11;
const REVISION = "a whole number: milliseconds since 1970";
const NOT_SECONDS = `milliseconds since 1970, ${LEAST_REVISION} or more: this looks like seconds; multiply by 1000`;
const MOMENT = "a whole number: milliseconds since 1970";
/** The last moment that a Date can hold. */
const LAST_INSTANT = 8.64e15;

const version = z.literal(1, { error: "1" });
const revision = z.int({ error: REVISION }).min(LEAST_REVISION, {
  error: ({ input }) => (Number(input) < 0 ? REVISION : NOT_SECONDS),
});
const interval = z.number({ error: INTERVAL }).positive({ error: INTERVAL });
const moment = z.int({ error: MOMENT }).min(0, { error: MOMENT }).max(LAST_INSTANT, { error: MOMENT });

/** The envelope of a demand message (docs/demand.md). The lists inside have their own readers. */
export const envelopeSchema = z.strictObject(
  {
    version,
    cluster: nameSchema,
    requestSet: nameSchema.default(DEFAULT_SET),
    revision: revision.optional(),
    expirationInterval: interval.default(DEFAULT_INTERVAL_SECONDS),
    nodearrays: z.unknown().optional(),
    jobs: z.unknown().optional(),
    schedulerNodes: z.unknown().optional(),
    pools: z.unknown().optional(),
  },
  { error: "an object: a demand message" },
);

const wakeSchema = z.strictObject({
  version,
  cluster: nameSchema,
  wake: z.literal(true, { error: "true" }),
  at: moment.optional(),
  id: labelSchema.optional(),
});

type Envelope = z.infer<typeof envelopeSchema>;

const UPDATE_KEYS = Object.keys(envelopeSchema.shape);
/** In the queue a message may also be a wake message: a misspelling of that key must be recognised. */
const MESSAGE_KEYS = [...UPDATE_KEYS, "wake"];

/**
 * Reads a message of the demand queue in any packaging. Never throws. Without an explicit revision the message's revision is the second in
 * which it was put into the queue, with ties decided by message id (architecture.md, Revisions).
 */
export function readDemandMessage(input: string | Uint8Array | object, context: MessageContext): MessageRead {
  const decoded = decodeMessage(input, MOST_BY_QUEUE);
  if (decoded.kind === "problem") return undecodable(decoded);
  if (isFields(decoded.value) && "wake" in decoded.value) return readWake(decoded.value, context);
  const { senderTime = sameTime } = context;
  return readUpdate(decoded, {
    keys: MESSAGE_KEYS,
    sentAt: context.insertedAt,
    now: context.now,
    maxExpirationSeconds: context.maxExpirationSeconds,
    knownClusters: context.knownClusters,
    senderNow: senderTime(context.now),
    implicitRevision: {
      value: Math.floor(senderTime(context.insertedAt) / 1000) * 1000,
      tieBreak: context.messageId,
    },
  });
}

/**
 * Reads the body of `PUT /api/clusters/{cluster}/request-sets/{set}`: a demand message whose `cluster` and `requestSet` may be left out,
 * and otherwise must match the address. Without an explicit revision it gets the current time in milliseconds, with an empty tie-break like
 * an explicit one, because HTTP has no message id. Never "wake". "stale" only if its interval is less than a millisecond, because it
 * arrives when it is sent.
 */
export function readRequestSet(body: string | Uint8Array | object, context: RequestSetContext): MessageRead {
  const address = { cluster: context.cluster, set: context.set };
  const decoded = decodeMessage(body, MOST_OVER_HTTP);
  if (decoded.kind === "problem") return { ...undecodable(decoded), ...address };
  const { value, hasOversizeJob } = decoded;
  const senderNow = (context.senderTime ?? sameTime)(context.now);
  if (!isFields(value)) {
    return { kind: "rejected", ...address, problems: [problemAt("", value, "an object: a demand message")] };
  }
  const addressed = {
    ...value,
    cluster: value["cluster"] ?? context.cluster,
    requestSet: value["requestSet"] ?? context.set,
  };
  const read = readUpdate(
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

function undecodable({ problem, tooLarge }: Extract<Decoded, { kind: "problem" }>): MessageRead {
  return { kind: "rejected", problems: [problem], ...(tooLarge === undefined ? {} : { tooLarge }) };
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
    ...measure(demand),
    demand,
    ends: true,
  };
}

interface UpdateContext {
  /** Known keys, for the suggestion beside an unknown one. */
  readonly keys: readonly string[];
  readonly sentAt: Instant;
  readonly now: Instant;
  readonly maxExpirationSeconds: Seconds;
  readonly knownClusters: ReadonlySet<string> | undefined;
  /** The current time on the senders' clocks. */
  readonly senderNow: Instant;
  readonly implicitRevision: Revision;
  readonly address?: { readonly cluster: ClusterName; readonly set: SetName };
}

type DecodedValue = Pick<Extract<Decoded, { kind: "value" }>, "value" | "hasOversizeJob">;

function readUpdate({ value, hasOversizeJob }: DecodedValue, context: UpdateContext): MessageRead {
  const parsed = envelopeSchema.safeParse(value);
  const problems = new Problems();
  if (!parsed.success) addSchemaProblems(problems, parsed.error, value, () => context.keys);
  const fields = isFields(value) ? value : {};
  findCircumstances(fields, context, problems);
  const lists = readLists(fields, hasOversizeJob === true, problems);
  // Checked last: a message with other errors may only have misspelt its list.
  if (problems.count === 0 && !LISTS.some((key) => fields[key] !== undefined))
    problems.add(() => problemAt("", undefined, SOME_LIST));
  if (!parsed.success || problems.count > 0) return rejectedUpdate(fields, problems.all());
  return finish(parsed.data, lists, context);
}

const LISTS = ["nodearrays", "jobs", "schedulerNodes", "pools"] as const;
const SOME_LIST = `at least one of ${LISTS.join(", ")}; to empty a set send "jobs": []`;

/** The members of a message besides its envelope. */
type Lists =
  | Pick<WholeUpdate, "bytes" | "demand" | "digest" | "schedulerNodes">
  | Pick<PartialUpdate, "schedulerNodes" | "pools">;

/** A message without `nodearrays` and `jobs` leaves its set's demand unchanged. */
function readLists(message: Fields, hasOversizeJob: boolean, problems: Problems): Lists {
  const states = message["nodearrays"] !== undefined || message["jobs"] !== undefined;
  const asked = states ? readDemands(message, hasOversizeJob, problems) : undefined;
  const pools = message["pools"] === undefined ? undefined : readPools(message["pools"], problems);
  const report =
    message["schedulerNodes"] === undefined
      ? {}
      : { schedulerNodes: readSchedulerNodes(message["schedulerNodes"], problems) };
  if (asked === undefined) return pools === undefined ? report : { ...report, pools };
  const { demands, rejectedJobs, ...more } = asked;
  // Keys in alphabetical order: see digestOf.
  const demand: SetDemand = { demands, ...more, pools: pools ?? [], rejectedJobs };
  return { ...measure(demand), demand, ...report };
}

type Asked = Pick<SetDemand, "demands" | "rejectedJobs" | "moreRejectedJobs">;

function readDemands(message: Fields, hasOversizeJob: boolean, problems: Problems): Asked {
  const targets = readNodearrays(
    itemsOf(message, "nodearrays", BOUNDS.nodearrays, "entries", problems),
    problems,
  );
  const items = itemsOf(message, "jobs", BOUNDS.jobs, "jobs", problems);
  const { jobs, rejected, moreRejected } = readJobs(items, targets.length, hasOversizeJob);
  return {
    demands: [...targets, ...jobs],
    ...(moreRejected === 0 ? {} : { moreRejectedJobs: moreRejected }),
    rejectedJobs: rejected,
  };
}

function itemsOf(
  message: Fields,
  key: string,
  most: number,
  what: string,
  problems: Problems,
): readonly unknown[] {
  const value = message[key];
  if (value === undefined) return [];
  const items = listOrOne(value);
  if (items === undefined) problems.add(() => problemAt(key, value, "a list of objects, or one object"));
  return items === undefined || isTooLong(key, items, most, what, problems) ? [] : items;
}

function finish(envelope: Envelope, lists: Lists, context: UpdateContext): MessageRead {
  const cluster = clusterName(envelope.cluster);
  const set = setName(envelope.requestSet);
  const intervalSeconds = Math.min(envelope.expirationInterval, context.maxExpirationSeconds);
  const expiresAt = plusSeconds(context.sentAt, intervalSeconds);
  if (expiresAt <= context.now) return { kind: "stale", cluster, set, expiredAt: expiresAt };
  const update: RequestSetUpdate = {
    cluster,
    set,
    revision:
      envelope.revision === undefined ? context.implicitRevision : { value: envelope.revision, tieBreak: "" },
    intervalSeconds,
    ...(envelope.expirationInterval > intervalSeconds
      ? { askedIntervalSeconds: envelope.expirationInterval }
      : {}),
    sentAt: context.sentAt,
    expiresAt,
    ...lists,
  };
  return { kind: "update", update };
}

function readWake(message: Fields, context: MessageContext): MessageRead {
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
    ...(id === undefined ? {} : { id }),
  };
}

/** Each minute has its tick, so a wake message is for work that cannot wait that long. Our own are due within half an hour. */
function findWakeTooLate({ at }: Fields, now: Instant, problems: Problems): void {
  const latest = plusSeconds(now, BOUNDS.wakeSeconds);
  if (typeof at !== "number" || !Number.isSafeInteger(at) || at > LAST_INSTANT || at <= latest) return;
  problems.add(() =>
    problemAt("at", at, `milliseconds since 1970, at most an hour ahead of ${isoTime(now)} (${latest})`),
  );
}

/** Problems that depend on place and time: an unknown cluster, an address that disagrees, a revision from the future. */
function findCircumstances(message: Fields, context: UpdateContext, problems: Problems): void {
  problems.addBelow("", clusterProblems(message, context.knownClusters));
  const { address } = context;
  if (address !== undefined && message["cluster"] !== address.cluster) {
    problems.add(() =>
      problemShowing(
        "cluster",
        message["cluster"],
        `"${address.cluster}", as in the address, or leave the key out`,
      ),
    );
  }
  if (address !== undefined && message["requestSet"] !== address.set) {
    problems.add(() =>
      problemShowing(
        "requestSet",
        message["requestSet"],
        `"${address.set}", as in the address, or leave the key out`,
      ),
    );
  }
  // A sender may also use our own clock, as a simulated scheduler beside us does.
  const ahead = context.senderNow > context.now ? context.senderNow : context.now;
  const latest = plusSeconds(ahead, REVISION_LEEWAY_SECONDS);
  const value = message["revision"];
  if (typeof value === "number" && Number.isSafeInteger(value) && value > latest) {
    problems.add(() =>
      problemAt(
        "revision",
        value,
        `milliseconds since 1970, at most 5 minutes ahead of ${isoTime(ahead)} (${latest})`,
      ),
    );
  }
}

function clusterProblems(message: Fields, known: ReadonlySet<string> | undefined): readonly Problem[] {
  const { cluster } = message;
  if (known === undefined || !isName(cluster) || known.has(cluster)) return [];
  const names = [...known];
  const shown = someOf(names, MOST_NAMES_SHOWN) || "none configured";
  return [problemShowing("cluster", cluster, `a known cluster: ${shown}`, nearest(cluster, names))];
}

function rejectedUpdate(message: Fields, problems: readonly Problem[]): MessageRead {
  const { cluster, requestSet = DEFAULT_SET } = message;
  return {
    kind: "rejected",
    ...(isName(cluster) ? { cluster } : {}),
    ...(isName(cluster) && isName(requestSet) ? { set: requestSet } : {}),
    problems,
  };
}
