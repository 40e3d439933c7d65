import type {
  Acknowledgement,
  Cluster,
  Clusters,
  Comparison,
  Configuration,
  ConfigurationHistory,
  ConfigurationWritten,
  DryRun,
  Explanation,
  History,
  Problem,
  RejectedMessages,
  RequestSetState,
  Restored,
  Stop,
  Tick,
  Wake,
} from "./answers.ts";
import { isName, NAME_EXPECTED } from "../domain/name.ts";
import { NODE_TOKEN_HEADER } from "../wire/node-token.ts";
import type { Answer } from "./answer.ts";
import { bodyOf } from "./error.ts";
import type { HistoryQuery, Paged } from "./pages.ts";
import { readHistories, readPages } from "./pages.ts";
import { warnOfPlainHttp } from "./plain-http.ts";
import type { Seconds } from "../domain/units.ts";

/** The address of the function app, and a key (a function key, or the host's). */
export interface ApiAddress {
  /** "https://NAME.azurewebsites.net". The client appends the path. */
  readonly url: string;
  readonly key: string;
  /** Time limit of an answer in seconds. Longer for large bodies, ticks and dry runs. Default {@link WAIT_SECONDS}. */
  readonly waitSeconds?: Seconds;
}

export interface Call {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  /** From "/api" on, with encoded parts. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Text is sent unchanged, other values as JSON. */
  readonly body?: unknown;
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
/** A tick and a dry run may take as long as the host lets a function run. */
const LONG_WAIT_SECONDS: Seconds = 240;

/** Makes one request of the HTTP API. Never throws because of the network. */
export async function callApi<T>(api: ApiAddress, call: Request<T>): Promise<Answer<T>> {
  const { url, key, waitSeconds } = api;
  return request(addressOf(url, call), call, { "x-functions-key": key }, waitSeconds);
}

/** Makes one request with only these headers, so that no function key is sent. Never throws because of the network. */
export function callWith<T>(
  url: string,
  call: Request<T>,
  headers: Readonly<Record<string, string>>,
): Promise<Answer<T>> {
  return request(addressOf(url, call), call, headers);
}

/**
 * The path of a cluster, or of one of its request sets. Throws a RangeError for a name that no address can contain: nothing has such a
 * name, and ".." would address something else.
 */
export function pathOf(cluster: string, set?: string): string {
  const ofCluster = `/api/clusters/${segmentOf(cluster)}`;
  return set === undefined ? ofCluster : `${ofCluster}/request-sets/${segmentOf(set)}`;
}

function segmentOf(name: string): string {
  if (isName(name)) return encodeURIComponent(name);
  throw new RangeError(`found the name ${JSON.stringify(name)}, expected ${NAME_EXPECTED}`);
}

/** Every request of the API, with the type of its answer. */
const REQUESTS = {
  clusters: (): Request<Clusters> => ({ method: "GET", path: "/api/clusters" }),
  rejectedMessages: (): Request<RejectedMessages> => ({ method: "GET", path: "/api/rejected-messages" }),
  state: (cluster: string, page?: string): Request<Cluster> => ({
    method: "GET",
    path: pathOf(cluster),
    query: { page },
  }),
  requestSet: (cluster: string, set: string, page?: string): Request<RequestSetState> => ({
    method: "GET",
    path: pathOf(cluster, set),
    query: { page },
  }),
  emptyRequestSet: (cluster: string, set: string): Request<Acknowledgement> => ({
    method: "DELETE",
    path: pathOf(cluster, set),
  }),
  history: (cluster: string, { from, to, limit }: HistoryQuery = {}): Request<History> => ({
    method: "GET",
    path: `${pathOf(cluster)}/history`,
    query: { from, to, limit: limit === undefined ? undefined : String(limit) },
  }),
  comparison: (cluster: string, { since, until }: ComparisonQuery = {}): Request<Comparison> => ({
    method: "GET",
    path: `${pathOf(cluster)}/comparison`,
    query: { since, until },
  }),
  explain: (cluster: string, { job, node, set, plan }: ExplainQuery): Request<Explanation> => ({
    method: "GET",
    path: `${pathOf(cluster)}/explain`,
    query: { job, node, set, plan: plan === undefined ? undefined : String(plan) },
  }),
  plan: (cluster: string, inputs: unknown): Request<DryRun> => ({
    method: "POST",
    path: `${pathOf(cluster)}/plan`,
    body: inputs,
    seconds: LONG_WAIT_SECONDS,
  }),
  tick: (cluster: string): Request<Tick> => ({
    method: "POST",
    path: `${pathOf(cluster)}/tick`,
    seconds: LONG_WAIT_SECONDS,
  }),
  wake: (cluster: string): Request<Wake> => ({ method: "POST", path: `${pathOf(cluster)}/wake` }),
  restored: (cluster: string): Request<Restored> => ({
    method: "POST",
    path: `${pathOf(cluster)}/restored`,
  }),
  config: (cluster: string): Request<Configuration> => ({
    method: "GET",
    path: `${pathOf(cluster)}/config`,
  }),
  configHistory: (cluster: string): Request<ConfigurationHistory> => ({
    method: "GET",
    path: `${pathOf(cluster)}/config/history`,
  }),
  rollBackConfig: (cluster: string, to?: number): Request<ConfigurationWritten> => ({
    method: "POST",
    path: `${pathOf(cluster)}/config/rollback`,
    query: { to: to === undefined ? undefined : String(to) },
  }),
  putConfig: (cluster: string, text: string): Request<ConfigurationWritten> => ({
    method: "PUT",
    path: `${pathOf(cluster)}/config`,
    body: text,
  }),
};

/**
 * The HTTP API of a function app, with one function for each request. Each resolves with the answer's JSON, and rejects with an {@link
 * AutoscalerError} if the app refuses, does not answer, or another server answers in its place. Throws a RangeError for names that {@link
 * pathOf} refuses.
 */
export function openApi(api: ApiAddress): ThrowingApi;
/** The same, but each function resolves with an {@link Answer} in all cases, and never rejects because of the network. */
export function openApi(api: ApiAddress, options: { readonly throws: false }): AnsweringApi;
export function openApi(api: ApiAddress, options?: { readonly throws: false }): ThrowingApi | AnsweringApi {
  return options === undefined ? throwingApi(api) : answeringApi(api);
}

const pagesOf = <T extends Paged>(api: ApiAddress, requestOf: (page: string | undefined) => Request<T>) =>
  readPages((page) => callApi(api, requestOf(page)));

export type ThrowingApi = ReturnType<typeof throwingApi>;
export type AnsweringApi = ReturnType<typeof answeringApi>;

function throwingApi(api: ApiAddress) {
  const body = async <T>(call: Request<T>): Promise<T> => bodyOf(await callApi(api, call));
  return {
    clusters: () => body(REQUESTS.clusters()),
    /** With their texts: needs an operator's key. */
    rejectedMessages: () => body(REQUESTS.rejectedMessages()),
    state: (cluster: string, page?: string) => body(REQUESTS.state(cluster, page)),
    requestSet: (cluster: string, set: string, page?: string) =>
      body(REQUESTS.requestSet(cluster, set, page)),
    /** All pages of the state as one. */
    wholeState: async (cluster: string) =>
      bodyOf(await pagesOf(api, (page) => REQUESTS.state(cluster, page))),
    /** All pages of a request set as one. */
    wholeRequestSet: async (cluster: string, set: string) =>
      bodyOf(await pagesOf(api, (page) => REQUESTS.requestSet(cluster, set, page))),
    /** Empties the set: from now on it asks for nothing. */
    emptyRequestSet: (cluster: string, set: string) => body(REQUESTS.emptyRequestSet(cluster, set)),
    history: (cluster: string, query?: HistoryQuery) => body(REQUESTS.history(cluster, query)),
    /** The same, with all answers that it takes. */
    wholeHistory: async (cluster: string, query: HistoryQuery = {}) =>
      bodyOf(await readHistories(query, (part) => callApi(api, REQUESTS.history(cluster, part)))),
    /** The nodes of the observed node arrays, and those that they would have had. */
    comparison: (cluster: string, query?: ComparisonQuery) => body(REQUESTS.comparison(cluster, query)),
    explain: (cluster: string, query: ExplainQuery) => body(REQUESTS.explain(cluster, query)),
    /** A dry run on changed inputs: changes nothing. */
    plan: (cluster: string, inputs: unknown) => body(REQUESTS.plan(cluster, inputs)),
    tick: (cluster: string) => body(REQUESTS.tick(cluster)),
    /** Puts a wake message with an id into the queue; `clusters` names the id once it came through. */
    wake: (cluster: string) => body(REQUESTS.wake(cluster)),
    /** The cluster's record was restored from a backup: a new epoch begins. */
    restored: (cluster: string) => body(REQUESTS.restored(cluster)),
    config: (cluster: string) => body(REQUESTS.config(cluster)),
    configHistory: (cluster: string) => body(REQUESTS.configHistory(cluster)),
    /** Without `to`: the version before the last change. Needs an operator's key. */
    rollBackConfig: (cluster: string, to?: number) => body(REQUESTS.rollBackConfig(cluster, to)),
    putConfig: (cluster: string, text: string) => body(REQUESTS.putConfig(cluster, text)),
  };
}

function answeringApi(api: ApiAddress) {
  return {
    clusters: () => callApi(api, REQUESTS.clusters()),
    /** With their texts: needs an operator's key. */
    rejectedMessages: () => callApi(api, REQUESTS.rejectedMessages()),
    state: (cluster: string, page?: string) => callApi(api, REQUESTS.state(cluster, page)),
    requestSet: (cluster: string, set: string, page?: string) =>
      callApi(api, REQUESTS.requestSet(cluster, set, page)),
    /** All pages of the state as one. */
    wholeState: (cluster: string) => pagesOf(api, (page) => REQUESTS.state(cluster, page)),
    /** All pages of a request set as one. */
    wholeRequestSet: (cluster: string, set: string) =>
      pagesOf(api, (page) => REQUESTS.requestSet(cluster, set, page)),
    /** Empties the set: from now on it asks for nothing. */
    emptyRequestSet: (cluster: string, set: string) => callApi(api, REQUESTS.emptyRequestSet(cluster, set)),
    history: (cluster: string, query?: HistoryQuery) => callApi(api, REQUESTS.history(cluster, query)),
    /** The same, with all answers that it takes. */
    wholeHistory: (cluster: string, query: HistoryQuery = {}) =>
      readHistories(query, (part) => callApi(api, REQUESTS.history(cluster, part))),
    /** The nodes of the observed node arrays, and those that they would have had. */
    comparison: (cluster: string, query?: ComparisonQuery) =>
      callApi(api, REQUESTS.comparison(cluster, query)),
    explain: (cluster: string, query: ExplainQuery) => callApi(api, REQUESTS.explain(cluster, query)),
    /** A dry run on changed inputs: changes nothing. */
    plan: (cluster: string, inputs: unknown) => callApi(api, REQUESTS.plan(cluster, inputs)),
    tick: (cluster: string) => callApi(api, REQUESTS.tick(cluster)),
    /** Puts a wake message with an id into the queue; `clusters` names the id once it came through. */
    wake: (cluster: string) => callApi(api, REQUESTS.wake(cluster)),
    /** The cluster's record was restored from a backup: a new epoch begins. */
    restored: (cluster: string) => callApi(api, REQUESTS.restored(cluster)),
    config: (cluster: string) => callApi(api, REQUESTS.config(cluster)),
    configHistory: (cluster: string) => callApi(api, REQUESTS.configHistory(cluster)),
    /** Without `to`: the version before the last change. Needs an operator's key. */
    rollBackConfig: (cluster: string, to?: number) => callApi(api, REQUESTS.rollBackConfig(cluster, to)),
    putConfig: (cluster: string, text: string) => callApi(api, REQUESTS.putConfig(cluster, text)),
  };
}

export interface ComparisonQuery {
  /** The first day in UTC, "2026-01-31", or a moment of it. */
  readonly since?: string;
  readonly until?: string;
}

/** Exactly one of `job` (with `set` if several sets have one of that name) and `node`. */
export interface ExplainQuery {
  readonly job?: string;
  readonly node?: string;
  readonly set?: string;
  /** A past plan by its number. Absent: the last plan. */
  readonly plan?: number;
}

/** Optional parts of a node's question. */
export interface StopQuestion {
  /** The node's own time in ms. It must rise: an older question never overrides a newer one. */
  readonly asked?: number;
  /** False: asks only for the result of earlier questions. */
  readonly begin?: boolean;
  /** The node's own token. Once a call has carried one, all calls of this node must carry it. Absent: no token is sent. */
  readonly ownToken?: string;
}

/** An answer comes within 15 s, or never. */
const STOP_WAIT_SECONDS: Seconds = 20;

/**
 * "May I stop?", asked by a node. 200 means yes. Otherwise `undrain` in the answer is true if the node may take work again. `callback` is
 * the stop URL in the node's configuration (its token is the key); `instance` is the VM's id. Never throws: a refusal is an answer here.
 */
export function askToStop(
  callback: string,
  instance: string,
  reason?: "unhealthy",
  { asked, begin = true, ownToken }: StopQuestion = {},
): Promise<Answer<Stop>> {
  const query = {
    instance,
    reason,
    ...(asked === undefined ? {} : { asked: String(asked) }),
    ...(begin ? {} : { begin: "no" }),
  };
  const call: Request<Stop> = { method: "POST", path: "", query, seconds: STOP_WAIT_SECONDS };
  const headers = ownToken === undefined ? {} : { [NODE_TOKEN_HEADER]: ownToken };
  return request(addressOf(callback, call), call, headers);
}

function addressOf(base: string, { path, query = {} }: Call): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] satisfies [string, string]],
  );
  const search = new URLSearchParams(given).toString();
  return `${base.replace(/\/+$/, "")}${path}${search === "" ? "" : `?${search}`}`;
}

