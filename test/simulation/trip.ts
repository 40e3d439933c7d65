import type { Answer, TransportRequest } from "../../src/adapters/cyclecloud/transport.ts";
import type { Dice } from "./dice.ts";
import type { Endpoint, Lasting } from "./weather.ts";
import { EFFECTS } from "./weather.ts";

/** No call takes longer: its caller gives up, and the request no longer arrives. */
export const LIMIT_MS = 60_000;
/** A connection that is cut is noticed within this time. */
const CUT_MS = [100, 3000] as const;

/** How one call goes in weather that lasts. Times are in milliseconds from when it is sent. */
export interface Trip {
  /** When the request arrives. Undefined: never. */
  readonly arrives?: number;
  /** When the answer arrives. Undefined: the caller gives up at `givesUp`. */
  readonly answered?: number;
  readonly givesUp: number;
  readonly words: string;
}

/** Draws the way of a call. Undefined if weather that lasts does not change it. */
export function drawTrip(
  lasting: Lasting | undefined,
  endpoint: Endpoint | undefined,
  dice: Dice,
): Trip | undefined {
  if (lasting === undefined || endpoint === undefined) return undefined;
  const isEffect = EFFECTS.includes(endpoint);
  if (lasting.lost !== undefined && isEffect && dice.chance(lasting.lost)) return drawLoss(dice);
  if (lasting.late !== undefined && isEffect && dice.chance(lasting.late)) {
    const arrives = dice.whole(1000, LIMIT_MS - 1000);
    const cut = dice.chance(0.4);
    const givesUp = cut ? dice.whole(...CUT_MS) : LIMIT_MS;
    const answered = arrives + dice.whole(20, 900);
    return { arrives, ...(cut ? {} : { answered }), givesUp, words: `arrives after ${arrives} ms` };
  }
  const { slow } = lasting;
  if (slow === undefined || (slow.endpoint !== "all" && slow.endpoint !== endpoint)) return undefined;
  const answered = Math.round(slow.seconds * 1000 * (0.9 + 0.1 * dice.fraction()));
  const arrives = Math.round(answered * dice.fraction());
  return { arrives, answered, givesUp: LIMIT_MS, words: `takes ${answered} ms` };
}

function drawLoss(dice: Dice): Trip {
  const isRequest = dice.chance(0.5);
  const givesUp = dice.chance(0.5) ? dice.whole(...CUT_MS) : LIMIT_MS;
  if (isRequest) return { givesUp, words: "the request is lost" };
  return { arrives: dice.whole(20, 400), givesUp, words: "the answer is lost" };
}

export function endpointOf({
  method,
  path,
}: Pick<TransportRequest, "method" | "path">): Endpoint | undefined {
  if (path.startsWith("/operations/")) return "operations";
  const last = path.slice(path.lastIndexOf("/") + 1);
  if (method === "GET") return last === "status" || last === "nodes" ? last : undefined;
  if (last === "deallocate") return "terminate";
  return last === "create" || last === "start" || last === "terminate" ? last : undefined;
}

/** The answer to a call with an old secret. */
export const REFUSED: Answer = {
  status: 401,
  headers: { "content-type": "application/json" },
  body: { message: "HTTP 401" },
};

const LOGIN_PAGE = "<!DOCTYPE html><html><head><title>Sign in</title></head><body></body></html>";

/** The answer of a broken endpoint, which has no effect. Undefined if it is not broken. */
export function brokenAnswer(
  lasting: Lasting | undefined,
  endpoint: Endpoint | undefined,
): Answer | undefined {
  if (lasting?.broken === undefined || lasting.broken.endpoint !== endpoint) return undefined;
  const { how } = lasting.broken;
  if (how === "login") return { status: 200, headers: { "content-type": "text/html" }, body: LOGIN_PAGE };
  return { status: how, headers: { "content-type": "application/json" }, body: { message: `HTTP ${how}` } };
}
