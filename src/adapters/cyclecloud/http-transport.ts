import type { Pool } from "undici";
import { PortError } from "../../app/ports/port-error.ts";
import type { Transport, TransportRequest } from "./transport.ts";
import { operationOf } from "./transport.ts";
import { withoutSecrets } from "../../domain/secrets.ts";
import { withoutSlashesAtEnd } from "../../domain/text.ts";
import type { Bytes, Milliseconds } from "../../domain/units.ts";
import { exchange, codeOf } from "./http-exchange.ts";
import type { Attempt } from "./http-exchange.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

export type Credentials =
  | { readonly kind: "basic"; readonly username: string; readonly password: string }
  | { readonly kind: "bearer"; readonly token: string };

export interface Timeouts {
  /** For the connection with its TLS handshake. */
  readonly connectMs: Milliseconds;
  /** From sending a request to the last byte of its answer, for each attempt. */
  readonly readMs: Milliseconds;
  readonly changeMs: Milliseconds;
}

interface HttpTransportOptions {
  /** "https://host:8443", or with a path behind a proxy. The paths of requests are appended unchanged. */
  readonly baseUrl: string;
  /** Called before each attempt, so that it may renew a token. */
  readonly credentials: () => Promise<Credentials>;
  /** PEM text of the CA, or of the server's own certificate. Then nothing else is trusted. Absent: the public CAs. */
  readonly ca?: string;
  /** True: any certificate is accepted. Only if the configuration asks for it. */
  readonly insecure?: boolean;
  readonly timeouts?: Partial<Timeouts>;
  readonly retry?: Partial<RetryRules>;
  /** The largest answer in bytes, unpacked. Default 64 MiB: a cluster of 10,000 nodes with long records stays well below. */
  readonly maxAnswerBytes?: Bytes;
  /** Our name in CycleCloud's log (cyclecloud-wire.md A.1). */
  readonly clientVersion?: string;
  readonly sleep?: (milliseconds: Milliseconds) => Promise<void>;
  /** A number in [0, 1) for jitter. */
  readonly fraction?: () => number;
}

interface HttpTransport extends Transport {
  /** Closes all connections. */
  close(): Promise<void>;
}

export const CONNECT_MS: Milliseconds = 10_000;

/** The official Python client waits 60 s (cyclecloud-wire.md A.1). */
const defaultTimeouts: Timeouts = { connectMs: CONNECT_MS, readMs: 60_000, changeMs: 60_000 };

const defaultMaxAnswerBytes: Bytes = 64 * 1024 * 1024;

/** One status per cluster at a time and a few questions beside it. More would only queue up in the server. */
const connections = 8;

/**
 * CycleCloud over HTTP. Credentials are sent with every request from the start (cyclecloud-wire.md B). Redirects are not followed. Reads
 * are tried again after a lost connection and after 429, 502, 503 and 504; changes never. Throws PortError "unreachable" if there was no
 * complete answer, and "unexpected" if it was too large or unreadable. An answer with any status is returned.
 */
export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const base = new URL(options.baseUrl);
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const rules = { ...defaultRetryRules, ...options.retry };
  const sleep = options.sleep ?? sleepReally;
  const fraction = options.fraction ?? Math.random;
  let pool: Promise<Pool> | undefined;

  const attempt = async (request: TransportRequest): Promise<Attempt> => {
    const { authorization, hide } = await authorize(options.credentials, operationOf(request));
    pool ??= openPool(base.origin, options, timeouts.connectMs);
    return exchange(await pool, request, {
      target: targetOf(base, request),
      headers: headersOf(request, authorization, options.clientVersion ?? "cyclecloud-autoscaler:0.1.0"),
      timeoutMs: request.idempotent ? timeouts.readMs : timeouts.changeMs,
      maxBytes: options.maxAnswerBytes ?? defaultMaxAnswerBytes,
      hide,
    });
  };

  return {
    async send(request) {
      for (let retry = 0; ; retry += 1) {
        const result = await attempt(request);
        const end = request.idempotent ? endOf(result) : undefined;
        const pause =
          end === undefined ? undefined : pauseBeforeRetry(end, retry, rules, Date.now(), fraction());
        if (pause !== undefined) await sleep(pause);
        else if (result.kind === "failed") throw result.error;
        else return result.answer;
      }
    },
    async close() {
      await (await pool)?.destroy();
    },
  };
}

function endOf(attempt: Attempt): AttemptEnd | undefined {
  if (attempt.kind === "failed") return attempt.connectionLost ? { kind: "connection-lost" } : undefined;
  return { kind: "answer", status: attempt.answer.status, retryAfter: attempt.answer.headers["retry-after"] };
}

