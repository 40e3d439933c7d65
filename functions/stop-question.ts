import type { HttpRequest, HttpResponseInit } from "@azure/functions";
import type { StopCall } from "../src/app/autostop/answer-autostop.ts";
import type { Instant, Seconds } from "../src/domain/units.ts";
import { plusSeconds } from "../src/domain/units.ts";
import { NODE_TOKEN_HEADER, readNodeToken } from "../src/wire/message/node-token.ts";
import { badRequest, problem } from "./problem.ts";

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
    ...(own.token === undefined ? {} : { token: own.token }),
  };
}

function badParameter(name: string, found: string | null, expected: string): HttpResponseInit {
  const what = found === null || found === "" ? "nothing" : JSON.stringify(found);
  return problem(400, "Bad request", `parameter ${name}: found ${what}, expected ${expected}`);
}