async function request<T>(
  address: string,
  { method, body, seconds }: Request<T>,
  headers: Readonly<Record<string, string>>,
  waitSeconds = WAIT_SECONDS,
): Promise<Answer<T>> {
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const content =
    text === undefined
      ? { headers }
      : { headers: { ...headers, "content-type": "application/json" }, body: text };
  warnOfPlainHttp(address);
  const wait = seconds ?? ((text?.length ?? 0) > LARGE_BODY ? LARGE_WAIT_SECONDS : waitSeconds);
  try {
    const response = await fetch(address, {
      method,
      ...content,
      redirect: "manual",
      signal: AbortSignal.timeout(wait * 1000),
    });
    const received = await response.text();
    return isRedirect(response) ? redirected(address, response) : read(response, received);
  } catch (error) {
    const late = error instanceof Error && error.name === "TimeoutError";
    const why = late ? ` within ${wait} s` : `: ${failureText(error)}`;
    return { kind: "unreachable", message: `no answer from ${hostOf(address)}${why}` };
  }
}

const isRedirect = ({ status }: Response): boolean => status >= 300 && status < 400;

/** `fetch` would send the key to any address that the answer names, so redirects are not followed. */
function redirected(address: string, { status, headers }: Response): Answer<never> {
  const location = headers.get("location") ?? "";
  const to = URL.canParse(location, address) ? new URL(location, address).origin : "an address that is none";
  const message = `HTTP ${status}: ${hostOf(address)} redirects to ${to}, which is not followed: the key would go along. Is this the address of the function app?`;
  return { kind: "redirected", status, message };
}

