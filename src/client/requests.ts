import { isKeptName, NAME_EXPECTED } from "../domain/name.ts";
import { showJson } from "../domain/shown.ts";
import type {
  Acknowledgement,
  Cluster,
  Clusters,
  Comparison,
  Configuration,
  ConfigurationHistory,
  ConfigurationPatch,
  ConfigurationWritten,
  DryRun,
  EndDown,
  Explanation,
  History,
  NodeHistory,
  RejectedMessages,
  RequestSetState,
  Restored,
  Tick,
  Wake,
} from "./answers.ts";
import type { Request } from "./call.ts";
import type { HistoryQuery, NodeHistoryQuery } from "./pages.ts";
import type { Seconds } from "../domain/units.ts";
import { withoutAbsent } from "../domain/without-absent.ts";

export { isKeptName } from "../domain/name.ts";

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

/** A tick and a dry run may take as long as the host lets a function run. */
const LONG_WAIT_SECONDS: Seconds = 240;

/** Every request of the API, with the type of its answer. */
export const REQUESTS = {
  clusters: (): Request<Clusters> => ({ method: "GET", role: "reader", path: "/api/clusters" }),
  rejectedMessages: (): Request<RejectedMessages> => ({
    method: "GET",
    role: "operator",
    path: "/api/rejected-messages",
  }),
  state: (cluster: string, page?: string, fits?: object): Request<Cluster> => ({
    method: "GET",
    role: "reader",
    path: pathOf(cluster),
    query: { page, fits: fits === undefined ? undefined : JSON.stringify(fits) },
  }),
  requestSet: (cluster: string, set: string, page?: string): Request<RequestSetState> => ({
    method: "GET",
    role: "reader",
    path: pathOf(cluster, set),
    query: { page },
  }),
  emptyRequestSet: (cluster: string, set: string): Request<Acknowledgement> => ({
    method: "DELETE",
    role: "sender",
    path: pathOf(cluster, set),
  }),
  history: (cluster: string, { from, to, limit, points }: HistoryQuery = {}): Request<History> => ({
    method: "GET",
    role: "reader",
    path: `${pathOf(cluster)}/history`,
    query: { from, to, limit: limit?.toString(), points: points?.toString() },
  }),
  nodeHistory: (cluster: string, { from, to, limit, page }: NodeHistoryQuery = {}): Request<NodeHistory> => ({
    method: "GET",
    role: "reader",
    path: `${pathOf(cluster)}/history/nodes`,
    query: { from, to, limit: limit === undefined ? undefined : String(limit), page },
  }),
  comparison: (cluster: string, { since, until }: ComparisonQuery = {}): Request<Comparison> => ({
    method: "GET",
    role: "reader",
    path: `${pathOf(cluster)}/comparison`,
    query: { since, until },
  }),
  explain: (cluster: string, { job, node, set, plan }: ExplainQuery): Request<Explanation> => ({
    method: "GET",
    role: "reader",
    path: `${pathOf(cluster)}/explain`,
    query: { job, node, set, plan: plan === undefined ? undefined : String(plan) },
  }),
  plan: (cluster: string, inputs: unknown): Request<DryRun> => ({
    method: "POST",
    role: "reader",
    path: `${pathOf(cluster)}/plan`,
    body: inputs,
    seconds: LONG_WAIT_SECONDS,
  }),
  tick: (cluster: string): Request<Tick> => ({
    method: "POST",
    role: "operator",
    path: `${pathOf(cluster)}/tick`,
    seconds: LONG_WAIT_SECONDS,
  }),
  wake: (cluster: string): Request<Wake> => ({
    method: "POST",
    role: "operator",
    path: `${pathOf(cluster)}/wake`,
  }),
  restored: (cluster: string): Request<Restored> => ({
    method: "POST",
    role: "operator",
    path: `${pathOf(cluster)}/restored`,
  }),
  endDown: (cluster: string, nodearray: string): Request<EndDown> => ({
    method: "POST",
    role: "operator",
    path: `${pathOf(cluster)}/nodearrays/${segmentOf(nodearray)}/end-down`,
  }),
  config: (cluster: string): Request<Configuration> => ({
    method: "GET",
    role: "reader",
    path: `${pathOf(cluster)}/config`,
  }),
  configHistory: (cluster: string): Request<ConfigurationHistory> => ({
    method: "GET",
    role: "reader",
    path: `${pathOf(cluster)}/config/history`,
  }),
  rollBackConfig: (cluster: string, to?: number): Request<ConfigurationWritten> => ({
    method: "POST",
    role: "operator",
    path: `${pathOf(cluster)}/config/rollback`,
    query: { to: to === undefined ? undefined : String(to) },
  }),
  putConfig: (cluster: string, text: string, ifVersion?: number): Request<ConfigurationWritten> => ({
    method: "PUT",
    role: "operator",
    path: `${pathOf(cluster)}/config`,
    body: text,
    ...withoutAbsent({ ifMatch: ifVersion }),
  }),
  patchConfig: (cluster: string, patch: ConfigurationPatch): Request<ConfigurationWritten> => ({
    method: "PATCH",
    role: "operator",
    path: `${pathOf(cluster)}/config`,
    body: patch,
  }),
};

/**
 * The path of a cluster, or of one of its request sets. Throws a RangeError for a name that no address can contain: nothing has such a
 * name, and ".." would address something else.
 */
export function pathOf(cluster: string, set?: string): string {
  const ofCluster = `/api/clusters/${segmentOf(cluster)}`;
  return set === undefined ? ofCluster : `${ofCluster}/request-sets/${segmentOf(set)}`;
}

function segmentOf(name: string): string {
  if (isKeptName(name)) return encodeURIComponent(name);
  throw new RangeError(`found the name ${showJson(name)}, expected ${NAME_EXPECTED}`);
}
