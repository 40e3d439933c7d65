import type { Dispatcher, Pool } from "undici";
import { PortError } from "../../app/ports/port-error.ts";
import type { Answer, TransportRequest } from "./transport.ts";
import { operationOf } from "./transport.ts";
import type { Bytes, Milliseconds } from "../../domain/units.ts";
import { pipeline } from "node:stream";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";

export type Attempt =
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "failed"; readonly error: PortError; readonly connectionLost: boolean };

interface Exchange {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: Milliseconds;
  readonly maxBytes: Bytes;
  /** Takes our credentials out of what a server sends back with this status. */
  readonly hide: (text: string, status: number) => string;
}

/**
 * One attempt. The request's `inTime` is asked in the turn in which the request is written, after all that had to be waited for: a host that
 * stands still before that turn writes nothing late (docs/protocol.md, Creates).
 */
export async function exchange(
  pool: Pool,
  request: TransportRequest,
  { target, headers, timeoutMs, maxBytes, hide }: Exchange,
): Promise<Attempt> {
  const operation = operationOf(request);
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  let isSent = false;
  const look = (): void => {
    if (request.inTime?.() === false) throw tooLate(operation);
    isSent = true;
  };
  try {
    const answer = await pool.compose(checkBeforeWrite(look)).request({
      method: request.method,
      path: target,
      headers,
      body: request.body === undefined ? null : JSON.stringify(request.body),
      signal: deadline.signal,
    });
    return await readAnswer(answer, operation, { maxBytes, hide });
  } catch (error) {
    if (error instanceof PortError) return failed(error);
    const notSent = !isSent;
    if (!deadline.signal.aborted) return describeFailure(error, operation, { notSent });
    const message = `no full answer within ${timeoutMs / 1000} s`;
    return failed(new PortError("unreachable", operation, message, undefined, { notSent }));
  } finally {
    clearTimeout(timer);
  }
}

function tooLate(operation: string): PortError {
  const message = "not sent: its time was over before it could be written to a connection";
  return new PortError("unreachable", operation, message, undefined, { notSent: true });
}

/** Calls `look` in the turn in which undici writes the request, just before. If it throws, nothing is written, and the request fails so. */
function checkBeforeWrite(look: () => void): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart(controller, context) {
        handler.onRequestStart?.(controller, context);
        if (!controller.aborted) look();
      },
      onResponseStart: (...start) => handler.onResponseStart?.(...start),
      onResponseData: (...data) => handler.onResponseData?.(...data),
      onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
      onResponseError: (...failure) => handler.onResponseError?.(...failure),
    });
}

async function readAnswer(
  answer: Dispatcher.ResponseData,
  operation: string,
  { maxBytes, hide }: Pick<Exchange, "maxBytes" | "hide">,
): Promise<Attempt> {
  const headers = flattenHeaders(answer.headers);
  const clean = (text: string): string => hide(text, answer.statusCode);
  const reading = await readBody(answer.body, headers["content-encoding"], maxBytes, clean);
  if (reading.kind === "body")
    return { kind: "answered", answer: { status: answer.statusCode, headers, body: reading.value } };
  const problem =
    reading.kind === "too-large"
      ? `the answer is larger than ${maxBytes} bytes`
      : `the answer is encoded as "${reading.encoding}", expected gzip or none`;
  return failed(new PortError("unexpected", operation, problem, answer.statusCode));
}

function failed(error: PortError, { connectionLost = false } = {}): Attempt {
  return { kind: "failed", error, connectionLost };
}

/** Based on the error's code, because its text may quote the request. */
function describeFailure(
  error: unknown,
  operation: string,
  { notSent }: { readonly notSent: boolean },
): Attempt {
  const code = codeOf(error);
  if (code.startsWith("Z_")) {
    return failed(new PortError("unexpected", operation, `the answer cannot be unpacked (${code})`));
  }
  if (/CERT|SIGNATURE|SELF_SIGNED|ERR_TLS|ERR_SSL/.test(code)) {
    // A retry would get the same certificate.
    const message = `${certificateText(code)} (${code})`;
    return failed(new PortError("unreachable", operation, message, undefined, { notSent }));
  }
  const message = `no connection, or it was cut (${code})`;
  const lost = new PortError("unreachable", operation, message, undefined, { notSent });
  return failed(lost, { connectionLost: true });
}

/** The fault of a certificate, and the keys of the cluster in AUTOSCALER_CLUSTERS that solve it. */
function certificateText(code: string): string {
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return 'the server\'s certificate is for another name than the one in "url": use a name that it has, or "insecure": true';
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID")
    return 'the server\'s certificate is not valid at this time: renew it, or use "insecure": true';
  if (!/CERT|SIGNATURE|SELF_SIGNED/.test(code)) return "the server's TLS is not accepted";
  return 'the server\'s certificate is not trusted: put it, or its CA\'s, into "ca" (PEM text or a file\'s path), or use "insecure": true';
}

export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  if ("code" in error && typeof error.code === "string") return error.code;
  return error.cause instanceof Error ? codeOf(error.cause) : error.name;
}

function flattenHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Readonly<Record<string, string>> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}

type BodyReading =
  | { readonly kind: "body"; readonly value: unknown }
  | { readonly kind: "too-large" }
  | { readonly kind: "unknown-encoding"; readonly encoding: string };

/**
 * Reads an answer's body completely: JSON parsed, other text unchanged, no body as undefined. At most `limit` bytes, counted unpacked, so
 * that neither a huge answer nor a small one that unpacks to a huge one fills the memory. The rest is not read, and the connection is
 * closed. `clean`: what is done with the text before it is parsed. Rejects with the stream's own error if the body is cut or does not match its
 * encoding.
 */
async function readBody(
  stream: Readable,
  encoding: string | undefined,
  limit: number,
  clean: (text: string) => string,
): Promise<BodyReading> {
  const coding = encoding?.trim().toLowerCase() ?? "";
  if (coding === "" || coding === "identity") return collect(stream, limit, clean);
  if (coding === "gzip" || coding === "x-gzip") return collectUnpacked(stream, limit, clean);
  // undici reports an unread body as an error of its stream. It stays unread intentionally.
  stream.on("error", () => undefined).destroy();
  return { kind: "unknown-encoding", encoding: coding };
}

async function collectUnpacked(
  stream: Readable,
  limit: number,
  clean: (text: string) => string,
): Promise<BodyReading> {
  const gunzip = createGunzip();
  // The error of either end reaches the reader through `gunzip`, so the callback has nothing to do.
  pipeline(stream, gunzip, () => undefined);
  try {
    return await collect(gunzip, limit, clean);
  } catch (error) {
    // A header that announces gzip, and no body: compressing proxies send errors without content like this.
    const cut = error instanceof Error && "code" in error && error.code === "Z_BUF_ERROR";
    if (cut && gunzip.bytesWritten === 0) return { kind: "body", value: undefined };
    throw error;
  }
}

async function collect(
  stream: Readable,
  limit: number,
  clean: (text: string) => string,
): Promise<BodyReading> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    size += bytes.length;
    // Leaving the loop destroys the stream.
    if (size > limit) return { kind: "too-large" };
    chunks.push(bytes);
  }
  return { kind: "body", value: parseBody(clean(Buffer.concat(chunks).toString("utf8"))) };
}

/** Tries to parse instead of trusting the content type: CycleCloud and the proxies before it often get it wrong. */
function parseBody(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
