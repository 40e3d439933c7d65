import type { Pool } from "undici";
import { PortError } from "../../app/ports/port-error.ts";
import { readBody } from "./read-body.ts";
import type { Answer, TransportRequest } from "./transport.ts";
import { operationOf } from "./transport.ts";
import type { Milliseconds } from "../../domain/units.ts";

export type Attempt =
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "failed"; readonly error: PortError; readonly connectionLost: boolean };

interface Exchange {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: Milliseconds;
  readonly maxBytes: number;
}

export async function exchange(
  pool: Pool,
  request: TransportRequest,
  { target, headers, timeoutMs, maxBytes }: Exchange,
): Promise<Attempt> {
  const operation = operationOf(request);
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  try {
    const answer = await pool.request({
      method: request.method,
      path: target,
      headers,
      body: request.body === undefined ? null : JSON.stringify(request.body),
      signal: deadline.signal,
    });
    const answered = flattenHeaders(answer.headers);
    const reading = await readBody(answer.body, answered["content-encoding"], maxBytes);
    if (reading.kind === "body") {
      return {
        kind: "answered",
        answer: { status: answer.statusCode, headers: answered, body: reading.value },
      };
    }
    const problem =
      reading.kind === "too-large"
        ? `the answer is larger than ${maxBytes} bytes`
        : `the answer is encoded as "${reading.encoding}", expected gzip or none`;
    return failed(new PortError("unexpected", operation, problem, answer.statusCode));
  } catch (error) {
    if (deadline.signal.aborted) {
      return failed(new PortError("unreachable", operation, `no full answer within ${timeoutMs / 1000} s`));
    }
    return describeFailure(error, operation);
  } finally {
    clearTimeout(timer);
  }
}

function failed(error: PortError, { connectionLost = false } = {}): Attempt {
  return { kind: "failed", error, connectionLost };
}

/** Based on the error's code, because its text may quote the request. */
function describeFailure(error: unknown, operation: string): Attempt {
  const code = codeOf(error);
  if (code.startsWith("Z_")) {
    return failed(new PortError("unexpected", operation, `the answer cannot be unpacked (${code})`));
  }
  if (/CERT|SIGNATURE|SELF_SIGNED|ERR_TLS|ERR_SSL/.test(code)) {
    // A retry would get the same certificate.
    const message = `${certificateText(code)} (${code})`;
    return failed(new PortError("unreachable", operation, message, undefined, { notConnected: true }));
  }
  const message = `no connection, or it was cut (${code})`;
  const notConnected = NOT_CONNECTED.test(code);
  const lost = new PortError("unreachable", operation, message, undefined, { notConnected });
  return failed(lost, { connectionLost: true });
}

/** Errors of an attempt to connect. Any other error may have come after the request was sent. */
const NOT_CONNECTED = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

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
