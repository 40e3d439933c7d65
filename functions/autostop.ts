import type { HttpHandler, HttpResponseInit } from "@azure/functions";
import { PortError } from "../src/app/ports/port-error.ts";
import type { Composition } from "../src/compose.ts";
import { composition, mayBeAutostopToken, verifyAutostopToken } from "../src/compose.ts";
import { clusterName } from "../src/domain/ids.ts";
import { answeringAnyone } from "./answering.ts";
import { responseOf, unread, wrongToken } from "./stop-answer.ts";
import type { StopRequest } from "./stop-question.ts";
import { readQuestion } from "./stop-question.ts";

/**
 * GET
 * POST /api/autostop/{cluster}/{token}?instance=ID[&asked=][&begin=no][&reason=]: "may I stop?" (cyclecloud-wire.md D). 200: CycleCloud has
 * accepted the stop of the node. Any other status: no stop, or unknown; `undrain` in the answer is true if the node may take work again.
 * The token in the path is the key, so the level is anonymous. Authorization is not read (old callers send CycleCloud's credentials).
 * Checks without storage come first. A wrong token, an unknown array and an unknown cluster get the same answer.
 */
export async function handleAutostop(composed: Composition, request: StopRequest): Promise<HttpResponseInit> {
  const { app: autoscaler, stopDesk } = composed;
  const arrivedAt = autoscaler.ports.clock.now();
  const question = readQuestion(request, arrivedAt);
  if ("problem" in question) return question.problem;
  const { instance } = question;
  const token = request.params["token"] ?? "";
  const site = autoscaler.ports.sites.get(clusterName(request.params["cluster"] ?? ""));
  const refuse = () => {
    stopDesk.noteRefused(site?.cluster);
    return wrongToken();
  };
  if (site === undefined || !mayBeAutostopToken(composed, token)) return refuse();
  try {
    const verified = await stopDesk.arrayOf(site, arrivedAt, (arrays) =>
      verifyAutostopToken(composed, token, site.cluster, arrays),
    );
    if (verified === undefined) return refuse();
    if (verified === "unknown") return responseOf(unread("the cluster has not been observed yet"), instance);
    if (verified === "late") return responseOf(unread("storage does not answer; ask again"), instance);
    const untimed = (autoscaler.ports.clock.speed ?? 1) === 1 ? {} : { untimed: true as const };
    const answer = await stopDesk.ask(site, { ...question, ...untimed, array: verified.array, arrivedAt });
    autoscaler.ports.log("autostop", {
      cluster: site.cluster,
      instance,
      answer: answer.kind,
      ...(question.unhealthy ? { unhealthy: true } : {}),
      ...("undrain" in answer ? { undrain: answer.undrain } : {}),
      ...("why" in answer ? { why: answer.why } : {}),
      ...("unbound" in answer ? { unbound: answer.unbound } : {}),
    });
    return responseOf(answer, instance);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const { kind, message } = error;
    autoscaler.ports.log("cannot-tell", { cluster: site.cluster, instance, kind, message });
    return responseOf(unread("storage cannot be used just now"), instance);
  }
}

export const answerAutostop: HttpHandler = (request, context) =>
  answeringAnyone(context, () => handleAutostop(composition(), request), { stop: false, undrain: false });
