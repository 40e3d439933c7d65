import type { Answer } from "./answer.ts";
import type { Stop } from "./answers.ts";
import type { Request } from "./call.ts";
import { callWith } from "./call.ts";
import { NODE_TOKEN_HEADER } from "../wire/message/node-token.ts";
import type { Seconds } from "../domain/units.ts";

/** Optional parts of a node's question. */
export interface StopQuestion {
  /** The node's own time in ms. It must rise: an older question never overrides a newer one. */
  readonly asked?: number;
  /** False: asks only for the result of earlier questions. */
  readonly begin?: boolean;
  /** The node's own token. Once a call has carried one, all calls of this node must carry it. Absent: no token is sent. */
  readonly ownToken?: string;
}

/** The app answers within 15 s. */
const STOP_WAIT_SECONDS: Seconds = 20;

/**
 * "May I stop?", asked by a node. 200 means yes. Otherwise `undrain` in the answer is true if the node may take work again. `callback` is
 * the stop URL in the node's configuration (its token is the key); `instance` is the VM's id. Never throws: a refusal is an answer here.
 */
export function askToStop(
  callback: string,
  instance: string,
  reason?: "unhealthy",
  { asked, begin = true, ownToken }: StopQuestion = {},
): Promise<Answer<Stop>> {
  const query = {
    instance,
    reason,
    ...(asked === undefined ? {} : { asked: String(asked) }),
    ...(begin ? {} : { begin: "no" }),
  };
  const call: Request<Stop> = { method: "POST", path: "", query, seconds: STOP_WAIT_SECONDS };
  return callWith(callback, call, ownToken === undefined ? {} : { [NODE_TOKEN_HEADER]: ownToken });
}
