/** A loopback HTTP server that answers with a function from Request to Response. */
import http from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { isForeignOrigin } from "../../domain/loopback.ts";
import type { Bytes } from "../../domain/units.ts";
import { MIB, SMALL_TEXT } from "../../domain/memory-budget.ts";
import type { Milliseconds } from "../../domain/units.ts";

type HttpServer = {
  readonly url: string;
  /** Takes no more connections, waits for requests in progress, and closes the remaining connections. */
  close(): Promise<void>;
};

/** Long: a process that is busy for some seconds must not send a request on a connection that is being closed. */
const KEEP_ALIVE_MS: Milliseconds = 60_000;

type Answer = (request: Request) => Promise<Response>;

/** The longest body that a request of this method to this path may have. */
export type BodyBound = (method: string, pathname: string) => Bytes;

/** Large bodies that are arriving, or wait for their answer, have no more together (docs/protocol.md, Memory). Small ones need no room. */
const ROOM_FOR_BODIES: Bytes = 100 * MIB;
/**
 * The deployment's value of FUNCTIONS_REQUEST_BODY_SIZE_LIMIT (infra/modules/app.bicep) (docs/decisions.md, "Request bodies are bounded by
 * the host"). The platform's own default is 100 MB. A body that says no length takes as much room.
 */
export const LARGEST_BODY: Bytes = 34 * MIB;
const ARRIVES_WITHIN_MS: Milliseconds = 20_000;
const STEPS_OF_LATE = 20;

/**
 * Listens on 127.0.0.1, with port 0 on a free port. Rejects if the port is in use. If `answer` rejects, the answer is 500 and `onError` gets
 * the error. A longer body than `bound` says is thrown away as it comes, and its answer is 413. One that takes too long to arrive gets 408, and
 * one that finds no room 503.
 */
export async function listen(
  answer: Answer,
  port: number,
  onError: (error: unknown) => void,
  bound: BodyBound = () => Number.POSITIVE_INFINITY,
  arrivesWithin: Milliseconds = ARRIVES_WITHIN_MS,
): Promise<HttpServer> {
  const room = { free: ROOM_FOR_BODIES };
  const server = http.createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (incoming, outgoing) => {
    const arrive: Desk["arrive"] = (method, pathname) =>
      takeIn(incoming, bound(method, pathname), room, arrivesWithin);
    const keepOpen = () => server.listening;
    respond({ answer, arrive, keepOpen }, incoming, outgoing).catch((error: unknown) => {
      onError(error);
      if (!outgoing.headersSent) outgoing.writeHead(500);
      outgoing.end();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

type Arrived =
  /** `leave`: call it when the request has its answer. */
  | { readonly kind: "body"; readonly body: Buffer; readonly leave: () => void }
  /** Too long; too slow; or others take all the room. */
  | { readonly kind: "refused"; readonly status: 413 | 408 | 503 };

/** Takes in the body of a request, if there is room. One with more than `most` bytes is read to its end, as its sender waits for that. */
async function takeIn(
  incoming: http.IncomingMessage,
  most: Bytes,
  room: { free: Bytes },
  arrivesWithin: Milliseconds,
): Promise<Arrived> {
  const length = Math.min(lengthOf(incoming), most);
  const weight = length < SMALL_TEXT ? 0 : length;
  if (weight > room.free) return { kind: "refused", status: 503 };
  room.free -= weight;
  const leave = (): void => {
    room.free += weight;
  };
  const over = new AbortController();
  const late = lateAfter(arrivesWithin, over.signal);
  try {
    const body = await Promise.race([readBody(incoming, most, over.signal), late]);
    if (Buffer.isBuffer(body)) return { kind: "body", body, leave };
    leave();
    return { kind: "refused", status: body === "late" ? 408 : 413 };
  } catch (error) {
    leave();
    throw error;
  } finally {
    over.abort();
  }
}

/** In short steps: time in which this process itself stood still counts as one of them. */
async function lateAfter(time: Milliseconds, over: AbortSignal): Promise<"late"> {
  for (let step = 0; step < STEPS_OF_LATE && !over.aborted; step += 1)
    await pause(time / STEPS_OF_LATE, undefined, { signal: over, ref: false }).catch(() => undefined);
  return "late";
}

/** Bodies in pieces say no length. Requests without a body say neither. */
function lengthOf({ headers }: http.IncomingMessage): Bytes {
  const said = headers["content-length"];
  if (said !== undefined) return Math.min(Number(said), LARGEST_BODY);
  return headers["transfer-encoding"] === undefined ? 0 : LARGEST_BODY;
}

/** Keeps nothing any more once `over` is aborted. */
async function readBody(
  incoming: http.IncomingMessage,
  most: Bytes,
  over: AbortSignal,
): Promise<Buffer | "too-long"> {
  let chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += Buffer.byteLength(chunk);
    if (size > most || over.aborted) chunks = [];
    else chunks.push(chunk);
  }
  return size > most ? "too-long" : Buffer.concat(chunks);
}

/** How one request is taken in and answered. */
interface Desk {
  readonly answer: Answer;
  readonly arrive: (method: string, pathname: string) => Promise<Arrived>;
  readonly keepOpen: () => boolean;
}

/** The status for a request of which nothing is read. */
function refusalOf(method: string, origin: string | undefined, host: string): number | undefined {
  // A web page in a developer's browser must not control a system on this machine.
  if (isForeignOrigin(origin, host)) return 403;
  // A Request cannot have this method, and no function is called by it.
  return method === "TRACE" ? 405 : undefined;
}

async function respond(
  { answer, arrive, keepOpen }: Desk,
  incoming: http.IncomingMessage,
  outgoing: http.ServerResponse,
): Promise<void> {
  const method = incoming.method ?? "GET";
  const { host = "localhost", origin } = incoming.headers;
  const refusedAs = refusalOf(method, origin, host);
  if (refusedAs !== undefined) {
    incoming.resume();
    outgoing.writeHead(refusedAs);
    outgoing.end();
    return;
  }
  const url = new URL(`http://${host}${incoming.url ?? "/"}`);
  const arrived = await arrive(method, url.pathname);
  if (arrived.kind === "refused") {
    const { status } = arrived;
    // The body may still be coming.
    if (status !== 413) outgoing.setHeader("connection", "close");
    if (status === 503) outgoing.setHeader("retry-after", "10");
    outgoing.writeHead(status);
    outgoing.end();
    return;
  }
  const { body, leave } = arrived;
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  const bodyless = method === "GET" || method === "HEAD";
  const request = new Request(url, { method, headers, ...(bodyless ? {} : { body }) });
  const response = await answer(request).finally(leave);
  // An open connection would delay the end of the server.
  if (!keepOpen()) outgoing.setHeader("connection", "close");
  const cookies = response.headers.getSetCookie();
  outgoing.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    ...(cookies.length > 0 ? { "set-cookie": cookies } : {}),
  });
  outgoing.end(method === "HEAD" ? undefined : Buffer.from(await response.arrayBuffer()));
}
