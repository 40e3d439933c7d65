import type { TickReport } from "../src/app/tick.ts";
import { tickInTime } from "../src/app/tick.ts";
import { isoTime } from "../src/domain/units.ts";
import type { TickShown } from "../src/wire/api/answers.ts";
import { forCluster } from "./for-cluster.ts";
import { sweepPoison } from "./poison.ts";

/** Makes the tick of this cluster at once, as the timer does. For the case that timers stop firing (platform.md section 4). */
export const answerTick = forCluster(async (composed, site) => {
  const [report] = await Promise.all([tickInTime(composed.app, site), sweepPoison(composed)]);
  return { status: 200, jsonBody: describeTick(report) };
});

function describeTick({ cluster, outcome }: TickReport): TickShown {
  const isPlanned = outcome.kind === "planned";
  const failure = outcome.kind === "troubled" ? outcome.failure : undefined;
  return {
    cluster,
    outcome: outcomeOf(outcome),
    plan: isPlanned ? outcome.plan.number : undefined,
    trouble: failure === undefined ? undefined : { kind: failure.kind, message: failure.message },
    until: "until" in outcome ? isoTime(outcome.until) : undefined,
    message: outcome.kind === "failed" ? outcome.message : undefined,
  };
}

/** A requested tick is always due, so the outcomes of ticks that are not are never seen here. They have the nearest word that callers know. */
function outcomeOf({ kind }: TickReport["outcome"]): TickShown["outcome"] {
  switch (kind) {
    case "not-due":
      return "waiting";
    case "superseded":
      return "covered";
    default:
      return kind;
  }
}
