import type { HttpHandler } from "@azure/functions";
import type { AllHealthShown } from "../src/wire/api/health-answers.ts";
import type { HealthShown } from "../src/wire/api/parts.ts";
import { OBSERVING_ONLY } from "../src/domain/mode.ts";
import { composition } from "../src/compose.ts";
import { answeringAnyone } from "./answering.ts";

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
