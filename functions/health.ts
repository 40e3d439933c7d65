import { app } from "@azure/functions";
import type { Health } from "../src/app/describe-health.ts";
import { checkHealth } from "../src/app/describe-health.ts";
import { countQueues } from "../src/app/describe-queues.ts";
import { composition } from "../src/compose.ts";
import { answeringAnyone } from "./problem.ts";

/** Anonymous, so that a probe needs no key: ok or not, and ages. Who is in trouble, and why, is told by GET /api/clusters. */
app.http("health", {
  methods: ["GET"],
  authLevel: "anonymous",
  route: "health",
  handler: (_request, context) =>
    answeringAnyone(context, async () => {
      const { app: autoscaler } = composition();
      const names = [...autoscaler.ports.sites.keys()];
      const [queues, ...all] = await Promise.all([
        countQueues(autoscaler),
        ...names.map((name) => checkHealth(autoscaler, name)),
      ]);
      const ok = queues !== undefined && all.every((health) => health.ok);
      const stuck = queues?.isStuck === true ? 1 : 0;
      return {
        status: ok ? 200 : 503,
        jsonBody: {
          ok,
          clusters: all.length,
          warnings: all.reduce((sum, { warnings }) => sum + warnings.length, stuck),
          oldestLookAgeSeconds: oldestAge(all),
          ...(queues === undefined
            ? {}
            : { poisonMessages: queues.poison, rejectedMessages: queues.rejected }),
        },
      };
    }),
});

function oldestAge(all: readonly Health[]): number | null {
  const ages = all.map((health) => health.lastLookAgeSeconds ?? Number.POSITIVE_INFINITY);
  const oldest = Math.max(0, ...ages);
  return Number.isFinite(oldest) ? oldest : null;
}
