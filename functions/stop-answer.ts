import type { HttpResponseInit } from "@azure/functions";
import type { StopAnswer } from "../src/app/autostop/stop-answer.ts";
import { NODE_TOKEN_HEADER } from "../src/wire/message/node-token.ts";
import type { StopShown } from "../src/wire/api/answers.ts";
import { problem } from "./problem.ts";
import type { Seconds } from "../src/domain/units.ts";

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
