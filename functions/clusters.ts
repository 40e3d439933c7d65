import type { HttpHandler } from "@azure/functions";
import packageJson from "../package.json" with { type: "json" };
import { describeCluster } from "../src/app/describe/describe-cluster.ts";
import { checkHealth } from "../src/app/describe/describe-health.ts";
import { describeQueues } from "../src/app/describe/describe-queues.ts";
import { describeLastWake, describeTimer } from "../src/app/describe/describe-triggers.ts";
import type { RejectedMessage } from "../src/app/ports/demand-queue.ts";
import { composition } from "../src/compose.ts";
import { isoTime } from "../src/domain/units.ts";
import { kindOf } from "../src/wire/json/problem.ts";
import { forCluster } from "./for-cluster.ts";
import { pageOf } from "./page.ts";
import { answering } from "./answering.ts";
import { badRequest } from "./problem.ts";

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

/** Shows why a message was put aside, without its text. GET /api/rejected-messages shows the text to operators. */
function describeRejected(message: RejectedMessage) {
  return { ...message, rejectedAt: isoTime(message.rejectedAt), text: kindOf(message.text) };
}

export const answerCluster = forCluster(async (composed, site, request) => {
  const page = pageOf(request);
  if (page.kind === "problem") return badRequest([page.problem]);
  const { app: autoscaler, senderTime } = composed;
  return {
    status: 200,
    jsonBody: await describeCluster(autoscaler, site.cluster, senderTime, page.start),
  };
});
