import type {
  PartialUpdate,
  Problem,
  RequestSetUpdate,
  Revision,
  SetDemand,
  WholeUpdate,
} from "../../domain/demand.ts";
import { REVISION_LEEWAY_SECONDS } from "../../domain/demand.ts";
import type { ClusterName, SetName } from "../../domain/ids.ts";
import { clusterName, setName, digest, type Digest } from "../../domain/ids.ts";
import type { Sliced } from "../../domain/sliced.ts";
import type { Bytes, Instant, Seconds } from "../../domain/units.ts";
import { instant, isoTime, plusSeconds } from "../../domain/units.ts";
import type { Decoded } from "../json/decode.ts";
import { isTooLong, listOrOne } from "../json/fields.ts";
import { readJobsInSlices } from "./job.ts";
import { isName } from "../json/name.ts";
import { readNodearrays } from "./nodearray.ts";
import { readPools } from "./pool.ts";
import { problemAt, problemShowing } from "../json/problem.ts";
import { readSchedulerNodes } from "./scheduler-node.ts";
import { addSchemaProblems } from "../json/schema-problems.ts";
import { Problems } from "../json/problems.ts";
import { BOUNDS } from "../json/bounds.ts";
import { DEFAULT_SET, envelopeSchema, clusterProblems } from "./envelope.ts";
import type { Envelope } from "./envelope.ts";
import type { MessageRead } from "./message-read.ts";
import { createHash } from "node:crypto";
import { jsonPieces } from "../../domain/json-pieces.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

/** The context of a message, however it came. */
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

/** Reads a decoded message that is not a wake message. All of its problems are found, in its envelope and in its lists. */
export function* readUpdateInSlices(
  { value, hasOversizeJob }: DecodedValue,
  context: UpdateContext,
): Sliced<MessageRead> {
  const parsed = envelopeSchema.safeParse(value);
  const problems = new Problems();
  if (!parsed.success) addSchemaProblems(problems, parsed.error, value, () => context.keys);
  const fields = isFields(value) ? value : {};
  findCircumstances(fields, context, problems);
  const lists = yield* readLists(fields, { hasOversizeJob: hasOversizeJob === true }, problems);
  if (fields["others"] !== undefined && (fields["nodearrays"] === undefined || hasMoreLists(fields)))
    problems.add(() => problemAt("others", fields["others"], "it only beside nodearrays, and no other list"));
  // Checked last: a message with other errors may only have misspelt its list.
  if (problems.count === 0 && !LISTS.some((key) => fields[key] !== undefined))
    problems.add(() => problemAt("", undefined, SOME_LIST));
  if (!parsed.success || problems.count > 0) return rejectedUpdate(fields, problems.all());
  return finish(parsed.data, lists, context);
}

/** Problems that depend on place and time: an unknown cluster, an address that disagrees, a revision from the future. */
function findCircumstances(message: Fields, context: UpdateContext, problems: Problems): void {
  const { address } = context;
  // The cluster of an address is known.
  if (address === undefined) problems.addBelow("", clusterProblems(message, context.knownClusters));
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

const LISTS = ["nodearrays", "jobs", "schedulerNodes", "pools"] as const;

const hasMoreLists = (fields: Fields): boolean =>
  LISTS.some((key) => key !== "nodearrays" && fields[key] !== undefined);

const SOME_LIST = `at least one of ${LISTS.join(", ")}; to empty a set send "jobs": []`;

/** The members of a message besides its envelope. */
type Lists =
  | Pick<WholeUpdate, "bytes" | "demand" | "digest" | "schedulerNodes">
  | Pick<PartialUpdate, "schedulerNodes" | "pools">;

/** Findings of the decoder. `hasOversizeJob`: at least one job is too large or too deep to be read. */
interface Found {
  readonly hasOversizeJob: boolean;
}

/** A message without `nodearrays` and `jobs` leaves its set's demand unchanged. */
function* readLists(message: Fields, found: Found, problems: Problems): Sliced<Lists> {
  const states = message["nodearrays"] !== undefined || message["jobs"] !== undefined;
  const asked = states ? yield* readDemands(message, found, problems) : undefined;
  const pools = message["pools"] === undefined ? undefined : readPools(message["pools"], problems);
  const report =
    message["schedulerNodes"] === undefined
      ? {}
      : { schedulerNodes: readSchedulerNodes(message["schedulerNodes"], problems) };
  if (asked === undefined) return pools === undefined ? report : { ...report, pools };
  const { demands, rejectedJobs, ...more } = asked;
  // Keys in alphabetical order: see digestOf.
  const demand: SetDemand = { demands, ...more, pools: pools ?? [], rejectedJobs };
  return { ...(yield* measureInSlices(demand)), demand, ...report };
}

type Asked = Pick<SetDemand, "demands" | "rejectedJobs" | "moreRejectedJobs">;

function* readDemands(message: Fields, found: Found, problems: Problems): Sliced<Asked> {
  const targets = readNodearrays(
    itemsOf(message, "nodearrays", BOUNDS.nodearrays, "entries", problems),
    message["cluster"],
    problems,
  );
  const items = itemsOf(message, "jobs", BOUNDS.jobs, "jobs", problems);
  const { jobs, rejected, moreRejected } = yield* readJobsInSlices(items, targets.length, found);
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

/** The update of a message without problems. */
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
    ...(envelope.readAt === undefined ? {} : { readAt: instant(envelope.readAt) }),
    expiresAt,
    ...(envelope.others === undefined ? {} : { others: envelope.others }),
    ...lists,
  };
  return { kind: "update", update };
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

/**
 * SHA-256, in hex, of the value's JSON text, and the size of that text. Equal values give equal digests only if their keys are in the same
 * order. So wire/ builds all values with their keys in alphabetical order, which gives the canonical text of domain/digest.ts at a
 * fraction of its cost.
 */
export function* measureInSlices(value: object): Sliced<{ readonly digest: Digest; readonly bytes: Bytes }> {
  const hash = createHash("sha256");
  let bytes = 0;
  for (const text of jsonPieces(value)) {
    if (bytes > 0) yield;
    hash.update(text);
    bytes += Buffer.byteLength(text);
  }
  return { digest: digest(hash.digest("hex")), bytes };
}
