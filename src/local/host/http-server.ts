/** A loopback HTTP server that answers with a function from Request to Response. */
import http from "node:http";
import type { Arrived } from "./body-arrivals.ts";
import { BodyArrivals } from "./body-arrivals.ts";
import { isForeignOrigin } from "../../domain/loopback.ts";
import type { Milliseconds } from "../../domain/units.ts";

export type HttpServer = {
  readonly url: string;
  /** Takes no more connections, waits for requests in progress, and closes the remaining connections. */
  close(): Promise<void>;
};

/** Long: a process that is busy for some seconds must not send a request on a connection that is being closed. */
const KEEP_ALIVE_MS: Milliseconds = 60_000;

export type Answer = (request: Request) => Promise<Response>;

/** The longest body, in bytes, that a request of this method to this path may have. */
export type BodyBound = (method: string, pathname: string) => number;

/**
 * Listens on 127.0.0.1, with port 0 on a free port. Rejects if the port is in use. If `answer` rejects, the answer is 500 and `onError` gets
 * the error. A longer body than `bound` says is thrown away as it comes, and its answer is 413.
 */
export async function listen(
  answer: Answer,
  port: number,
  onError: (error: unknown) => void,
  bound: BodyBound = () => Number.POSITIVE_INFINITY,
): Promise<HttpServer> {
  const arrivals = new BodyArrivals();
  const server = http.createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (incoming, outgoing) => {
    const { method = "GET" } = incoming;
    const url = new URL(`http://${incoming.headers.host ?? "localhost"}${incoming.url ?? "/"}`);
    const arrive = () => arrivals.receive(incoming, bound(method, url.pathname));
    const keepOpen = () => server.listening;
    respond({ answer, arrive, keepOpen }, { method, url }, incoming, outgoing).catch((error: unknown) => {
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

/** How one request is taken in and answered. */
interface Desk {
  readonly answer: Answer;
  readonly arrive: () => Promise<Arrived>;
  readonly keepOpen: () => boolean;
}

async function respond(
  { answer, arrive, keepOpen }: Desk,
  { method, url }: { readonly method: string; readonly url: URL },
  incoming: http.IncomingMessage,
  outgoing: http.ServerResponse,
): Promise<void> {
  const arrived = await arrive();
  // A web page in a developer's browser must not control a system on this machine.
  const isForeign = isForeignOrigin(incoming.headers.origin, incoming.headers.host);
  if (arrived.kind === "refused" || isForeign) {
    const status = arrived.kind === "refused" && !isForeign ? arrived.status : 403;
    // A body that came too late may still be coming.
    if (status === 408 || status === 503) outgoing.setHeader("connection", "close");
    if (status === 503) outgoing.setHeader("retry-after", "10");
    outgoing.writeHead(status);
    outgoing.end();
    if (arrived.kind === "body") arrived.done();
    return;
  }
  const { body, done } = arrived;
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  const bodyless = method === "GET" || method === "HEAD";
  const request = new Request(url, { method, headers, ...(bodyless ? {} : { body }) });
  const response = await answer(request).finally(done);
  // An open connection would delay the end of the server.
  if (!keepOpen()) outgoing.setHeader("connection", "close");
  const cookies = response.headers.getSetCookie();
  outgoing.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    ...(cookies.length > 0 ? { "set-cookie": cookies } : {}),
  });
  outgoing.end(method === "HEAD" ? undefined : Buffer.from(await response.arrayBuffer()));
}
