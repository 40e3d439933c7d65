import { app } from "@azure/functions";
import type { Health } from "../src/app/describe-health.ts";
import { composition } from "../src/compose.ts";
import { answeringAnyone } from "./problem.ts";

/**
 * Anonymous, so that a probe needs no key: ok or not, and ages. Who is in trouble, and why, is told by GET /api/clusters. The answer may be
 * some seconds old, so that a flood of calls reads no records.
 */
app.http("health", {
  methods: ["GET"],
  authLevel: "anonymous",
  route: "health",
  handler: (_request, context) =>
    answeringAnyone(context, async () => {
      const all = await composition().healthDesk.all();
      const ok = all.every((health) => health.ok);
      return {
        status: ok ? 200 : 503,
        jsonBody: {
          ok,
          clusters: all.length,
          warnings: all.reduce((sum, { warnings }) => sum + warnings.length, 0),
          oldestLookAgeSeconds: oldestAge(all),
        },
      };
    }),
});

function oldestAge(all: readonly Health[]): number | null {
  const ages = all.map((health) => health.lastLookAgeSeconds ?? Number.POSITIVE_INFINITY);
  const oldest = Math.max(0, ...ages);
  return Number.isFinite(oldest) ? oldest : null;
}
