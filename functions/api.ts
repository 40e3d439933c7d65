import type { HttpRequest, HttpResponseInit, InvocationContext } from "@azure/functions";
import { app } from "@azure/functions";
import { loadWhole } from "../src/app/commit.ts";
import type { Health } from "../src/app/describe-cluster.ts";
import { checkHealth, describeCluster, describeRequestSet } from "../src/app/describe-cluster.ts";
import type { Explanation, Question } from "../src/app/explain-cluster.ts";
import { explain } from "../src/app/explain-cluster.ts";
import type { RejectedMessage, Site } from "../src/app/ports.ts";
import type { Recorded } from "../src/app/record-demand.ts";
import type { TickReport } from "../src/app/tick.ts";
import { tickInTime } from "../src/app/tick.ts";
import type { Composition } from "../src/compose.ts";
import { composition } from "../src/compose.ts";
import type { Problem, RequestSetUpdate } from "../src/domain/demand.ts";
import { clusterName, setName } from "../src/domain/ids.ts";
import type { Policy } from "../src/domain/policy.ts";
import { LONGEST_EXPIRATION_SECONDS } from "../src/domain/policy.ts";
import type { Instant } from "../src/domain/units.ts";
import { instant, isoTime } from "../src/domain/units.ts";
import { emptyRequestSet, readRequestSet } from "../src/wire/demand-message.ts";
import { readPolicy, writePolicy } from "../src/wire/policy.ts";
import { answering, answeringAnyone, badRequest, problem, unknownCluster } from "./problem.ts";

/** The HTTP API (design.md section 4). Every route names its key level: the model's default is anonymous. */

type ForCluster = (composed: Composition, site: Site, request: HttpRequest) => Promise<HttpResponseInit>;

function cluster(handle: ForCluster) {
  return (request: HttpRequest, context: InvocationContext) =>
    answering(context, async () => {
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
    return read.tooLarge === true
      ? problem(413, "Too large", "a request set has at most 32 MiB of JSON, unpacked")
      : badRequest(read.problems);
  }
  if (read.kind === "stale") return expired(read.expiredAt);
  if (read.kind === "wake") return problem(400, "Bad request", "a request set was expected");
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
  handler: (_request, context) =>
    answering(context, async () => {
      const { app: autoscaler } = composition();
      const { sites, queue } = autoscaler.ports;
      const clusters = await Promise.all(
        [...sites.keys()].map(async (name) => ({
          cluster: name,
          health: await checkHealth(autoscaler, name),
        })),
      );
      const { count, oldest } = await queue.rejected();
      return {
        status: 200,
        jsonBody: { clusters, rejectedMessages: { count, oldest: oldest.map(describeRejected) } },
      };
    }),
});

/** The whole text is in the queue; here it is to be recognised. */
function describeRejected(message: RejectedMessage) {
  const text = message.text.length > SHOWN_TEXT ? `${message.text.slice(0, SHOWN_TEXT)}…` : message.text;
  return { ...message, rejectedAt: isoTime(message.rejectedAt), text };
}

const SHOWN_TEXT = 500;

app.http("cluster", {
  methods: ["GET"],
  authLevel: "function",
  route: "clusters/{cluster}",
  handler: cluster(async (composed, site) => ({
    status: 200,
    jsonBody: await describeCluster(composed.app, site.cluster),
  })),
});

/** Why a job has what it has, or why a node stays or goes: exactly one of `job` (with `set`, where several have one) and `node`. */
app.http("explain", {
  methods: ["GET"],
  authLevel: "function",
  route: "clusters/{cluster}/explain",
  handler: cluster(async (composed, site, request) => {
    const question = readQuestion(request.query);
    return question.kind === "problem"
      ? badRequest([question.problem])
      : explanation(site, question, await explain(composed.app, site.cluster, question));
  }),
});

function readQuestion(
  query: URLSearchParams,
): Question | { readonly kind: "problem"; readonly problem: Problem } {
  const job = query.get("job") ?? "";
  const node = query.get("node") ?? "";
  if ((job === "") === (node === "")) {
    const found = job === "" ? "neither" : "both";
    return { kind: "problem", problem: { path: "", found, expected: "one of the parameters job and node" } };
  }
  if (node !== "") return { kind: "node", node };
  const set = query.get("set");
  return { kind: "job", job, ...(set === null ? {} : { set: setName(set) }) };
}

function explanation(site: Site, question: Question, answer: Explanation): HttpResponseInit {
  const name = question.kind === "job" ? question.job : question.node;
  switch (answer.kind) {
    case "explained":
      return { status: 200, jsonBody: { cluster: site.cluster, ...answer.body } };
    case "not-planned":
      return problem(503, "Cannot tell now", `no plan has seen ${question.kind} "${name}" yet`, {
        retryAfterSeconds: 10,
      });
    case "rejected":
      return problem(404, "Rejected job", `job "${name}" could not be read, and is left out`, {
        jobProblems: answer.problems,
      });
    case "unknown": {
      const near = answer.nearest.length === 0 ? "" : ` (nearest: ${answer.nearest.join(", ")})`;
      const detail = `cluster "${site.cluster}" has no ${question.kind} "${name}"${near}`;
      return problem(404, `Unknown ${question.kind}`, detail, { nearest: answer.nearest });
    }
  }
}

