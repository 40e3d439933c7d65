import type { HttpRequest, HttpResponseInit } from "@azure/functions";
import { app } from "@azure/functions";
import { describeRequestSet } from "../src/app/describe-cluster.ts";
import type { Site } from "../src/app/ports.ts";
import type { Recorded } from "../src/app/record-demand.ts";
import type { Composition } from "../src/compose.ts";
import type { RequestSetUpdate } from "../src/domain/demand.ts";
import type { SetName } from "../src/domain/ids.ts";
import { setName } from "../src/domain/ids.ts";
import { LONGEST_EXPIRATION_SECONDS } from "../src/domain/policy.ts";
import type { Instant } from "../src/domain/units.ts";
import { isoTime } from "../src/domain/units.ts";
import { emptyRequestSet, readRequestSet } from "../src/wire/demand-message.ts";
import { isName, NAME_EXPECTED } from "../src/wire/name.ts";
import { problemAt } from "../src/wire/problem.ts";
import { forCluster } from "./for-cluster.ts";
import { badRequest, problem } from "./problem.ts";

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
  const now = composed.app.ports.clock.now();
  return acknowledge(
    composed,
    site,
    emptyRequestSet(
      site.cluster,
      set,
      { value: composed.senderTime(now), tieBreak: "" },
      now,
      LONGEST_EXPIRATION_SECONDS,
    ),
  );
}

/** Acknowledged once durable; achieving it is left to the queue function, woken here, and to the timer if that is lost. */
async function acknowledge(
  composed: Composition,
  site: Site,
  update: RequestSetUpdate,
): Promise<HttpResponseInit> {
  const { clock, queue } = composed.app.ports;
  const recorded = await composed.recorder.record(update);
  if (recorded.kind === "accepted" && recorded.changed) await queue.wake(site.cluster, clock.now());
  return acknowledgement(recorded, update);
}

function acknowledgement(recorded: Recorded, update: RequestSetUpdate): HttpResponseInit {
  switch (recorded.kind) {
    case "accepted":
      return {
        status: 202,
        jsonBody: {
          cluster: update.cluster,
          requestSet: update.set,
          revision: update.revision.value,
          expiresAt: isoTime(update.expiresAt),
          changed: recorded.changed,
          rejectedJobs: update.demand.rejectedJobs,
        },
      };
    case "older":
      return problem(
        409,
        "Older revision",
        `revision ${update.revision.value} is older than ${recorded.held.value}, which is held`,
        {
          held: recorded.held.value,
        },
      );
    case "stale":
      return expired(recorded.expiredAt);
    case "contended":
      return problem(503, "Cannot tell now", "too many writers at once", { retryAfterSeconds: 5 });
    case "newer-state":
      return problem(503, "Cannot tell now", recorded.message, { retryAfterSeconds: 30 });
  }
}

function expired(at: Instant): HttpResponseInit {
  return problem(409, "Expired", `the message expired at ${isoTime(at)}`);
}

async function getRequestSet(composed: Composition, site: Site, set: SetName): Promise<HttpResponseInit> {
  const described = await describeRequestSet(composed.app, site.cluster, set);
  if (described === undefined)
    return problem(404, "Unknown request set", `cluster "${site.cluster}" has no request set "${set}"`);
  return { status: 200, jsonBody: described };
}

app.http("request-set", {
  methods: ["PUT", "GET", "DELETE"],
  authLevel: "function",
  route: "clusters/{cluster}/request-sets/{set}",
  handler: forCluster(async (composed, site, request) => {
    const name = request.params["set"];
    // An encoded slash arrives as %2F, which no name has: it would be taken for another set.
    if (!isName(name)) return badRequest([problemAt("requestSet", name, NAME_EXPECTED)]);
    const set = setName(name);
    switch (request.method) {
      case "PUT":
        return putRequestSet(composed, site, set, request);
      case "DELETE":
        return deleteRequestSet(composed, site, set);
      default:
        return getRequestSet(composed, site, set);
    }
  }),
});
