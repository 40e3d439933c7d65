import type { HttpHandler, HttpRequest, HttpResponseInit } from "@azure/functions";
import { describeRequestSet } from "../src/app/describe/describe-request-set.ts";
import type { Site } from "../src/app/ports/ports.ts";
import type { Composition } from "../src/compose.ts";
import type { SetName } from "../src/domain/ids.ts";
import { setName } from "../src/domain/ids.ts";
import { NAME_EXPECTED, isKeptName } from "../src/wire/json/name.ts";
import { problemShowing } from "../src/wire/json/problem.ts";
import { forCluster, pageOf, badRequest, problem } from "./answering.ts";
import { LONGEST_EXPIRATION_SECONDS } from "../src/domain/policy.ts";
import { emptyRequestSet, readRequestSetInSlices } from "../src/wire/message/demand-message.ts";
import { MOST_OVER_HTTP } from "../src/wire/json/decode.ts";
import { answerWithBody, inTurns } from "./reading.ts";
import { noteAccepted, countAsked } from "../src/app/demand/note-demand.ts";
import type { RecordedDemand, Recorded } from "../src/app/demand/record-demand.ts";
import { rejectedShown } from "../src/app/describe/describe-queues.ts";
import { wakeLater } from "../src/app/demand/wake-later.ts";
import type { RequestSetUpdate, Revision } from "../src/domain/demand.ts";
import { isoTime, instant } from "../src/domain/units.ts";
import type { AcknowledgementShown } from "../src/wire/api/request-set-answers.ts";
import { reconcileDemand } from "./reconcile.ts";
import type { Bytes, Instant, Milliseconds } from "../src/domain/units.ts";

export const answerRequestSet = forSet(getRequestSet);

export const answerWriteRequestSet = forSet((composed, site, set, request) =>
  request.method === "PUT"
    ? putRequestSet(composed, site, set, request)
    : deleteRequestSet(composed, site, set),
);

async function getRequestSet(
  composed: Composition,
  site: Site,
  set: SetName,
  request: HttpRequest,
): Promise<HttpResponseInit> {
  const page = pageOf(request);
  if (page.kind === "problem") return badRequest([page.problem]);
  const described = await describeRequestSet(composed.app, site.cluster, set, page.start);
  if (described === undefined)
    return problem(404, "Unknown request set", `cluster "${site.cluster}" has no request set "${set}"`);
  return { status: 200, jsonBody: described };
}

type ForSet = (
  composed: Composition,
  site: Site,
  set: SetName,
  request: HttpRequest,
) => Promise<HttpResponseInit>;

function forSet(handle: ForSet): HttpHandler {
  return forCluster(async (composed, site, request) => {
    const name = request.params["set"];
    // An encoded slash arrives as %2F, which no name contains. Otherwise it could be taken for another set. A set that was stored with
    // another name can be read and emptied; the reader of messages refuses it to PUT.
    if (!isKeptName(name)) return badRequest([problemShowing("requestSet", name, NAME_EXPECTED)]);
    return handle(composed, site, setName(name), request);
  });
}

export async function putRequestSet(
  composed: Composition,
  site: Site,
  set: SetName,
  request: Pick<HttpRequest, "arrayBuffer">,
): Promise<HttpResponseInit> {
  const body = new Uint8Array(await request.arrayBuffer());
  return answerWithBody(composed, body, MOST_OVER_HTTP, () => putBody(composed, site, set, body));
}

async function putBody(
  composed: Composition,
  site: Site,
  set: SetName,
  body: Uint8Array,
): Promise<HttpResponseInit> {
  const { clock, sites } = composed.app.ports;
  const read = await inTurns(
    composed.app,
    readRequestSetInSlices(body, {
      cluster: site.cluster,
      set,
      now: clock.now(),
      maxExpirationSeconds: LONGEST_EXPIRATION_SECONDS,
      knownClusters: new Set(sites.keys()),
      senderTime: composed.senderTime,
    }),
  );
  if (read.kind === "rejected") {
    return read.tooLarge === true
      ? problem(413, "Too large", "a request set has at most 32 MiB of JSON, unpacked")
      : badRequest(read.problems);
  }
  if (read.kind === "stale") return expired(read.expiredAt);
  if (read.kind === "wake") return problem(400, "Bad request", "a request set was expected");
  return acknowledge(composed, site, read.update);
}

