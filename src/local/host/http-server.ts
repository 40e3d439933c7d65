/** A loopback HTTP server in front of a function from Request to Response. */
import http from "node:http";
import { isForeignOrigin } from "../../domain/loopback.ts";

export type HttpServer = {
  readonly url: string;
  /** Takes no more connections, waits for the requests in hand, then closes what is left open. */
  close(): Promise<void>;
};

export type Answer = (request: Request) => Promise<Response>;

/** Listens on 127.0.0.1; port 0 picks a free one. Rejects if the port is taken. A request that cannot be answered gets 500; `onError` says why. */
export async function listen(
  answer: Answer,
  port: number,
  onError: (error: unknown) => void,
): Promise<HttpServer> {
  const server = http.createServer((incoming, outgoing) => {
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
  // A web page in a developer's browser must not steer a system on this machine.
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
  // A connection that a caller kept open would hold up the end of the server.
  if (!keepOpen()) outgoing.setHeader("connection", "close");
  const cookies = response.headers.getSetCookie();
  outgoing.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    ...(cookies.length > 0 ? { "set-cookie": cookies } : {}),
  });
  outgoing.end(method === "HEAD" ? undefined : Buffer.from(await response.arrayBuffer()));
}
