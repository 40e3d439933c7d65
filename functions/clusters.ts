import type { HttpHandler } from "@azure/functions";
import packageJson from "../package.json" with { type: "json" };
import { describeCluster } from "../src/app/describe-cluster.ts";
import { checkHealth } from "../src/app/describe-health.ts";
import { describeLastWake, describeTimer } from "../src/app/describe-triggers.ts";
import { describeQueues } from "../src/app/describe-queues.ts";
import type { RejectedMessage } from "../src/app/ports.ts";
import type { TickReport } from "../src/app/tick.ts";
import { tickInTime } from "../src/app/tick.ts";
import { composition } from "../src/compose.ts";
import { isoTime } from "../src/domain/units.ts";
import { kindOf } from "../src/wire/problem.ts";
import { forCluster } from "./for-cluster.ts";
import { pageOf } from "./page.ts";
import { sweepPoison } from "./poison.ts";
import { answering, badRequest } from "./problem.ts";

export const answerClusters: HttpHandler = (_request, context) =>
  answering(context, async () => {
    const { app: autoscaler } = composition();
    const { clock, sites } = autoscaler.ports;
    const clusters = await Promise.all(
      [...sites.keys()].map(async (name) => ({
        cluster: name,
        health: await checkHealth(autoscaler, name),
        ...(await describeLastWake(autoscaler, name)),
      })),
    );
    const { poison, rejected, oldestRejected } = await describeQueues(autoscaler);
    return {
      status: 200,
      jsonBody: {
        version: packageJson.version,
        time: isoTime(clock.now()),
        ...(await describeTimer(autoscaler)),
        clusters,
        poisonMessages: poison,
        rejectedMessages: { ...rejected, oldest: oldestRejected.map(describeRejected) },
      },
    };
  });

/** A reader may see that a message was put aside and why, but not its text: GET /api/rejected-messages is for operators. */
function describeRejected(message: RejectedMessage) {
  return { ...message, rejectedAt: isoTime(message.rejectedAt), text: kindOf(message.text) };
}

export const answerRejectedMessages: HttpHandler = (_request, context) =>
  answering(context, async () => {
    const { rejected, oldestRejected } = await describeQueues(composition().app);
    const oldest = oldestRejected.map((message) => ({
      ...message,
      rejectedAt: isoTime(message.rejectedAt),
    }));
    return { status: 200, jsonBody: { ...rejected, oldest } };
  });

export const answerCluster = forCluster(async (composed, site, request) => {
  const page = pageOf(request);
  if (page.kind === "problem") return badRequest([page.problem]);
  const { app: autoscaler, senderTime } = composed;
  return {
    status: 200,
    jsonBody: await describeCluster(autoscaler, site.cluster, senderTime, page.start),
  };
});

/** The same as the timer for this cluster, in case timers stop firing (platform.md section 4). */
export const answerTick = forCluster(async (composed, site) => {
  const [{ outcome }] = await Promise.all([tickInTime(composed.app, site), sweepPoison(composed)]);
  return {
    status: 200,
    jsonBody: { cluster: site.cluster, outcome: outcome.kind, ...describeOutcome(outcome) },
  };
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
