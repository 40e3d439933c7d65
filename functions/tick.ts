import type { TickReport } from "../src/app/tick.ts";
import { tickInTime } from "../src/app/tick.ts";
import { isoTime } from "../src/domain/units.ts";
import type { TickShown, WakeShown, RestoredShown, EndDownShown } from "../src/wire/api/answers.ts";
import { forCluster, problem, badRequest } from "./answering.ts";
import { sweepPoison } from "./poison.ts";
import { randomUUID } from "node:crypto";
import { declareRestored } from "../src/app/record/declare-restored.ts";
import { orderEndDown } from "../src/app/record/order-end-down.ts";
import { arrayName } from "../src/domain/ids.ts";
import { isKeptName, NAME_EXPECTED } from "../src/wire/json/name.ts";
import { problemShowing } from "../src/wire/json/problem.ts";

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

/**
 * Puts a wake message with an id into the queue. Once GET /api/clusters shows the id, the queue function has read it. It asks for an
 * observation that is due anyway, so it does no harm.
 */
export const answerWake = forCluster(async ({ app: { ports } }, { cluster }) => {
  const id = randomUUID();
  await ports.queue.wake(cluster, ports.clock.now(), id);
  const jsonBody: WakeShown = { cluster, id };
  return { status: 202, jsonBody };
});

/** After a restore from a backup the record may be out of date. */
export const answerRestored = forCluster(async (composed, site) => {
  const began = await declareRestored(composed.app, site.cluster);
  if (began === undefined)
    return problem(503, "Cannot tell now", "too many writers at once", { retryAfterSeconds: 5 });
  const { epoch, plan, restingUntil, createsFrom } = began;
  const jsonBody: RestoredShown = {
    cluster: site.cluster,
    epoch,
    plan,
    restingUntil: isoTime(restingUntil),
    createsFrom: isoTime(createsFrom),
  };
  return { status: 200, jsonBody };
});

/** An operator ends the nodes of one node array that are down now, also where they would be kept. */
export const answerEndDown = forCluster(async (composed, site, request) => {
  const name = request.params["nodearray"];
  // An encoded slash arrives as %2F, which no name contains.
  if (!isKeptName(name)) return badRequest([problemShowing("nodearray", name, NAME_EXPECTED)]);
  const ordered = await orderEndDown(composed.app, site.cluster, arrayName(name));
  if (ordered.kind === "unknown")
    return problem(404, "Unknown node array", `cluster "${site.cluster}" has no node array "${name}"`);
  if (ordered.kind === "contended")
    return problem(503, "Cannot tell now", "too many writers at once", { retryAfterSeconds: 5 });
  const jsonBody: EndDownShown = {
    cluster: site.cluster,
    nodearray: name,
    count: ordered.nodes.length,
    nodes: ordered.nodes,
    until: isoTime(ordered.until),
  };
  return { status: 202, jsonBody };
});
