import type { HttpRequest, HttpResponseInit } from "@azure/functions";
import { app } from "@azure/functions";
import type { StopAnswer } from "../src/app/answer-autostop.ts";
import type { Composition } from "../src/compose.ts";
import { composition, verifyAutostopToken } from "../src/compose.ts";
import { clusterName } from "../src/domain/ids.ts";
import { answeringAnyone, problem } from "./problem.ts";

/** What is read of a call: never its headers or body. */
export type StopRequest = Pick<HttpRequest, "params" | "query">;

/**
 * GET|POST /api/autostop/{cluster}/{token}?instance=ID[&reason=]: "may I stop?" (cyclecloud-wire.md D). 200 is yes; anything else means stay.
 * The token in the path is the key, so the level is anonymous; Authorization is not read (old callers send CycleCloud's credentials).
 */
export async function handleAutostop(composed: Composition, request: StopRequest): Promise<HttpResponseInit> {
  const { app: autoscaler, autostopKeys, stopDesk } = composed;
  const site = autoscaler.ports.sites.get(clusterName(request.params["cluster"] ?? ""));
  if (site === undefined || autostopKeys === undefined)
    return problem(403, "Forbidden", "the token is not valid for this cluster");
  const instance = request.query.get("instance");
  if (instance === null || instance === "") {
    return problem(
      400,
      "Bad request",
      "parameter instance: found nothing, expected the VM's instance id (cyclecloud.instance.id)",
    );
  }
  // Arrays never disappear from a status (wire A.3), so that every array that ever carried a token is among them.
  const arrays = await stopDesk.arraysOf(site);
  if (arrays === undefined)
    return responseOf({ kind: "cannot-tell", why: "the cluster has not been looked at yet" }, instance);
  const array = verifyAutostopToken(composed, request.params["token"] ?? "", site.cluster, arrays);
  if (array === undefined) return problem(403, "Forbidden", "the token is not valid for this cluster");
  const unhealthy = request.query.get("reason") === "unhealthy";
  const answer = await stopDesk.ask(site, { instance, array, unhealthy });
  autoscaler.ports.log("autostop", {
    cluster: site.cluster,
    instance,
    answer: answer.kind,
    ...("why" in answer ? { why: answer.why } : {}),
  });
  return responseOf(answer, instance);
}

function responseOf(answer: StopAnswer, instance: string): HttpResponseInit {
  switch (answer.kind) {
    case "stop":
      return { status: 200, jsonBody: { stop: true, instance } };
    case "stay":
      // Nothing re-opens a node that was drained before it asked, so the answer says that it should be (wire D.2).
      return problem(409, "Needed", answer.why, { stop: false, undrain: true });
    case "unknown-instance":
      return problem(404, "Unknown instance", `no node of this cluster has the instance id ${instance}`, {
        stop: false,
      });
    case "forbidden":
      return problem(403, "Forbidden", "the node belongs to another node array than the token", {
        stop: false,
      });
    case "cannot-tell":
      return problem(503, "Cannot tell now", answer.why, { stop: false, retryAfterSeconds: 60 });
  }
}

app.http("autostop", {
  methods: ["GET", "POST"],
  authLevel: "anonymous",
  route: "autostop/{cluster}/{token}",
  handler: (request, context) => answeringAnyone(context, () => handleAutostop(composition(), request)),
});
