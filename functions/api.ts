import type { HttpRequest, HttpResponseInit } from "@azure/functions";
import { app } from "@azure/functions";
import type { Health } from "../src/app/describe-cluster.ts";
import { checkHealth, describeCluster, describeRequestSet } from "../src/app/describe-cluster.ts";
import type { Site } from "../src/app/ports.ts";
import type { Recorded } from "../src/app/record-demand.ts";
import { tickInTime } from "../src/app/tick.ts";
import type { Composition } from "../src/compose.ts";
import { composition } from "../src/compose.ts";
import type { RequestSetUpdate } from "../src/domain/demand.ts";
import { clusterName, setName } from "../src/domain/ids.ts";
import { LONGEST_EXPIRATION_SECONDS } from "../src/domain/policy.ts";
import { instant, isoTime } from "../src/domain/units.ts";
import { emptyRequestSet, readRequestSet } from "../src/wire/demand-message.ts";
import { readPolicy, writePolicy } from "../src/wire/policy.ts";
import { answering, problem, unknownCluster } from "./problem.ts";

/** The HTTP API (design.md section 4). Every route names its key level: the model's default is anonymous. */

type ForCluster = (composed: Composition, site: Site, request: HttpRequest) => Promise<HttpResponseInit>;

function cluster(handle: ForCluster) {
  return (request: HttpRequest) =>
    answering(async () => {
      const composed = composition();
      const name = request.params["cluster"] ?? "";
      const site = composed.app.ports.sites.get(clusterName(name));
      return site === undefined
        ? unknownCluster(name, composed.app.ports.sites.keys())
        : handle(composed, site, request);
    });
}

// ---------------------------------------------------------------- request sets

async function putRequestSet(
  composed: Composition,
  site: Site,
  request: HttpRequest,
): Promise<HttpResponseInit> {
  const { clock, sites } = composed.app.ports;
  const read = readRequestSet(new Uint8Array(await request.arrayBuffer()), {
    cluster: site.cluster,
    set: setName(request.params["set"] ?? ""),
    now: clock.now(),
    maxExpirationSeconds: LONGEST_EXPIRATION_SECONDS,
    knownClusters: new Set(sites.keys()),
  });
  if (read.kind === "rejected") {
    const [first] = read.problems;
    const detail =
      first === undefined
        ? "not a request set"
        : `${first.path}: found ${first.found}, expected ${first.expected}`;
    return problem(400, "Bad request", detail, { problems: read.problems });
  }
  if (read.kind !== "update") return problem(400, "Bad request", "a request set was expected");
  return acknowledge(composed, site, read.update);
}

async function deleteRequestSet(
  composed: Composition,
  site: Site,
  request: HttpRequest,
): Promise<HttpResponseInit> {
  const now = composed.app.ports.clock.now();
  const set = setName(request.params["set"] ?? "");
  return acknowledge(
    composed,
    site,
    emptyRequestSet(site.cluster, set, { value: now, tieBreak: "" }, now, LONGEST_EXPIRATION_SECONDS),
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
      return problem(409, "Expired", `the message expired at ${isoTime(recorded.expiredAt)}`);
    case "contended":
      return problem(503, "Cannot tell now", "too many writers at once", { retryAfterSeconds: 5 });
  }
}

async function getRequestSet(
  composed: Composition,
  site: Site,
  request: HttpRequest,
): Promise<HttpResponseInit> {
  const name = request.params["set"] ?? "";
  const described = await describeRequestSet(composed.app, site.cluster, setName(name));
  if (described === undefined)
    return problem(404, "Unknown request set", `cluster "${site.cluster}" has no request set "${name}"`);
  return { status: 200, jsonBody: described };
}

app.http("request-set", {
  methods: ["PUT", "GET", "DELETE"],
  authLevel: "function",
  route: "clusters/{cluster}/request-sets/{set}",
  handler: cluster((composed, site, request) => {
    switch (request.method) {
      case "PUT":
        return putRequestSet(composed, site, request);
      case "DELETE":
        return deleteRequestSet(composed, site, request);
      default:
        return getRequestSet(composed, site, request);
    }
  }),
});

// ---------------------------------------------------------------- clusters

