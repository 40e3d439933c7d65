import type { HttpHandler } from "@azure/functions";
import packageJson from "../package.json" with { type: "json" };
import { describeCluster } from "../src/app/describe/describe-cluster.ts";
import { checkHealth } from "../src/app/describe/describe-health.ts";
import { describeQueues } from "../src/app/describe/describe-queues.ts";
import { describeLastWake, describeTimer } from "../src/app/describe/describe-triggers.ts";
import { rejectedMessageShown } from "../src/app/describe/rejected-shown.ts";
import { composition } from "../src/compose.ts";
import { isoTime } from "../src/domain/units.ts";
import type { ClustersShown } from "../src/wire/api/health-answers.ts";
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
  const { app: autoscaler, senderTime } = composed;
  return {
    status: 200,
    jsonBody: await describeCluster(autoscaler, site.cluster, senderTime, page.start),
  };
});
