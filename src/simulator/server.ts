import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { isForeignOrigin } from "../domain/loopback.ts";
import { adminPrefix, answerAdmin } from "./admin.ts";
import type { SimulatorRequest, SimulatorResponse } from "./answer.ts";
import { answer } from "./answer.ts";
import type { Credentials } from "./credentials.ts";
import type { Simulator } from "./engine.ts";
import type { Milliseconds } from "../domain/units.ts";
import { isObject } from "./json.ts";
import { withoutAbsent } from "../domain/without-absent.ts";

type ServerOptions = {
  readonly host?: string;
  /** 0 (default): a free port. */
  readonly port?: number;
  readonly credentials: Credentials;
  /** Each status answer is sent this many real milliseconds late, with the content of the moment when the request came in. */
  readonly statusDelayMs?: Milliseconds;
  /** Each answer of CycleCloud's own routes is sent this many real milliseconds late. */
  readonly latencyMs?: Milliseconds;
};

type RunningSimulator = { readonly url: string; close(): Promise<void> };

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"]);
const compress = promisify(gzip);
const compressFromBytes = 1024;
const longestBodyBytes = 16 * 1024 * 1024;
const advanceEveryMs = 50;

/**
 * Serves the simulator over HTTP until `close`, which also ends open connections. Nodes also change between requests, so that listeners get
 * their events. Rejects if the port is not available.
 */
export async function serveSimulator(
  simulator: Simulator,
  options: ServerOptions,
): Promise<RunningSimulator> {
  const host = options.host ?? "127.0.0.1";
  simulator.requireCredentials(options.credentials);
  const server = createServer((incoming, outgoing) => {
    serveRequest(simulator, options, incoming, outgoing).catch((error: unknown) => {
      outgoing.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const ticking = setInterval(() => simulator.advance(), advanceEveryMs);
  ticking.unref();
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    close: async () => {
      clearInterval(ticking);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function serveRequest(
  simulator: Simulator,
  options: ServerOptions,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const url = new URL(`http://localhost${incoming.url ?? "/"}`);
  // The simulator's own routes need no password. A web page in a developer's browser must not reach them.
  const { origin, host } = incoming.headers;
  // Others call a simulator that listens for other machines by a name of theirs.
  const isNamed = origin === undefined && options.host !== undefined && !LOOPBACK.has(options.host);
  if (!isNamed && isForeignOrigin(origin, host)) {
    await send(answer(403, undefined), incoming, outgoing);
    return;
  }
  const body = await readBody(incoming);
  const response = typeof body === "string" ? answerRequest(simulator, incoming, url, body) : body;
  const ours = url.pathname.startsWith(adminPrefix);
  const isStatus = incoming.method === "GET" && url.pathname.endsWith("/status");
  const usual = ours ? 0 : (options.latencyMs ?? 0) + (isStatus ? (options.statusDelayMs ?? 0) : 0);
  const delay = usual + (response.delayMs ?? 0);
  if (delay > 0) await sleep(delay, undefined, { ref: false });
  if (response.cut === true) incoming.socket.destroy();
  else await send(response, incoming, outgoing);
}

function answerRequest(
  simulator: Simulator,
  incoming: IncomingMessage,
  url: URL,
  text: string,
): SimulatorResponse {
  const { authorization } = incoming.headers;
  const request: SimulatorRequest = {
    method: incoming.method ?? "GET",
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    ...withoutAbsent({ authorization }),
  };
  if (text === "") return dispatch(simulator, request);
  const parsed = parseJson(text);
  if (parsed === undefined) return answer(400, { Code: 400, Exception: "", Message: "Not JSON", Detail: "" });
  return dispatch(simulator, { ...request, body: parsed.value });
}

function dispatch(simulator: Simulator, request: SimulatorRequest): SimulatorResponse {
  return request.path.startsWith(adminPrefix) ? answerAdmin(simulator, request) : simulator.request(request);
}

/** JSON regardless of the content type: the tutorial posts text/plain (cyclecloud-wire.md A.1). */
function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return { value };
  } catch {
    return undefined;
  }
}

async function readBody(incoming: IncomingMessage): Promise<string | SimulatorResponse> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    const piece: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    bytes += piece.length;
    if (bytes > longestBodyBytes) return answer(413, undefined);
    chunks.push(piece);
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function send(
  response: SimulatorResponse,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { body } = response;
  const isPage = typeof body === "string";
  const plain = Buffer.from(body === undefined || body === null ? "" : isPage ? body : writeJson(body));
  const encodings = incoming.headers["accept-encoding"];
  const zipped = plain.length >= compressFromBytes && encodings !== undefined && /\bgzip\b/.test(encodings);
  const payload = zipped ? await compress(plain, { level: 1 }) : plain;
  outgoing.writeHead(response.status, {
    ...response.headers,
    ...(plain.length === 0
      ? {}
      : { "Content-Type": isPage ? "text/html; charset=utf-8" : "application/json" }),
    ...(zipped ? { "Content-Encoding": "gzip" } : {}),
    "Content-Length": payload.length,
  });
  outgoing.end(payload);
}

const texts = new WeakMap<object, string>();

/**
 * JSON text of a body. A node's record is the same object until the node changes, so its text is made only once: the status of ten thousand
 * nodes takes little more time than joining strings.
 */
function writeJson(body: unknown): string {
  if (!isObject(body) || !Array.isArray(body["nodes"])) return JSON.stringify(body);
  const { nodes, ...rest } = body;
  const records = nodes.map(writeRecord).join(",");
  const others = JSON.stringify(rest).slice(1, -1);
  return `{${others === "" ? "" : `${others},`}"nodes":[${records}]}`;
}

function writeRecord(record: unknown): string {
  if (!isObject(record)) return JSON.stringify(record);
  const known = texts.get(record);
  if (known !== undefined) return known;
  const text = JSON.stringify(record);
  texts.set(record, text);
  return text;
}
