import type { TickReport } from "../src/app/tick.ts";
import { tickInTime } from "../src/app/tick.ts";
import { isoTime } from "../src/domain/units.ts";
import { forCluster } from "./for-cluster.ts";
import { sweepPoison } from "./poison.ts";

/** Makes the tick of this cluster at once, as the timer does. For the case that timers stop firing (platform.md section 4). */
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
      return { trouble: { kind: outcome.failure.kind, message: outcome.failure.message } };
    case "waiting":
      return { until: isoTime(outcome.until) };
    case "failed":
      return { message: outcome.message };
    default:
      return {};
  }
}
