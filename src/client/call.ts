import type { Answer } from "./answer.ts";
import type { Problem } from "./answers.ts";
import { warnOfPlainHttp } from "./plain-http.ts";
import type { Role } from "../domain/roles.ts";
import { quoteText, withoutSecrets } from "../domain/secrets.ts";
import { withoutSlashesAtEnd } from "../domain/text.ts";
import type { Bytes, Seconds } from "../domain/units.ts";
import { withoutAbsent } from "../domain/without-absent.ts";

export { withoutSlashesAtEnd } from "../domain/text.ts";

/** The address of the function app, and a key (a function key, or the host's). */
export interface ApiAddress {
  /** "https://NAME.azurewebsites.net". The client appends the path. */
  readonly url: string;
  readonly key: string;
  /** Time limit of an answer in seconds. Large bodies, ticks and dry runs have longer ones. Default {@link WAIT_SECONDS}. */
  readonly waitSeconds?: Seconds;
}

/** One HTTP request to a function app. */
export interface Call {
  readonly method: "GET" | "PUT" | "PATCH" | "POST" | "DELETE";
  /** The role whose key it needs. Absent: not known. */
  readonly role?: Role;
  /** From "/api" on, with encoded parts. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** The version that a change is made for, as a number of its history. */
  readonly ifMatch?: number;
  /** Text is sent unchanged, other values as JSON. */
  readonly body?: unknown;
  /** Time limit of the answer. Absent: that of the address, or a longer one for a large body. */
  readonly seconds?: Seconds;
}

/** A request whose good answer is a `T`. */
export interface Request<T> extends Call {
  /** Never present: it only carries the type. */
  readonly answer?: T;
}

/** Time limit of an answer in seconds: a cold start takes a few seconds. */
export const WAIT_SECONDS: Seconds = 10;
/** A body of megabytes takes longer to send. */
const LARGE_BODY = 1_000_000;
const LARGE_WAIT_SECONDS: Seconds = 60;

/** Makes one request of the HTTP API. Never throws because of the network. */
export async function callApi<T>(api: ApiAddress, call: Request<T>): Promise<Answer<T>> {
  const { url, key, waitSeconds } = api;
  return request(url, call, { "x-functions-key": key }, waitSeconds);
}

/** Makes one request with only these headers, so that no function key is sent. Never throws because of the network. */
export function callWith<T>(
  url: string,
  call: Request<T>,
  headers: Readonly<Record<string, string>>,
): Promise<Answer<T>> {
  return request(url, call, headers);
}

function addressOf(base: string, { path, query = {} }: Call): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] satisfies [string, string]],
  );
  const search = new URLSearchParams(given).toString();
  return `${withoutSlashesAtEnd(base)}${path}${search === "" ? "" : `?${search}`}`;
}

/** Makes one request with these headers. Never throws because of the network. */
async function request<T>(
  base: string,
  call: Request<T>,
  headers: Readonly<Record<string, string>>,
  waitSeconds = WAIT_SECONDS,
): Promise<Answer<T>> {
  const { method, body, seconds, ifMatch } = call;
  const address = addressOf(base, call);
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const sent = ifMatch === undefined ? headers : { ...headers, "if-match": `"${ifMatch}"` };
  const content =
    text === undefined
      ? { headers: sent }
      : { headers: { ...sent, "content-type": "application/json" }, body: text };
  warnOfPlainHttp(address);
  const wait = seconds ?? ((text?.length ?? 0) > LARGE_BODY ? LARGE_WAIT_SECONDS : waitSeconds);
  const secrets = Object.values(headers).map((value) => value.replace(/^Bearer /, ""));
  try {
    const response = await fetch(address, {
      method,
      ...content,
      redirect: "manual",
      signal: AbortSignal.timeout(wait * 1000),
    });
    const received = await readText(response);
    if (isRedirect(response)) return redirected(address, response);
    return read(response, withoutSecrets(received, secrets), call.role);
  } catch (error) {
    const late = error instanceof Error && error.name === "TimeoutError";
    const why = late ? ` within ${wait} s` : `: ${failureText(error)}`;
    return { kind: "unreachable", message: `no answer from ${hostOf(address)}${why}` };
  }
}

/** Bytes of an answer, unpacked: the app's have 2 MiB at most, and a configuration somewhat more. */
const MOST_BYTES: Bytes = 64 * 1024 * 1024;

class TooLargeError extends Error {}

/** The text of an answer. A small one that unpacks to a huge one ends at the bound. */
async function readText({ body }: Response): Promise<string> {
  if (body === null) return "";
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    // Leaving the loop closes the connection.
    if (bytes > MOST_BYTES)
      throw new TooLargeError(`its answer is larger than ${MOST_BYTES / (1024 * 1024)} MiB`);
    parts.push(part);
  }
  return new TextDecoder().decode(Buffer.concat(parts));
}

const isRedirect = ({ status }: Response): boolean => status >= 300 && status < 400;

/** `fetch` would send the key to any address that the answer names, so redirects are not followed. */
function redirected(address: string, { status, headers }: Response): Answer<never> {
  const location = headers.get("location");
  const to =
    location !== null && URL.canParse(location, address)
      ? new URL(location, address).origin
      : "no valid address";
  const message = `HTTP ${status}: ${hostOf(address)} redirects to ${to}. The redirect is not followed, because the key would be sent along. Is this the address of the function app?`;
  return { kind: "redirected", status, message };
}

/** Without the path: the path of a stop URL contains its token. */
function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : "an invalid address";
}

/**
 * fetch only reports "fetch failed". The real error is its cause, which may be the errors of several tries. Without a cause nothing was sent:
 * then fetch quotes the address, or the key, that it cannot use.
 */
function failureText(error: unknown): string {
  if (error instanceof TooLargeError) return error.message;
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof AggregateError) return cause.errors.map(systemText).join("; ");
  // OpenSSL's own message names a line of its source.
  if (cause instanceof Error && "code" in cause && cause.code === "ERR_SSL_WRONG_VERSION_NUMBER")
    return "it does not speak TLS: does the address begin with http: instead of https:?";
  if (cause instanceof Error) return systemText(cause);
  return "nothing was sent: is there a user or a password in the address, or a line break in the key?";
}

/** Of an error with a code, which is of the system or of TLS. The text of others may quote what was sent. */
function systemText(error: unknown): string {
  if (!(error instanceof Error)) return "the connection failed";
  return "code" in error ? quoteText(error.message) : error.name;
}

/** An answer according to its status and text. The published schema describes a good one, and a test checks every answer against it. */
function read<T>({ status, ok, headers }: Response, text: string, role: Role | undefined): Answer<T> {
  if (ok) return readGood<T>(status, text);
  const body = jsonOrText(text);
  const retryAfter = Number(headers.get("retry-after") ?? Number.NaN);
  return {
    kind: "refused",
    status,
    body: body === "" ? undefined : body,
    ...(isProblem(body) ? { problem: body } : {}),
    ...withoutAbsent({ role }),
    ...(Number.isNaN(retryAfter) ? {} : { retryAfterSeconds: retryAfter }),
  };
}

function readGood<T>(status: number, text: string): Answer<T> {
  try {
    return { kind: "answered", status, body: JSON.parse(text) };
  } catch {
    const message = `HTTP ${status}, but the answer is not JSON: is this the address of the function app?`;
    return { kind: "not-json", status, body: text, message };
  }
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** True if the refusal comes from the app and not from another server. */
function isProblem(body: unknown): body is Problem {
  return typeof body === "object" && body !== null && "title" in body && "status" in body && "detail" in body;
}