async function deleteRequestSet(composed: Composition, site: Site, set: SetName): Promise<HttpResponseInit> {
  const { clock, policyOf } = composed.app.ports;
  const { maxExpirationSeconds } = await policyOf(site.cluster);
  const now = clock.now();
  return acknowledge(
    composed,
    site,
    emptyRequestSet(
      site.cluster,
      set,
      { value: composed.senderTime(now), tieBreak: "" },
      now,
      maxExpirationSeconds,
    ),
  );
}

/**
 * Answers once the demand is stored. Begins a plan, and does not wait for it. If this process ends before the plan is made, the wake message
 * makes another instance plan, and the timer does if that message is lost. Throws PortError of the store and the queue.
 */
async function acknowledge(
  composed: Composition,
  site: Site,
  update: RequestSetUpdate,
): Promise<HttpResponseInit> {
  const { clock } = composed.app.ports;
  const recorded = await composed.recorder.record(update);
  if (recorded.kind !== "accepted") {
    return notAccepted(recorded, update, composed.senderTime(clock.now()));
  }
  const { changed, record } = recorded;
  if (changed || record.awaitsReport === true)
    composed.background.start(site.cluster, () => reconcileDemand(composed, site.cluster, record));
  if (changed) await wakeLater(composed.app.ports, site.cluster);
  return { status: 202, jsonBody: await acknowledgement(composed, recorded) };
}

/** Maximum size of the problems of rejected jobs in an answer. */
const REJECTED_BYTES: Bytes = 1_000_000;

async function acknowledgement(
  { app: { ports } }: Composition,
  recorded: RecordedDemand,
): Promise<AcknowledgementShown> {
  const { changed, update, taken, older } = recorded;
  return {
    cluster: update.cluster,
    requestSet: update.set,
    revision: update.revision.value,
    expiresAt: isoTime(update.expiresAt),
    changed,
    taken,
    older,
    asks: update.demand === undefined ? undefined : countAsked(update.demand),
    ...rejectedShown(update.demand, REJECTED_BYTES),
    notes: await noteAccepted(ports, recorded),
  };
}

function notAccepted(
  recorded: Exclude<Recorded, RecordedDemand>,
  update: RequestSetUpdate,
  now: Instant,
): HttpResponseInit {
  switch (recorded.kind) {
    case "older":
      return problem(409, "Older revision", adviseOnOlder(update, recorded.held, now), {
        held: recorded.held.value,
      });
    case "stale":
      return "oldest" in recorded ? forgotten(update, recorded.oldest) : expired(recorded.expiredAt);
    case "refused":
      return badRequest(recorded.problems);
    case "too-much": {
      // Not 429, after which clients repeat: more tries make no room.
      const { found, expected } = recorded.problem;
      return problem(409, "Too much demand", `found ${found}, expected ${expected}`, {
        problems: [recorded.problem],
      });
    }
    case "contended":
      return problem(503, "Cannot tell now", "too many writers at once", { retryAfterSeconds: 5 });
    case "other-state":
      return problem(503, "Cannot tell now", recorded.message, { retryAfterSeconds: 30 });
  }
}

/** Advice on a revision that is older than the one that is held, with the times if clocks seem to differ. */
function adviseOnOlder({ revision }: RequestSetUpdate, held: Revision, now: Instant): string {
  const older = `revision ${revision.value} is older than ${held.value}, which is held`;
  const advice = "send a later revision or none, or use another request set";
  const moment = ({ value }: Revision) => isoTime(instant(value));
  if (held.value > now)
    return `${older}: the clock of the sender of the held one is ahead (held ${moment(held)}, the app's time is ${isoTime(now)}); ${advice}`;
  if (now - revision.value > CLOCKS_DIFFER_MS)
    return `${older}: this sender's clock is behind, or the message is old (revision ${moment(revision)}, the app's time is ${isoTime(now)}); ${advice}`;
  return `${older}; ${advice}`;
}

/** A request over HTTP arrives at once. A revision that is older than this was not made just now. */
const CLOCKS_DIFFER_MS: Milliseconds = 30_000;

/** The answer to a message that was over when it arrived. Sending it again does not help. */
function expired(at: Instant): HttpResponseInit {
  return problem(409, "Expired", `the message expired at ${isoTime(at)}`);
}

/** A revision from before the time that the app remembers: a newer one may have come and lapsed since. */
function forgotten({ revision }: RequestSetUpdate, oldest: Instant): HttpResponseInit {
  const of = isoTime(instant(revision.value));
  return problem(
    409,
    "Stale revision",
    `revision ${revision.value} (${of}) is from before ${isoTime(oldest)}, and nothing newer of this request set is held: revisions are remembered for maxExpirationInterval; send a later revision or none`,
  );
}
