import type { HttpHandler } from "@azure/functions";
import { describeCluster, describeLastWake, describeTimer } from "../src/app/describe/describe-cluster.ts";
import { checkHealth } from "../src/app/describe/describe-health.ts";
import { describeQueues, rejectedMessageShown } from "../src/app/describe/describe-queues.ts";
import { composition } from "../src/compose.ts";
import { isoTime } from "../src/domain/units.ts";
import type { ClustersShown, RejectedMessagesShown, AllHealthShown } from "../src/wire/api/health-answers.ts";
import type { Constraint } from "../src/domain/constraint.ts";
import { readConstraints } from "../src/wire/constraint/constraint.ts";
import { newNotes } from "../src/wire/json/problems.ts";
import { kindOf, excerpt } from "../src/wire/json/problem.ts";
import { forCluster, pageOf, answering, answeringAnyone, badRequest } from "./answering.ts";
import { describeComparison } from "../src/app/describe/describe-comparison.ts";
import type { Problem } from "../src/domain/demand.ts";
import type { HealthShown } from "../src/wire/api/parts.ts";
import { OBSERVING_ONLY } from "../src/domain/mode.ts";

import packageJson from "../package.json" with { type: "json" };
import { withoutAbsent } from "../src/domain/without-absent.ts";

export const answerClusters: HttpHandler = (_request, context) =>
  answering(context, async () => {
    const { app: autoscaler } = composition();
    const { clock, sites } = autoscaler.ports;
    const clusters = await Promise.all(
      [...sites.keys()].map(async (name): Promise<ClustersShown["clusters"][number]> => ({
        cluster: name,
        health: await checkHealth(autoscaler, name),
        lastWake: await describeLastWake(autoscaler, name),
      })),
    );
    const { poison, rejected, oldestRejected } = await describeQueues(autoscaler);
    // Shows why messages were put aside, without their texts. GET /api/rejected-messages shows the texts to operators.
    const oldest = oldestRejected.map((message) =>
      rejectedMessageShown({ ...message, text: kindOf(message.text) }),
    );
    const jsonBody: ClustersShown = {
      version: packageJson.version,
      time: isoTime(clock.now()),
      timerAt: await describeTimer(autoscaler),
      clusters,
      poisonMessages: poison,
      rejectedMessages: { ...rejected, oldest },
    };
    return { status: 200, jsonBody };
  });

export const answerCluster = forCluster(async (composed, site, request) => {
  const page = pageOf(request);
  if (page.kind === "problem") return badRequest([page.problem]);
  const fits = readFits(request.query);
  if (fits.problems.length > 0) return badRequest(fits.problems);
  const { app: autoscaler, senderTime } = composed;
  return {
    status: 200,
    jsonBody: await describeCluster(autoscaler, site.cluster, senderTime, page.start, fits.constraints),
  };
});

/** The parameter `fits`: the constraints of a job as JSON, by which the buckets are filtered. */
function readFits(query: URLSearchParams): {
  readonly constraints: readonly Constraint[];
  readonly problems: readonly Problem[];
} {
  const text = query.get("fits");
  if (text === null) return { constraints: [], problems: [] };
  try {
    const value: unknown = JSON.parse(text);
    const notes = newNotes();
    const constraints = readConstraints(value, "fits", notes);
    return { constraints, problems: [...notes.problems.all(), ...notes.doubts.all()] };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const expected = 'the constraints of a job as JSON, such as {"ncpus": 4}';
    return { constraints: [], problems: [{ path: "fits", found: excerpt(text), expected }] };
  }
}

/** The comparison of the real and the virtual fleet, by day and node array. `since` and `until` are days in UTC, or moments. */
export const answerComparison = forCluster(async (composed, site, request) => {
  const problems: Problem[] = [];
  const since = readDay(request.query, "since", problems);
  const until = readDay(request.query, "until", problems);
  if (problems.length > 0) return badRequest(problems);
  const days = withoutAbsent({ since, until });
  return { status: 200, jsonBody: await describeComparison(composed.app, site.cluster, days) };
});

function readDay(query: URLSearchParams, name: string, problems: Problem[]): string | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const at = Date.parse(text);
  if (!Number.isNaN(at)) return new Date(at).toISOString().slice(0, 10);
  problems.push({ path: name, found: excerpt(text), expected: "a day, as 2026-01-31, or a time" });
  return undefined;
}

/** The number of messages in `demand-rejected`, and the oldest ones with their texts, which may hold secrets: for operators. */
export const answerRejectedMessages: HttpHandler = (_request, context) =>
  answering(context, async () => {
    const { rejected, oldestRejected } = await describeQueues(composition().app);
    const jsonBody: RejectedMessagesShown = { ...rejected, oldest: oldestRejected.map(rejectedMessageShown) };
    return { status: 200, jsonBody };
  });

/**
 * Whether the app is ok, and ages. Needs no key, so that a probe can call it. GET /api/clusters has the troubles. The answer may be some
 * seconds old, so that a flood of calls does not read records.
 */
export const answerHealth: HttpHandler = (_request, context) =>
  answeringAnyone(context, async () => {
    const { clusters: all, queues } = await composition().healthDesk.all();
    const ok = queues !== undefined && all.every((health) => health.ok);
    const stuck = queues?.isStuck === true ? 1 : 0;
    const jsonBody: AllHealthShown = {
      ok,
      clusters: all.length,
      observing: observingIn(all),
      warnings: all.reduce((sum, { warnings }) => sum + warnings.length, stuck),
      oldestLookAgeSeconds: oldestAge(all),
      poisonMessages: queues?.poison,
      rejectedMessages: queues?.rejected,
    };
    return { status: ok ? 200 : 503, jsonBody };
  });

/** Only the number of clusters, because their names need a key. */
function observingIn(all: readonly HealthShown[]): string | undefined {
  const count = all.filter(({ observing }) => observing === true).length;
  return count === 0 ? undefined : `${count} of ${all.length} clusters ${OBSERVING_ONLY}`;
}

function oldestAge(all: readonly HealthShown[]): number | null {
  const ages = all.map((health) => health.lastLookAgeSeconds ?? Number.POSITIVE_INFINITY);
  const oldest = Math.max(0, ...ages);
  return Number.isFinite(oldest) ? oldest : null;
}
