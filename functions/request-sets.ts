import type { HttpHandler, HttpRequest, HttpResponseInit } from "@azure/functions";
import { describeRequestSet } from "../src/app/describe-cluster.ts";
import { countAsked, noteDemand } from "../src/app/note-demand.ts";
import { noteSenders } from "../src/app/note-senders.ts";
import type { LoadedRecord, Ports, Site } from "../src/app/ports.ts";
import { PortError } from "../src/app/ports.ts";
import { rejectedShown } from "../src/app/rejected-shown.ts";
import type { Recorded } from "../src/app/record-demand.ts";
import type { Composition } from "../src/compose.ts";
import type { Bodies } from "../src/domain/bodies.ts";
import type { RequestSetUpdate, Revision } from "../src/domain/demand.ts";
import type { ClusterName, SetName } from "../src/domain/ids.ts";
import { setName } from "../src/domain/ids.ts";
import { noteNoAmounts } from "../src/domain/no-amount.ts";
import { noteMoreRejected } from "../src/domain/more-rejected.ts";
import { LONGEST_EXPIRATION_SECONDS } from "../src/domain/policy.ts";
import type { Instant } from "../src/domain/units.ts";
import { instant, isoTime, plusSeconds } from "../src/domain/units.ts";
import { emptyRequestSet, readRequestSet } from "../src/wire/demand-message.ts";
import { isName, NAME_EXPECTED } from "../src/wire/name.ts";
import { problemShowing } from "../src/wire/problem.ts";
import { forCluster } from "./for-cluster.ts";
import { pageOf } from "./page.ts";
import { badRequest, problem } from "./problem.ts";
import { reconcileDemand } from "./reconcile.ts";

async function putRequestSet(
  composed: Composition,
  site: Site,
  set: SetName,
  request: HttpRequest,
): Promise<HttpResponseInit> {
  const { clock, sites } = composed.app.ports;
  const read = readRequestSet(new Uint8Array(await request.arrayBuffer()), {
    cluster: site.cluster,
    set,
    now: clock.now(),
    maxExpirationSeconds: LONGEST_EXPIRATION_SECONDS,
    knownClusters: new Set(sites.keys()),
    senderTime: composed.senderTime,
  });
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
 * Acknowledged once durable. A plan begins at once, and the answer does not wait for it. If this process ends before the plan is made, the
 * wake message triggers it, and if that is lost, the timer.
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
  if (changed) await wakeLater(composed, site.cluster);
  return { status: 202, jsonBody: await acknowledgement(composed, recorded) };
}

/** The wake message finds the work done, unless this process has ended. */
const WAKE_SECONDS = 2;

async function wakeLater({ app: { ports } }: Composition, cluster: ClusterName): Promise<void> {
  try {
    await ports.queue.wake(cluster, plusSeconds(ports.clock.now(), WAKE_SECONDS));
  } catch (error) {
    const kind = error instanceof PortError ? error.kind : "defect";
    const message = error instanceof Error ? error.message : String(error);
    ports.log("wake-not-sent", { cluster, kind, message });
  }
}

/** Maximum number of bytes about errors of jobs in an answer. */
const REJECTED_BYTES = 1_000_000;

type Accepted = Extract<Recorded, { kind: "accepted" }>;

async function acknowledgement({ app: { ports } }: Composition, recorded: Accepted): Promise<object> {
  const { changed, update, taken, older } = recorded;
  return {
    cluster: update.cluster,
    requestSet: update.set,
    revision: update.revision.value,
    expiresAt: isoTime(update.expiresAt),
    changed,
    taken,
    older,
    ...(update.demand === undefined ? {} : { asks: countAsked(update.demand) }),
    ...rejectedShown(update.demand, REJECTED_BYTES),
    notes: await notesOn(ports, recorded),
  };
}

/** The demand is durable: no failure here makes the request fail. */
async function notesOn(
  ports: Ports,
  { changed, record, update, before }: Accepted,
): Promise<readonly string[]> {
  try {
    // A renewal stays cheap: the notes on its demand were in the first answer.
    const bodies = changed && before !== undefined ? await readKnown(ports, before) : undefined;
    const held = before?.record.sets.get(update.set);
    const demand = held?.live === true ? bodies?.demands.get(held.digest) : undefined;
    return [
      ...noteMoreRejected(update.demand),
      ...noteNoAmounts(update.demand?.demands ?? []),
      ...noteDemand(update, {
        record,
        ...(bodies === undefined ? {} : { bodies }),
        ...(demand === undefined ? {} : { before: demand }),
      }),
      ...noteSenders(update, record, await ports.policyOf(update.cluster)),
    ];
  } catch (error) {
    ports.log("notes-left-out", { cluster: update.cluster, set: update.set, message: String(error) });
    return [];
  }
}

/** Notes are optional: without the configuration there are fewer. */
async function readKnown({ store }: Ports, before: LoadedRecord): Promise<Bodies | undefined> {
  try {
    return await store.bodies(before);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return undefined;
  }
}

function notAccepted(
  recorded: Exclude<Recorded, Accepted>,
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
      const { found, expected } = recorded.problem;
      return problem(409, "Too much demand", `found ${found}, expected ${expected}`, {
        problems: [recorded.problem],
      });
    }
    case "contended":
      return problem(503, "Cannot tell now", "too many writers at once", { retryAfterSeconds: 5 });
    case "newer-state":
      return problem(503, "Cannot tell now", recorded.message, { retryAfterSeconds: 30 });
  }
}

/** The remedy for a revision that is not accepted, with the times if clocks seem to differ. */
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

/** An HTTP request arrives at once, so a revision this much older was not made now. */
const CLOCKS_DIFFER_MS = 30_000;

function expired(at: Instant): HttpResponseInit {
  return problem(409, "Expired", `the message expired at ${isoTime(at)}`);
}

/** For such a revision it is no longer known which messages came later. */
function forgotten({ revision }: RequestSetUpdate, oldest: Instant): HttpResponseInit {
  const of = isoTime(instant(revision.value));
  return problem(
    409,
    "Stale revision",
    `revision ${revision.value} (${of}) is from before ${isoTime(oldest)}, and nothing newer of this request set is held: revisions are remembered for maxExpirationInterval; send a later revision or none`,
  );
}

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
    // An encoded slash arrives as %2F, which no name contains. Otherwise it could be taken for another set.
    if (!isName(name)) return badRequest([problemShowing("requestSet", name, NAME_EXPECTED)]);
    return handle(composed, site, setName(name), request);
  });
}

export const answerRequestSet = forSet(getRequestSet);

export const answerWriteRequestSet = forSet((composed, site, set, request) =>
  request.method === "PUT"
    ? putRequestSet(composed, site, set, request)
    : deleteRequestSet(composed, site, set),
);
