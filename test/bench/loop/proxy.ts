import type { IncomingMessage, ServerResponse } from "node:http";
import { Agent, createServer, request as httpRequest } from "node:http";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { setTimeout as pause } from "node:timers/promises";

/** A request as the proxy sees it. */
export interface Call {
  readonly method: string;
  /** With its query, as sent. */
  readonly path: string;
}

/**
 * What goes wrong with a call. `refuse`: this status and no effect. `drop-request`: the connection breaks, no effect. `drop-answer`: the
 * effect happens, then the connection breaks. `late`: the effect happens, the answer comes `ms` later. `hold`: the request arrives `ms`
 * later, also if its caller has given up by then. `page`: a login page with status 200 and no effect. `cut`: the effect happens, half of the
 * answer arrives. `swallow`: nothing happens, and nothing comes back.
 */
export type Misdeed =
  | { readonly kind: "refuse"; readonly status: number }
  | { readonly kind: "late" | "hold"; readonly ms: number }
  | { readonly kind: "drop-request" | "drop-answer" | "cut" | "swallow" }
  | { readonly kind: "page" };

/** Decides, call by call, what goes wrong; undefined: nothing. */
export type Weather = (call: Call) => Misdeed | undefined;

/** Calls of one kind, and bytes of their request bodies. */
export interface Count {
  readonly calls: number;
  readonly bytes: number;
}

export interface Proxy {
  readonly url: string;
  /** Calls since the last reset, by the kind that `kindOf` gave them. */
  counts(): ReadonlyMap<string, Count>;
  reset(): void;
  /** Undefined: from now on every call passes. */
  setWeather(weather: Weather | undefined): void;
  /** How often each misdeed was done. */
  readonly misdeeds: ReadonlyMap<string, number>;
  close(): void;
}

/** Serves `target` on a free loopback port, and passes calls on as they are unless the weather says otherwise. */
export async function startProxy(target: string, kindOf: (call: Call) => string): Promise<Proxy> {
  const base = new URL(target);
  const agent = new Agent({ keepAlive: true });
  const counts = new Map<string, Count>();
  const misdeeds = new Map<string, number>();
  let weather: Weather | undefined;
  const server = createServer((incoming, outgoing) => {
    const call = { method: incoming.method ?? "GET", path: incoming.url ?? "/" };
    const kind = kindOf(call);
    add(counts, kind, { calls: 1, bytes: Number(incoming.headers["content-length"] ?? 0) });
    const misdeed = weather?.(call);
    if (misdeed !== undefined) misdeeds.set(misdeed.kind, (misdeeds.get(misdeed.kind) ?? 0) + 1);
    pass(base, agent, misdeed, incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}${base.pathname === "/" ? "" : base.pathname}`,
    counts: () => new Map(counts),
    reset: () => counts.clear(),
    setWeather: (next) => (weather = next),
    misdeeds,
    close() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}

function add(counts: Map<string, Count>, kind: string, more: Count): void {
  const { calls = 0, bytes = 0 } = counts.get(kind) ?? {};
  counts.set(kind, { calls: calls + more.calls, bytes: bytes + more.bytes });
}

async function pass(
  base: URL,
  agent: Agent,
  misdeed: Misdeed | undefined,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  if (misdeed?.kind === "drop-request") return void incoming.socket.destroy();
  if (misdeed?.kind === "swallow") return void incoming.resume();
  if (misdeed?.kind === "refuse") return refuse(misdeed.status, incoming, outgoing);
  if (misdeed?.kind === "page") return showLogin(incoming, outgoing);
  const content = misdeed?.kind === "hold" ? await held(incoming, misdeed.ms) : incoming;
  const answer = await send(base, agent, incoming, content);
  if (misdeed?.kind === "drop-answer") {
    answer.resume();
    return void incoming.socket.destroy();
  }
  if (misdeed?.kind === "late") await pause(misdeed.ms, undefined, { ref: false });
  outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
  if (misdeed?.kind === "cut") return cut(answer, incoming, outgoing);
  await pipeline(answer, outgoing);
}

/** What was sent, some time later. It is read at once, because a caller that gives up takes back what has not been read. */
async function held(incoming: IncomingMessage, ms: number): Promise<Readable> {
  const content = await buffer(incoming);
  await pause(ms, undefined, { ref: false });
  return Readable.from([content]);
}

/** Sends the request on; resolves with the answer's head. The answer must be read. */
async function send(
  base: URL,
  agent: Agent,
  incoming: IncomingMessage,
  content: Readable,
): Promise<IncomingMessage> {
  const { method, url, headers } = incoming;
  const request = httpRequest({
    host: base.hostname,
    port: base.port,
    method,
    path: url,
    headers: { ...headers, host: base.host },
    agent,
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve).once("error", reject);
  });
  await Promise.all([pipeline(content, request), answered]);
  return answered;
}

function refuse(status: number, incoming: IncomingMessage, outgoing: ServerResponse): void {
  incoming.resume();
  outgoing.writeHead(status).end();
}

function showLogin(incoming: IncomingMessage, outgoing: ServerResponse): void {
  incoming.resume();
  outgoing.writeHead(200, { "content-type": "text/html" });
  outgoing.end("<!doctype html><html><body>Please log in</body></html>");
}

async function cut(
  answer: IncomingMessage,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(Buffer.from(chunk));
  const body = Buffer.concat(chunks);
  outgoing.write(body.subarray(0, Math.floor(body.length / 2)), () => incoming.socket.destroy());
}