/** undici is loaded with the first request. Otherwise every cold start would pay for it, even of functions that send none. */
async function openPool(
  origin: string,
  options: HttpTransportOptions,
  connectMs: Milliseconds,
): Promise<Pool> {
  // Its default export: in the package, a separate file, a CommonJS module has no other.
  const { default: undici } = await import("undici");
  return new undici.Pool(origin, {
    connections,
    allowH2: false,
    // One deadline over the whole attempt replaces both: a server that sends a byte a second never triggers these two.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: {
      timeout: connectMs,
      ...withoutAbsent({ ca: options.ca }),
      ...(options.insecure === true ? { rejectUnauthorized: false } : {}),
    },
  });
}

/** The header, and what takes it out of an answer: a server, or a proxy before it, may quote what it was sent. */
interface Authorized {
  readonly authorization: string;
  readonly hide: (text: string, status: number) => string;
}

async function authorize(credentials: () => Promise<Credentials>, operation: string): Promise<Authorized> {
  let given: Credentials;
  try {
    given = await credentials();
  } catch (error) {
    // Only the kind of the error, because its text may quote the secret or the request for it.
    throw new PortError("unreachable", operation, `no credentials to send (${codeOf(error)})`, undefined, {
      notSent: true,
    });
  }
  if (given.kind === "bearer") {
    const { token } = given;
    return { authorization: `Bearer ${token}`, hide: (text) => withoutSecrets(text, [token]) };
  }
  const { username, password } = given;
  const token = Buffer.from(`${username}:${password}`, "utf8").toString("base64");
  // Without its padding, which not everybody writes.
  const quoted = token.split("=", 1);
  return {
    authorization: `Basic ${token}`,
    // A good answer is data: a name in it may happen to be the password.
    hide: (text, status) => withoutSecrets(text, status < 300 ? quoted : [...quoted, password]),
  };
}

/** Concatenated: resolving "/clusters" against a base with a path would lose that path (cyclecloud-wire.md A.1). */
function targetOf(base: URL, request: TransportRequest): string {
  const query = Object.entries(request.query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const path = withoutSlashesAtEnd(base.pathname) + request.path;
  return query.length === 0 ? path : `${path}?${query.join("&")}`;
}

function headersOf(
  request: TransportRequest,
  authorization: string,
  clientVersion: string,
): Readonly<Record<string, string>> {
  return {
    authorization,
    accept: "application/json",
    "accept-encoding": "gzip",
    "x-cycle-client-version": clientVersion,
    ...(request.body === undefined ? {} : { "content-type": "application/json" }),
  };
}

/** The real clock: these pauses wait for a real server, at any speed of the simulated time. */
function sleepReally(milliseconds: Milliseconds): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

/** When a read is sent again. Changes never are. */
interface RetryRules {
  /** After the first attempt. */
  readonly retries: number;
  /** Pause before the first retry. Doubles with each retry. Half of it is fixed, half is random, so that instances do not retry in step. */
  readonly pauseMs: Milliseconds;
  /** The longest Retry-After that is waited for here. A longer one is returned to the caller, which can do other work meanwhile. */
  readonly longestRetryAfterMs: Milliseconds;
}

const defaultRetryRules: RetryRules = { retries: 2, pauseMs: 500, longestRetryAfterMs: 10_000 };

/** "Come back later", and the answers of proxies while the server behind them restarts. */
const passing = new Set([429, 502, 503, 504]);

/** The end of an attempt, for the decision about a retry. */
type AttemptEnd =
  | { readonly kind: "answer"; readonly status: number; readonly retryAfter: string | undefined }
  | { readonly kind: "connection-lost" };

/** Milliseconds to wait before retry number `retry` (from 0). Undefined: do not retry. `chance` is in [0, 1). */
function pauseBeforeRetry(
  end: AttemptEnd,
  retry: number,
  rules: RetryRules,
  now: number,
  chance: number,
): number | undefined {
  if (retry >= rules.retries) return undefined;
  const backoff = rules.pauseMs * 2 ** retry * (0.5 + chance / 2);
  if (end.kind === "connection-lost") return backoff;
  if (!passing.has(end.status)) return undefined;
  const asked = readRetryAfter(end.retryAfter, now) ?? 0;
  return asked > rules.longestRetryAfterMs ? undefined : Math.max(asked, backoff);
}

/** Retry-After in milliseconds from `now`: seconds or a date (RFC 9110, 10.2.3). */
function readRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\s*\d+\s*$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
