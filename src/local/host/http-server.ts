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

/** Listens on 127.0.0.1, with port 0 on a free port. Rejects if the port is in use. If `answer` rejects, the answer is 500 and `onError` gets the error. */
export async function listen(
  answer: Answer,
  port: number,
  onError: (error: unknown) => void,
): Promise<HttpServer> {
  const server = http.createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (incoming, outgoing) => {
    respond(answer, incoming, outgoing, () => server.listening).catch((error: unknown) => {
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

async function respond(
  answer: Answer,
  incoming: http.IncomingMessage,
  outgoing: http.ServerResponse,
  keepOpen: () => boolean,
): Promise<void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  // A web page in a developer's browser must not control a system on this machine.
  if (isForeignOrigin(incoming.headers.origin, incoming.headers.host)) {
    outgoing.writeHead(403);
    outgoing.end();
    return;
  }
  const method = incoming.method ?? "GET";
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  const bodyless = method === "GET" || method === "HEAD";
  const response = await answer(
    new Request(`http://${incoming.headers.host ?? "localhost"}${incoming.url ?? "/"}`, {
      method,
      headers,
      ...(bodyless ? {} : { body: Buffer.concat(chunks) }),
    }),
  );
  // An open connection would delay the end of the server.
  if (!keepOpen()) outgoing.setHeader("connection", "close");
  const cookies = response.headers.getSetCookie();
  outgoing.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    ...(cookies.length > 0 ? { "set-cookie": cookies } : {}),
  });
  outgoing.end(method === "HEAD" ? undefined : Buffer.from(await response.arrayBuffer()));
}
