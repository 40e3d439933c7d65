import type { HttpHandler, HttpRequest, HttpResponseInit } from "@azure/functions";
import type { StopAnswer, StopCall } from "../src/app/answer-autostop.ts";
import { PortError } from "../src/app/ports.ts";
import type { Composition } from "../src/compose.ts";
import { composition, mayBeAutostopToken, verifyAutostopToken } from "../src/compose.ts";
import { clusterName } from "../src/domain/ids.ts";
import { NODE_TOKEN_HEADER, readNodeToken } from "../src/wire/node-token.ts";
import { answeringAnyone, badRequest, problem } from "./problem.ts";

/** The parts of a call that are read: of its headers only the node's own token, and never its body. */
export interface StopRequest extends Pick<HttpRequest, "params" | "query"> {
  /** Absent: the call has no token. */
  readonly headers?: Pick<HttpRequest["headers"], "get">;
}

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
  const question = readQuestion(request);
  if ("problem" in question) return question.problem;
  const { instance } = question;
  const token = request.params["token"] ?? "";
  const site = autoscaler.ports.sites.get(clusterName(request.params["cluster"] ?? ""));
  if (site === undefined || !mayBeAutostopToken(composed, token)) return wrongToken();
  try {
    const verified = await stopDesk.arrayOf(site, arrivedAt, (arrays) =>
      verifyAutostopToken(composed, token, site.cluster, arrays),
    );
    if (verified === undefined) return wrongToken();
    if (verified === "unknown") return responseOf(unread("the cluster has not been looked at yet"), instance);
    if (verified === "late") return responseOf(unread("storage does not answer; ask again"), instance);
    const answer = await stopDesk.ask(site, { ...question, array: verified.array, arrivedAt });
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

const LONGEST_INSTANCE = 200;
/** A GUID in Azure; the wire names no form (cyclecloud-wire.md D). */
const INSTANCE = /^[^\p{Cc}]{1,200}$/u;

function wrongToken(): HttpResponseInit {
  return problem(403, "Forbidden", "the token is not valid for this cluster");
}

/** The question of a node, or the answer to a question that cannot be read. */
type Question = Pick<StopCall, "instance" | "asked" | "begin" | "unhealthy" | "token">;

function readQuestion({ query, headers }: StopRequest): Question | { readonly problem: HttpResponseInit } {
  const instance = query.get("instance");
  if (instance === null || !INSTANCE.test(instance)) {
    const found =
      instance !== null && instance.length > LONGEST_INSTANCE ? `${instance.length} characters` : instance;
    return { problem: badParameter("instance", found, "the VM's instance id (cyclecloud.instance.id)") };
  }
  const begin = query.get("begin");
  if (begin !== null && begin !== "yes" && begin !== "no")
    return { problem: badParameter("begin", begin, "yes or no") };
  const said = query.get("asked");
  const asked = said === null ? undefined : Number(said);
  if (asked !== undefined && !(said !== "" && Number.isSafeInteger(asked) && asked > 0))
    return { problem: badParameter("asked", said, "the node's time as a whole number that rises") };
  const own = readNodeToken(headers?.get(NODE_TOKEN_HEADER) ?? undefined);
  if (own.problem !== undefined) return { problem: badRequest([own.problem]) };
  return {
    instance,
    begin: begin !== "no",
    unhealthy: query.get("reason") === "unhealthy",
    ...(asked === undefined ? {} : { asked }),
    ...(own.token === undefined ? {} : { token: own.token }),
  };
}

function badParameter(name: string, found: string | null, expected: string): HttpResponseInit {
  const what = found === null || found === "" ? "nothing" : JSON.stringify(found);
  return problem(400, "Bad request", `parameter ${name}: found ${what}, expected ${expected}`);
}

/** The record was not read, so a stop of the node may be in progress. */
function unread(why: string): StopAnswer {
  return { kind: "cannot-tell", why, undrain: false };
}

const OTHER_ARRAY = "the node belongs to another node array than the token";
const NOT_ITS_TOKEN = `earlier calls of this node carried a token of its own in the header ${NODE_TOKEN_HEADER}, and this call does not carry it`;

/** A node asks again after this time. */
const RETRY_SECONDS = 30;

function responseOf(answer: StopAnswer, instance: string): HttpResponseInit {
  switch (answer.kind) {
    case "stop":
      return { status: 200, jsonBody: { stop: true, instance } };
    case "stay":
      // Nothing re-opens a node that was drained before it asked, so the answer states whether the node should re-open itself (wire D.2).
      return problem(409, "Needed", answer.told, { stop: false, undrain: answer.undrain });
    case "unknown-instance":
      return problem(404, "Unknown instance", `no node of this cluster has the instance id ${instance}`, {
        stop: false,
        undrain: true,
      });
    case "forbidden":
      return problem(403, "Forbidden", answer.unbound === true ? NOT_ITS_TOKEN : OTHER_ARRAY, {
        stop: false,
        undrain: answer.undrain,
      });
    case "cannot-tell":
      return problem(503, "Cannot tell now", answer.why, {
        stop: false,
        undrain: answer.undrain,
        retryAfterSeconds: RETRY_SECONDS,
      });
  }
}

export const answerAutostop: HttpHandler = (request, context) =>
  answeringAnyone(context, () => handleAutostop(composition(), request), { stop: false, undrain: false });