/** Without the path: the path of a stop URL contains its token. */
function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : "an address that is none";
}

/** fetch only reports "fetch failed" and keeps the real error as the cause, which may be several tries in one. */
function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof AggregateError) return cause.errors.map(failureText).join("; ");
  // OpenSSL's own message names a line of its source.
  if (cause instanceof Error && "code" in cause && cause.code === "ERR_SSL_WRONG_VERSION_NUMBER")
    return "it does not speak TLS: does the address begin with http: instead of https:?";
  return cause instanceof Error ? cause.message : error.message;
}

/** An answer according to its status and text. The published schema describes a good one, and a test checks every answer against it. */
function read<T>({ status, ok, headers }: Response, text: string): Answer<T> {
  if (ok) return readGood<T>(status, text);
  const body = jsonOrText(text);
  const retryAfter = Number(headers.get("retry-after") ?? Number.NaN);
  return {
    kind: "refused",
    status,
    body: body === "" ? undefined : body,
    ...(isProblem(body) ? { problem: body } : {}),
    ...(Number.isNaN(retryAfter) ? {} : { retryAfterSeconds: retryAfter }),
  };
}

function readGood<T>(status: number, text: string): Answer<T> {
  try {
    return { kind: "answered", status, body: JSON.parse(text) };
  } catch {
    const message = `HTTP ${status}, but the answer is no JSON: is this the address of the function app?`;
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