/** Rows newest first; `from` and `to` are ISO-8601, `limit` at most 10,000. */
app.http("history", {
  methods: ["GET"],
  authLevel: "function",
  route: "clusters/{cluster}/history",
  handler: cluster(async (composed, site, request) => {
    const { clock, history } = composed.app.ports;
    const problems: Problem[] = [];
    const from = readTime(request.query, "from", problems) ?? instant(0);
    const to = readTime(request.query, "to", problems) ?? clock.now();
    const limit = readLimit(request.query, problems);
    if (problems.length > 0) return badRequest(problems);
    const rows = await history.read(site.cluster, from, to, limit);
    return {
      status: 200,
      jsonBody: { cluster: site.cluster, rows: rows.map((row) => ({ ...row, at: isoTime(row.at) })) },
    };
  }),
});

const DAY_OF_TICKS = 1440;

function readTime(query: URLSearchParams, name: string, problems: Problem[]): Instant | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const at = Date.parse(text);
  if (!Number.isNaN(at)) return instant(at);
  problems.push({ path: name, found: JSON.stringify(text), expected: "a time, as 2026-01-31T12:00:00Z" });
  return undefined;
}

function readLimit(query: URLSearchParams, problems: Problem[]): number {
  const text = query.get("limit") ?? String(DAY_OF_TICKS);
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000) {
    problems.push({
      path: "limit",
      found: JSON.stringify(text),
      expected: "a whole number from 1 to 10000",
    });
  }
  return limit;
}

/** Does exactly what the timer does for this cluster, for the day that timers stop firing (platform.md section 4). */
app.http("tick", {
  methods: ["POST"],
  authLevel: "function",
  route: "clusters/{cluster}/tick",
  handler: cluster(async (composed, site) => {
    const { outcome } = await tickInTime(composed.app, site);
    return {
      status: 200,
      jsonBody: { cluster: site.cluster, outcome: outcome.kind, ...describeOutcome(outcome) },
    };
  }),
});

function describeOutcome(outcome: TickReport["outcome"]): Readonly<Record<string, unknown>> {
  switch (outcome.kind) {
    case "planned":
      return { plan: outcome.plan.number };
    case "troubled":
      return { trouble: { kind: outcome.trouble.kind, message: outcome.trouble.message } };
    case "waiting":
      return { until: isoTime(outcome.until) };
    case "failed":
      return { message: outcome.message };
    default:
      return {};
  }
}

app.http("config", {
  methods: ["GET", "PUT"],
  authLevel: "function",
  route: "clusters/{cluster}/config",
  handler: cluster((composed, site, request) =>
    (request.method === "PUT" ? putConfig : getConfig)(composed, site, request),
  ),
});

/** Read anew: the functions themselves may go on for 15 s by what they read before. What cannot be read shows what holds instead. */
async function getConfig(composed: Composition, site: Site): Promise<HttpResponseInit> {
  const { documents, policyOf } = composed.app.ports;
  const held = await documents.read(site.cluster);
  const read = readPolicy(held?.text ?? "{}");
  if (read.kind === "problems")
    return {
      status: 200,
      jsonBody: { ...writePolicy(await policyOf(site.cluster)), unreadable: read.problems },
    };
  const doubts = read.doubts.length === 0 ? {} : { doubts: read.doubts };
  return { status: 200, jsonBody: { ...writePolicy(read.policy), ...doubts } };
}

async function putConfig(composed: Composition, site: Site, request: HttpRequest): Promise<HttpResponseInit> {
  const text = await request.text();
  const read = readPolicy(text);
  if (read.kind === "problems") return badRequest(read.problems);
  const { documents } = composed.app.ports;
  const held = await documents.read(site.cluster);
  const written = await documents.write(site.cluster, JSON.stringify(writePolicy(read.policy)), held?.etag);
  if (written === "conflict")
    return problem(409, "Conflict", "the configuration was changed at the same time; read it and try again");
  if (written !== "saved") {
    const sizes = `${written.bytes} bytes compressed, at most ${written.limit} possible`;
    return problem(
      413,
      "Too large",
      `the configuration takes ${sizes}: leave out regions that the cluster does not have`,
    );
  }
  const unknownNodearrays = await namesNotInStatus(composed, site, read.policy);
  const { ignored, doubts } = read;
  return { status: 200, jsonBody: { ...writePolicy(read.policy), ignored, doubts, unknownNodearrays } };
}

/** Arrays that the cluster does not have (yet): said, not refused, as a template may be imported later. */
async function namesNotInStatus(composed: Composition, site: Site, policy: Policy) {
  const { bodies } = await loadWhole(composed.app, site.cluster);
  const known = new Set(bodies.seen?.arrays.map((array) => array.name));
  return bodies.seen === undefined ? [] : (policy.nodearrays ?? []).filter((name) => !known.has(name));
}

// ---------------------------------------------------------------- health

/** Anonymous, so that a probe needs no key: ok or not, and ages. Who is in trouble, and why, is told by GET /api/clusters. */
app.http("health", {
  methods: ["GET"],
  authLevel: "anonymous",
  route: "health",
  handler: (_request, context) =>
    answeringAnyone(context, async () => {
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
