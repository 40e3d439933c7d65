import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface LocalServer {
  readonly url: string;
  /** Requests that arrived, in order. */
  readonly seen: readonly Seen[];
  close(): Promise<void>;
}

/** Answers request number `nth` (from 0), which has been read to its end. */
export type Behaviour = (outgoing: ServerResponse, nth: number, incoming: IncomingMessage) => void;

/** A server on loopback that behaves as the test says; over TLS if it gets a certificate. */
export async function serve(
  behave: Behaviour,
  tls?: { readonly key: string; readonly cert: string },
): Promise<LocalServer> {
  const seen: Seen[] = [];
  const listener: RequestListener = (incoming, outgoing) => {
    let body = "";
    incoming.setEncoding("utf8");
    incoming.on("data", (chunk: string) => (body += chunk));
    incoming.on("end", () => {
      seen.push({ method: incoming.method ?? "", url: incoming.url ?? "", headers: incoming.headers, body });
      behave(outgoing, seen.length - 1, incoming);
    });
  };
  const server: Server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${portOf(server)}`,
    seen,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
