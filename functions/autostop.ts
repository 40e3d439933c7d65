import type { HttpHandler, HttpResponseInit, HttpRequest } from "@azure/functions";
import { PortError } from "../src/app/ports/port-error.ts";
import type { Composition } from "../src/compose.ts";
import { composition, mayBeAutostopToken, verifyAutostopToken } from "../src/compose.ts";
import { clusterName } from "../src/domain/ids.ts";
import { answeringAnyone, badRequest, problem } from "./answering.ts";
import type { StopCall } from "../src/app/autostop/answer-autostop.ts";
import type { Instant, Seconds } from "../src/domain/units.ts";
import { plusSeconds } from "../src/domain/units.ts";
import { NODE_TOKEN_HEADER, readNodeToken } from "../src/wire/message/node-token.ts";
import type { StopAnswer } from "../src/app/autostop/grant-stops.ts";
import type { StopShown } from "../src/wire/api/answers.ts";
import { withoutAbsent } from "../src/domain/without-absent.ts";

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

/** The parts of a call that are read. The node's own token is the only header, and the body is never read. */
export interface StopRequest extends Pick<HttpRequest, "params" | "query"> {
  /** Absent: the call has none. */
  readonly headers?: Pick<HttpRequest["headers"], "get">;
}

const LONGEST_INSTANCE = 200;

/** Azure uses a GUID. CycleCloud documents no form (cyclecloud-wire.md D). */
const INSTANCE = /^[^\p{Cc}]{1,200}$/u;

/** The question of a node. */
type Question = Pick<StopCall, "instance" | "asked" | "begin" | "unhealthy" | "token">;

/**
 * How far `asked` may be ahead of our clock. A time of the node is not, and neither is a number that only rises. One further ahead is left
 * out: it would make each later question of the node itself an old one.
 */
const LONGEST_AHEAD_SECONDS: Seconds = 86_400;

/** Reads a call of the stop URL. `problem`: the answer to a call that cannot be read. */
export function readQuestion(
  { query, headers }: StopRequest,
  arrivedAt: Instant,
): Question | { readonly problem: HttpResponseInit } {
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
    ...(asked === undefined || asked > plusSeconds(arrivedAt, LONGEST_AHEAD_SECONDS) ? {} : { asked }),
    ...withoutAbsent({ token: own.token }),
  };
}

function badParameter(name: string, found: string | null, expected: string): HttpResponseInit {
  const what = found === null || found === "" ? "nothing" : JSON.stringify(found);
  return problem(400, "Bad request", `parameter ${name}: found ${what}, expected ${expected}`);
}

export function wrongToken(): HttpResponseInit {
  return problem(403, "Forbidden", "the token is not valid for this cluster");
}

/** The record was not read, so a stop of the node may be under way. */
export function unread(why: string): StopAnswer {
  return { kind: "cannot-tell", why, undrain: false };
}

const OTHER_ARRAY = "the node belongs to another node array than the token";

const NOT_ITS_TOKEN = `earlier calls of this node carried a token of its own in the header ${NODE_TOKEN_HEADER}, and this call does not carry it`;

/** A node asks again after this time. */
const RETRY_SECONDS: Seconds = 30;

/** The HTTP answer to a node's question. */
export function responseOf(answer: StopAnswer, instance: string): HttpResponseInit {
  switch (answer.kind) {
    case "stop": {
      const jsonBody: StopShown = { stop: true, instance };
      return { status: 200, jsonBody };
    }
    case "stay":
      // Nothing re-opens a node that was drained before it asked, so the answer says whether it should be (wire D.2).
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
        ...(answer.underWay === true ? { stopUnderWay: true } : {}),
        retryAfterSeconds: RETRY_SECONDS,
      });
  }
}
