import type { ConfigurationPatch } from "./answers.ts";
import type { ApiAddress, Request } from "./call.ts";
import { callApi } from "./call.ts";
import { bodyOf } from "./error.ts";
import type { HistoryQuery, NodeHistoryQuery, Paged } from "./pages.ts";
import { readHistories, readNodeHistories, readPages } from "./pages.ts";
import type { ComparisonQuery, ExplainQuery } from "./requests.ts";
import { REQUESTS } from "./requests.ts";

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
    /** The messages with their texts. Needs an operator's key. */
    rejectedMessages: () => body(REQUESTS.rejectedMessages()),
    state: (cluster: string, page?: string) => body(REQUESTS.state(cluster, page)),
    requestSet: (cluster: string, set: string, page?: string) =>
      body(REQUESTS.requestSet(cluster, set, page)),
    /** All pages of the state as one. `fits`: only buckets whose new nodes meet these constraints. */
    wholeState: async (cluster: string, fits?: object) =>
      bodyOf(await pagesOf(api, (page) => REQUESTS.state(cluster, page, fits))),
    /** All pages of a request set as one. */
    wholeRequestSet: async (cluster: string, set: string) =>
      bodyOf(await pagesOf(api, (page) => REQUESTS.requestSet(cluster, set, page))),
    /** Empties the set: from now on it asks for nothing. */
    emptyRequestSet: (cluster: string, set: string) => body(REQUESTS.emptyRequestSet(cluster, set)),
    ...throwingHistories(api),
    /** The nodes of the observed node arrays, beside those that the autoscaler would have run. */
    comparison: (cluster: string, query?: ComparisonQuery) => body(REQUESTS.comparison(cluster, query)),
    explain: (cluster: string, query: ExplainQuery) => body(REQUESTS.explain(cluster, query)),
    /** A dry run on changed inputs: changes nothing. */
    plan: (cluster: string, inputs: unknown) => body(REQUESTS.plan(cluster, inputs)),
    tick: (cluster: string) => body(REQUESTS.tick(cluster)),
    /** Puts a wake message with an id into the queue. `clusters` names the id once the message was read. */
    wake: (cluster: string) => body(REQUESTS.wake(cluster)),
    /** The cluster's record was restored from a backup: a new epoch begins. */
    restored: (cluster: string) => body(REQUESTS.restored(cluster)),
    /** The nodes of the array that are down now end. Needs an operator's key. */
    endDown: (cluster: string, nodearray: string) => body(REQUESTS.endDown(cluster, nodearray)),
    config: (cluster: string) => body(REQUESTS.config(cluster)),
    configHistory: (cluster: string) => body(REQUESTS.configHistory(cluster)),
    /** Puts version `to` in force again. Absent: the version before the last change. Needs an operator's key. */
    rollBackConfig: (cluster: string, to?: number) => body(REQUESTS.rollBackConfig(cluster, to)),
    /** Replaces the document. `ifVersion`: only if this version is in force. Needs an operator's key. */
    putConfig: (cluster: string, text: string, ifVersion?: number) =>
      body(REQUESTS.putConfig(cluster, text, ifVersion)),
    /** Changes single keys of the document. Needs an operator's key. */
    patchConfig: (cluster: string, patch: ConfigurationPatch) => body(REQUESTS.patchConfig(cluster, patch)),
  };
}

