/** A loopback HTTP server that answers with a function from Request to Response. */
import http from "node:http";
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
  const server = http.createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (incoming, outgoing) => {
    respond(answer, bound, incoming, outgoing, () => server.listening).catch((error: unknown) => {
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

/** The body, or undefined if it is longer than `most` bytes. It is read to its end all the same, as its sender waits for that. */
async function readBody(incoming: http.IncomingMessage, most: number): Promise<Buffer | undefined> {
  let chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += Buffer.byteLength(chunk);
    if (size > most) chunks = [];
    else chunks.push(chunk);
  }
  return size > most ? undefined : Buffer.concat(chunks);
}

/** The status for a request of which nothing is read. */
function refusalOf(method: string, origin: string | undefined, host: string): number | undefined {
  // A web page in a developer's browser must not control a system on this machine.
  if (isForeignOrigin(origin, host)) return 403;
  // A Request cannot have this method, and no function is called by it.
  return method === "TRACE" ? 405 : undefined;
}

async function respond(
  answer: Answer,
  bound: BodyBound,
  incoming: http.IncomingMessage,
  outgoing: http.ServerResponse,
  keepOpen: () => boolean,
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
  const body = await readBody(incoming, bound(method, url.pathname));
  if (body === undefined) {
    outgoing.writeHead(413);
    outgoing.end();
    return;
  }
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  const bodyless = method === "GET" || method === "HEAD";
  const response = await answer(new Request(url, { method, headers, ...(bodyless ? {} : { body }) }));
  // An open connection would delay the end of the server.
  if (!keepOpen()) outgoing.setHeader("connection", "close");
  const cookies = response.headers.getSetCookie();
  outgoing.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    ...(cookies.length > 0 ? { "set-cookie": cookies } : {}),
  });
  outgoing.end(method === "HEAD" ? undefined : Buffer.from(await response.arrayBuffer()));
}
