import { isName, NAME_EXPECTED } from "../domain/name.ts";

/** Where the function app is, and the key that lets us in (a function key, or the host's). */
export interface ApiAddress {
  /** "https://NAME.azurewebsites.net"; what follows is ours. */
  readonly url: string;
  readonly key: string;
}

/** What came of a request. */
export type Answer =
  | {
      readonly kind: "answered";
      readonly status: number;
      /** The answer's JSON; the text as it is if it is none, as from a proxy; undefined if it is empty. */
      readonly body: unknown;
      readonly retryAfterSeconds?: number;
    }
  /** No answer: the effect may have happened. */
  | { readonly kind: "unreachable"; readonly message: string };

export interface Call {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  /** From "/api" on; its parts are encoded already. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Sent as it is if it is text, else as JSON. */
  readonly body?: unknown;
  readonly seconds?: number;
}

const WAIT_SECONDS = 60;
/** A tick and a dry run are waited for as long as the host lets a function run. */
const LONG_WAIT_SECONDS = 240;

/** Makes one request of the HTTP API. Never throws for the network's sake. */
export async function callApi(api: ApiAddress, call: Call): Promise<Answer> {
  return request(addressOf(api.url, call), call, { "x-functions-key": api.key });
}

/**
 * The path of a cluster, or of one of its request sets. Throws a RangeError for a name that no address can hold: nothing is called so, and
 * ".." would address something else.
 */
export function pathOf(cluster: string, set?: string): string {
  const ofCluster = `/api/clusters/${segmentOf(cluster)}`;
  return set === undefined ? ofCluster : `${ofCluster}/request-sets/${segmentOf(set)}`;
}

function segmentOf(name: string): string {
  if (isName(name)) return encodeURIComponent(name);
  throw new RangeError(`found the name ${JSON.stringify(name)}, expected ${NAME_EXPECTED}`);
}

/**
 * The HTTP API of a function app, a function for each thing that can be asked. All answers are as the app gave them. Throws a RangeError
 * for names that {@link pathOf} refuses.
 */
export function openApi(api: ApiAddress) {
  const ofCluster = (cluster: string, rest = "") => `${pathOf(cluster)}${rest}`;
  const get = (path: string, query?: Call["query"]) =>
    callApi(api, { method: "GET", path, ...(query === undefined ? {} : { query }) });
  return {
    clusters: () => get("/api/clusters"),
    state: (cluster: string) => get(ofCluster(cluster)),
    requestSet: (cluster: string, set: string) => get(pathOf(cluster, set)),
    /** Empties the set: from now on it asks for nothing. */
    emptyRequestSet: (cluster: string, set: string) =>
      callApi(api, { method: "DELETE", path: pathOf(cluster, set) }),
    history: (cluster: string, query: HistoryQuery = {}) =>
      get(ofCluster(cluster, "/history"), {
        from: query.from,
        to: query.to,
        limit: query.limit === undefined ? undefined : String(query.limit),
      }),
    explain: (cluster: string, query: ExplainQuery) =>
      get(ofCluster(cluster, "/explain"), {
        job: query.job,
        node: query.node,
        set: query.set,
        plan: query.plan === undefined ? undefined : String(query.plan),
      }),
    /** A dry run on changed inputs: changes nothing. */
    plan: (cluster: string, inputs: unknown) =>
      callApi(api, {
        method: "POST",
        path: ofCluster(cluster, "/plan"),
        body: inputs,
        seconds: LONG_WAIT_SECONDS,
      }),
    tick: (cluster: string) =>
      callApi(api, { method: "POST", path: ofCluster(cluster, "/tick"), seconds: LONG_WAIT_SECONDS }),
    config: (cluster: string) => get(ofCluster(cluster, "/config")),
    putConfig: (cluster: string, text: string) =>
      callApi(api, { method: "PUT", path: ofCluster(cluster, "/config"), body: text }),
  };
}

export interface HistoryQuery {
  /** ISO-8601. */
  readonly from?: string;
  readonly to?: string;
  readonly limit?: number;
}

/** Exactly one of `job` (with `set`, where several have one of that name) and `node`. */
export interface ExplainQuery {
  readonly job?: string;
  readonly node?: string;
  readonly set?: string;
  /** A past plan by its number; absent: the last. */
  readonly plan?: number;
}

/**
 * "May I stop?", asked by a node: 200 is yes, anything else means stay. `callback` is the stop URL of the node's configuration (its token
 * is the key); `instance` the VM's id.
 */
export function askToStop(callback: string, instance: string, reason?: "unhealthy"): Promise<Answer> {
  const call: Call = { method: "POST", path: "", query: { instance, reason } };
  return request(addressOf(callback, call), call, {});
}

function addressOf(base: string, { path, query = {} }: Call): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] satisfies [string, string]],
  );
  const search = new URLSearchParams(given).toString();
  return `${base.replace(/\/+$/, "")}${path}${search === "" ? "" : `?${search}`}`;
}

async function request(
  address: string,
  { method, body, seconds = WAIT_SECONDS }: Call,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const content =
    body === undefined
      ? { headers }
      : {
          headers: { ...headers, "content-type": "application/json" },
          body: typeof body === "string" ? body : JSON.stringify(body),
        };
  try {
    const response = await fetch(address, {
      method,
      ...content,
      signal: AbortSignal.timeout(seconds * 1000),
    });
    const text = await response.text();
    const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
    return {
      kind: "answered",
      status: response.status,
      body: text === "" ? undefined : jsonOrText(text),
      ...(Number.isNaN(retryAfter) ? {} : { retryAfterSeconds: retryAfter }),
    };
  } catch (error) {
    return { kind: "unreachable", message: `no answer from ${hostOf(address)}: ${failureText(error)}` };
  }
}

/** Without the path: that of a stop URL holds its token. */
function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : "an address that is none";
}

/** fetch says only "fetch failed" and keeps what happened as the cause, which may be several tries in one. */
function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof AggregateError) return cause.errors.map(failureText).join("; ");
  return cause instanceof Error ? cause.message : error.message;
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