app.http("clusters", {
  methods: ["GET"],
  authLevel: "function",
  route: "clusters",
  handler: () =>
    answering(async () => {
      const { app: autoscaler } = composition();
      const { sites, queue } = autoscaler.ports;
      const clusters = await Promise.all(
        [...sites.keys()].map(async (name) => ({
          cluster: name,
          health: await checkHealth(autoscaler, name),
        })),
      );
      const rejected = await queue.rejected();
      return { status: 200, jsonBody: { clusters, rejectedMessages: rejected } };
    }),
});

app.http("cluster", {
  methods: ["GET"],
  authLevel: "function",
  route: "clusters/{cluster}",
  handler: cluster(async (composed, site) => ({
    status: 200,
    jsonBody: await describeCluster(composed.app, site.cluster),
  })),
});

/** Rows newest first; `from` and `to` are ISO-8601, `limit` at most 10,000. */
app.http("history", {
  methods: ["GET"],
  authLevel: "function",
  route: "clusters/{cluster}/history",
  handler: cluster(async (composed, site, request) => {
    const { clock, history } = composed.app.ports;
    const from = Date.parse(request.query.get("from") ?? "1970-01-01T00:00:00Z");
    const to = Date.parse(request.query.get("to") ?? isoTime(clock.now()));
    const limit = Number(request.query.get("limit") ?? 1440);
    if (Number.isNaN(from) || Number.isNaN(to))
      return problem(400, "Bad request", "from, to: expected ISO-8601 times");
    if (!Number.isInteger(limit) || limit < 1 || limit > 10_000) {
      return problem(
        400,
        "Bad request",
        `limit: found ${request.query.get("limit")}, expected a whole number from 1 to 10000`,
      );
    }
    const rows = await history.read(site.cluster, instant(from), instant(to), limit);
    return {
      status: 200,
      jsonBody: { cluster: site.cluster, rows: rows.map((row) => ({ ...row, at: isoTime(row.at) })) },
    };
  }),
});

/** Does exactly what the timer does for this cluster, for the day that timers stop firing (platform.md section 4). */
app.http("tick", {
  methods: ["POST"],
  authLevel: "function",
  route: "clusters/{cluster}/tick",
  handler: cluster(async (composed, site) => {
    const report = await tickInTime(composed.app, site);
    const plan = report.outcome.kind === "planned" ? { plan: report.outcome.plan.number } : {};
    return { status: 200, jsonBody: { cluster: site.cluster, outcome: report.outcome.kind, ...plan } };
  }),
});

app.http("config", {
  methods: ["GET", "PUT"],
  authLevel: "function",
  route: "clusters/{cluster}/config",
  handler: cluster((composed, site, request) =>
    (request.method === "PUT" ? putConfig : getConfig)(composed, site, request),
  ),
});

async function getConfig(composed: Composition, site: Site): Promise<HttpResponseInit> {
  return { status: 200, jsonBody: writePolicy(await composed.app.ports.policyOf(site.cluster)) };
}

async function putConfig(composed: Composition, site: Site, request: HttpRequest): Promise<HttpResponseInit> {
  const text = await request.text();
  const read = readPolicy(text);
  if (read.kind === "problems")
    return problem(400, "Bad request", "the configuration has problems", { problems: read.problems });
  const { documents } = composed.app.ports;
  const held = await documents.read(site.cluster);
  const written = await documents.write(site.cluster, JSON.stringify(writePolicy(read.policy)), held?.etag);
  if (written === "conflict")
    return problem(409, "Conflict", "the configuration was changed at the same time; read it and try again");
  return { status: 200, jsonBody: { ...writePolicy(read.policy), ignored: read.ignored } };
}

// ---------------------------------------------------------------- health

/** Anonymous, so that a probe needs no key: ok or not, and ages. Who is in trouble, and why, is told by GET /api/clusters. */
app.http("health", {
  methods: ["GET"],
  authLevel: "anonymous",
  route: "health",
  handler: () =>
    answering(async () => {
      const { app: autoscaler } = composition();
      const names = [...autoscaler.ports.sites.keys()];
      const all = await Promise.all(names.map((name) => checkHealth(autoscaler, name)));
      const ok = all.every((health) => health.ok);
      return {
        status: ok ? 200 : 503,
        jsonBody: { ok, clusters: all.length, oldestLookAgeSeconds: oldestAge(all) },
      };
    }),
});

function oldestAge(all: readonly Health[]): number | null {
  const ages = all.map((health) => health.lastLookAgeSeconds ?? Number.POSITIVE_INFINITY);
  const oldest = Math.max(0, ...ages);
  return Number.isFinite(oldest) ? oldest : null;
}
