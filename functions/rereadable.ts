import type { HttpHandler, HttpRequest, HttpResponseInit } from "@azure/functions";
import { createHash } from "node:crypto";
import type { Composition } from "../src/compose.ts";
import { composition, ConfigError } from "../src/compose.ts";
import type { Instant, Seconds } from "../src/domain/units.ts";
import { isoTime, secondsBetween } from "../src/domain/units.ts";

/**
 * For answers that a page or a script reads again and again (docs/http.md, "Reading again and again"): ETag and 304, and one answer for all
 * callers of this process who accept one that is a few seconds old. A caller who accepts none gets what storage has now.
 */
export function rereadable(handle: HttpHandler): HttpHandler {
  return async (request, context) => {
    const make = async () => tagged(await handle(request, context));
    return ifChanged(request, await shared(request, make));
  };
}

/**
 * Members that change with the time alone; `hours`, `hoursDeallocated` and `cost` are those of a node that is there. The clock of the answer is in a header of its
 * own, also of a 304.
 */
const TIMES =
  /"(?:now|time|lastLookAgeSeconds|oldestAgeSeconds|expiresInSeconds|hours|hoursDeallocated)":(?:"[^"]*"|[-+.\deE]+)|"cost":[-+.\deE]+(?<="pricePerHour(?:Deallocated)?":[-+.\deE]+,"cost":[-+.\deE]+)/g;

/** The app's clock when the answer was made. On one machine it may be a simulated one. */
const TIME_HEADER = "autoscaler-time";

function tagged(answer: HttpResponseInit): HttpResponseInit {
  if (answer.status !== 200 || typeof answer.body !== "string") return answer;
  const headers = new Headers(answer.headers);
  const digest = createHash("sha256").update(answer.body.replaceAll(TIMES, "")).digest("base64url");
  headers.set("etag", `W/"${digest.slice(0, 22)}"`);
  headers.set(TIME_HEADER, isoTime(composition().app.ports.clock.now()));
  return { ...answer, headers };
}

function ifChanged(request: Pick<HttpRequest, "headers">, answer: HttpResponseInit): HttpResponseInit {
  const headers = new Headers(answer.headers);
  const tag = headers.get("etag");
  if (tag === null || request.headers.get("if-none-match") !== tag) return answer;
  return { status: 304, headers };
}

/** No answer is kept longer, whatever a caller accepts. */
const KEPT_SECONDS: Seconds = 5;
/** An answer has at most 2 MiB. What is asked while so many are kept is not shared: memory is for messages and plans. */
const MOST_KEPT = 8;

interface Kept {
  readonly at: Instant;
  readonly answer: Promise<HttpResponseInit>;
}

const kept = new WeakMap<Composition, Map<string, Kept>>();

/** An answer to the same question that is no older than the caller accepts, or a new one. Simultaneous callers share the work. */
function shared(request: HttpRequest, make: () => Promise<HttpResponseInit>): Promise<HttpResponseInit> {
  const accepted = /(?:^|[\s,])max-age=(\d{1,9})(?:$|[\s,])/.exec(request.headers.get("cache-control") ?? "");
  const composed = accepted === null ? undefined : usable();
  if (composed === undefined) return make();
  const now = composed.app.ports.clock.now();
  const answers = kept.get(composed) ?? new Map<string, Kept>();
  kept.set(composed, answers);
  const { url } = request;
  const known = answers.get(url);
  const most = Math.min(Number(accepted?.[1]), KEPT_SECONDS);
  if (known !== undefined && known.at <= now && secondsBetween(known.at, now) < most) return known.answer;
  const answer = make();
  if (answers.size >= MOST_KEPT && known === undefined) return answer;
  const own = { at: now, answer };
  answers.set(url, own);
  const forget = () => answers.get(url) === own && answers.delete(url);
  setTimeout(forget, KEPT_SECONDS * 1000).unref();
  return answer;
}

/** Undefined if the app settings cannot be used: the answer says so. */
function usable(): Composition | undefined {
  try {
    return composition();
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}