function answeringApi(api: ApiAddress) {
  return {
    clusters: () => callApi(api, REQUESTS.clusters()),
    /** The messages with their texts. Needs an operator's key. */
    rejectedMessages: () => callApi(api, REQUESTS.rejectedMessages()),
    state: (cluster: string, page?: string) => callApi(api, REQUESTS.state(cluster, page)),
    requestSet: (cluster: string, set: string, page?: string) =>
      callApi(api, REQUESTS.requestSet(cluster, set, page)),
    /** All pages of the state as one. `fits`: only buckets whose new nodes meet these constraints. */
    wholeState: (cluster: string, fits?: object) =>
      pagesOf(api, (page) => REQUESTS.state(cluster, page, fits)),
    /** All pages of a request set as one. */
    wholeRequestSet: (cluster: string, set: string) =>
      pagesOf(api, (page) => REQUESTS.requestSet(cluster, set, page)),
    /** Empties the set: from now on it asks for nothing. */
    emptyRequestSet: (cluster: string, set: string) => callApi(api, REQUESTS.emptyRequestSet(cluster, set)),
    ...answeringHistories(api),
    /** The nodes of the observed node arrays, beside those that the autoscaler would have run. */
    comparison: (cluster: string, query?: ComparisonQuery) =>
      callApi(api, REQUESTS.comparison(cluster, query)),
    explain: (cluster: string, query: ExplainQuery) => callApi(api, REQUESTS.explain(cluster, query)),
    /** A dry run on changed inputs: changes nothing. */
    plan: (cluster: string, inputs: unknown) => callApi(api, REQUESTS.plan(cluster, inputs)),
    tick: (cluster: string) => callApi(api, REQUESTS.tick(cluster)),
    /** Puts a wake message with an id into the queue. `clusters` names the id once the message was read. */
    wake: (cluster: string) => callApi(api, REQUESTS.wake(cluster)),
    /** The cluster's record was restored from a backup: a new epoch begins. */
    restored: (cluster: string) => callApi(api, REQUESTS.restored(cluster)),
    /** The nodes of the array that are down now end. Needs an operator's key. */
    endDown: (cluster: string, nodearray: string) => callApi(api, REQUESTS.endDown(cluster, nodearray)),
    config: (cluster: string) => callApi(api, REQUESTS.config(cluster)),
    configHistory: (cluster: string) => callApi(api, REQUESTS.configHistory(cluster)),
    /** Puts version `to` in force again. Absent: the version before the last change. Needs an operator's key. */
    rollBackConfig: (cluster: string, to?: number) => callApi(api, REQUESTS.rollBackConfig(cluster, to)),
    /** Replaces the document. `ifVersion`: only if this version is in force. Needs an operator's key. */
    putConfig: (cluster: string, text: string, ifVersion?: number) =>
      callApi(api, REQUESTS.putConfig(cluster, text, ifVersion)),
    /** Changes single keys of the document. Needs an operator's key. */
    patchConfig: (cluster: string, patch: ConfigurationPatch) =>
      callApi(api, REQUESTS.patchConfig(cluster, patch)),
  };
}

function throwingHistories(api: ApiAddress) {
  const body = async <T>(call: Request<T>): Promise<T> => bodyOf(await callApi(api, call));
  return {
    history: (cluster: string, query?: HistoryQuery) => body(REQUESTS.history(cluster, query)),
    /** The history in as many requests as it takes. */
    wholeHistory: async (cluster: string, query: HistoryQuery = {}) =>
      bodyOf(await readHistories(query, (part) => callApi(api, REQUESTS.history(cluster, part)))),
    /** The nodes of a time: those that are there, and those that have gone, the last first. */
    nodeHistory: (cluster: string, query?: NodeHistoryQuery) => body(REQUESTS.nodeHistory(cluster, query)),
    /** The same in as many requests as it takes. */
    wholeNodeHistory: async (cluster: string, query: HistoryQuery = {}) =>
      bodyOf(await readNodeHistories(query, (part) => callApi(api, REQUESTS.nodeHistory(cluster, part)))),
  };
}

function answeringHistories(api: ApiAddress) {
  return {
    history: (cluster: string, query?: HistoryQuery) => callApi(api, REQUESTS.history(cluster, query)),
    /** The history in as many requests as it takes. */
    wholeHistory: (cluster: string, query: HistoryQuery = {}) =>
      readHistories(query, (part) => callApi(api, REQUESTS.history(cluster, part))),
    /** The nodes of a time: those that are there, and those that have gone, the last first. */
    nodeHistory: (cluster: string, query?: NodeHistoryQuery) =>
      callApi(api, REQUESTS.nodeHistory(cluster, query)),
    /** The same in as many requests as it takes. */
    wholeNodeHistory: (cluster: string, query: HistoryQuery = {}) =>
      readNodeHistories(query, (part) => callApi(api, REQUESTS.nodeHistory(cluster, part))),
  };
}
