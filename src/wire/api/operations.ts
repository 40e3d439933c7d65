// Long: a table with one entry for each operation of the API.
import type { Role } from "../../domain/roles.ts";
import { NODE_TOKEN_HEADER } from "../message/node-token.ts";
import type { SchemaName } from "./schemas.ts";

/** One method of one route. */
export interface Operation {
  readonly method: "get" | "put" | "patch" | "post" | "delete";
  /** Below /api; parameters in braces. */
  readonly path: string;
  readonly id: string;
  /** The role whose function key it needs. "anyone": none. An operator's key opens all of them. */
  readonly role: Role | "anyone";
  readonly summary: string;
  readonly query?: readonly Parameter[];
  readonly headers?: readonly Parameter[];
  readonly body?: SchemaName;
  /** It has an ETag, and is answered with 304 if nothing has changed (docs/http.md, "Reading again and again"). */
  readonly rereadable?: true;
  /** Schemas by status, one or several alternatives. "Problem" is application/problem+json, any other JSON. */
  readonly answers: Readonly<Record<number, SchemaName | readonly SchemaName[]>>;
}

export interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly required?: true;
  readonly type: "string" | "integer";
}

const PAGE: Parameter = {
  name: "page",
  description: "`next` of the answer before; absent: the first page",
  type: "string",
};

const FITS: Parameter = {
  name: "fits",
  description:
    'The constraints of a job as JSON, such as {"ncpus": 4}: only buckets whose new nodes meet them are in `buckets`',
  type: "string",
};

const SET = "/clusters/{cluster}/request-sets/{set}";
/** The answers of every route below a cluster: the cluster may be unknown, or storage unreachable. */
const BELOW_CLUSTER = { 404: "Problem", 503: "Problem" } as const;

/** Every operation of the API, and nothing else: a test compares this with what functions/ registers. */
export const OPERATIONS: readonly Operation[] = [
  {
    method: "put",
    path: SET,
    id: "putRequestSet",
    role: "sender",
    summary: "Replaces what a request set asks for, or renews it",
    body: "RequestSet",
    answers: { 202: "Acknowledgement", 400: "Problem", 409: "Problem", 413: "Problem", ...BELOW_CLUSTER },
  },
  {
    method: "get",
    path: SET,
    id: "getRequestSet",
    role: "reader",
    summary: "What became of a request set",
    query: [PAGE],
    answers: { 200: "RequestSetState", 400: "Problem", ...BELOW_CLUSTER },
  },
  {
    method: "delete",
    path: SET,
    id: "deleteRequestSet",
    role: "sender",
    summary: "Empties a request set",
    answers: { 202: "Acknowledgement", 400: "Problem", 409: "Problem", ...BELOW_CLUSTER },
  },
  {
    method: "get",
    path: "/clusters",
    id: "listClusters",
    role: "reader",
    rereadable: true,
    summary: "Every cluster with its health, and messages that were put aside, without their texts",
    answers: { 200: "Clusters", 503: "Problem" },
  },
  {
    method: "get",
    path: "/rejected-messages",
    id: "listRejectedMessages",
    role: "operator",
    summary: "The oldest messages that were put aside, with their texts",
    answers: { 200: "RejectedMessages", 503: "Problem" },
  },
  {
    method: "get",
    path: "/clusters/{cluster}",
    id: "getCluster",
    role: "reader",
    rereadable: true,
    summary:
      "Everything about one cluster: what waits and why, troubles, demand, plan, nodes, arrays, buckets with limits",
    query: [PAGE, FITS],
    answers: { 200: "Cluster", 400: "Problem", ...BELOW_CLUSTER },
  },
  {
    method: "get",
    path: "/clusters/{cluster}/explain",
    id: "explain",
    role: "reader",
    rereadable: true,
    summary: "Why a job is placed or not, or why a node stays or is stopped: exactly one of job and node",
    query: [
      { name: "job", description: "The job's name, or the id of another demand", type: "string" },
      { name: "set", description: "Its request set, where several have one of the name", type: "string" },
      {
        name: "node",
        description: "The node's name, hostname, NodeId or instance id",
        type: "string",
      },
      { name: "plan", description: "The number of a past plan; absent: the last one", type: "integer" },
    ],
    answers: { 200: "Explanation", 400: "Problem", ...BELOW_CLUSTER },
  },
  {
    method: "get",
    path: "/clusters/{cluster}/history",
    id: "getHistory",
    role: "reader",
    rereadable: true,
    summary: "Counts per tick, newest first, kept 30 days",
    query: [
      { name: "from", description: "ISO 8601; absent: the beginning", type: "string" },
      { name: "to", description: "ISO 8601; absent: now", type: "string" },
      { name: "limit", description: "Maximum number of rows, 1 to 10,000; default 1440", type: "integer" },
      {
        name: "points",
        description:
          "1 to 2,000, in place of limit: the time is cut into so many equal steps, and the answer has the last row of each",
        type: "integer",
      },
    ],
    answers: { 200: "History", 400: "Problem", ...BELOW_CLUSTER },
  },
  {
    method: "get",
    path: "/clusters/{cluster}/history/nodes",
    id: "getNodeHistory",
    role: "reader",
    rereadable: true,
    summary: "Nodes that are there, and those that have gone, the last first; kept 30 days",
    query: [
      { name: "from", description: "ISO 8601: there then or later; absent: the beginning", type: "string" },
      { name: "to", description: "ISO 8601: asked for by then; absent: now", type: "string" },
      { name: "limit", description: "Maximum number of nodes, 1 to 2,000; default 1000", type: "integer" },
      { name: "page", description: "`next` of the answer before", type: "string" },
    ],
    answers: { 200: "NodeHistory", 400: "Problem", ...BELOW_CLUSTER },
  },
  {
    method: "get",
    path: "/clusters/{cluster}/comparison",
    id: "getComparison",
    role: "reader",
    rereadable: true,
    summary:
      "What the real nodes of observed node arrays were like, and what they would have been, by day; kept 90 days",
    query: [
      {
        name: "since",
        description: "The first day in UTC, or a moment of it; absent: the beginning",
        type: "string",
      },
      { name: "until", description: "The last day; absent: today", type: "string" },
    ],
    answers: { 200: "Comparison", 400: "Problem", ...BELOW_CLUSTER },
  },
  {
    method: "post",
    path: "/clusters/{cluster}/plan",
    id: "tryPlan",
    role: "reader",
    summary: "What would be planned with other inputs; changes nothing",
    body: "WhatIf",
    answers: { 200: "DryRun", 400: "Problem", 413: "Problem", 429: "Problem", ...BELOW_CLUSTER },
  },
  {
    method: "post",
    path: "/clusters/{cluster}/tick",
    id: "tick",
    role: "operator",
    summary: "Does what the timer does for this cluster",
    answers: { 200: "Tick", ...BELOW_CLUSTER },
  },
  {
    method: "post",
    path: "/clusters/{cluster}/wake",
    id: "wake",
    role: "operator",
    summary:
      "Puts a wake message with an id into the queue: lastWake of GET /clusters proves that it came through",
    answers: { 202: "Wake", ...BELOW_CLUSTER },
  },
  {
    method: "post",
    path: "/clusters/{cluster}/restored",
    id: "declareRestored",
    role: "operator",
    summary: "Says that the cluster's record was restored from a backup: a new epoch begins",
    answers: { 200: "Restored", ...BELOW_CLUSTER },
  },
  {
    method: "post",
    path: "/clusters/{cluster}/nodearrays/{nodearray}/end-down",
    id: "endDown",
    role: "operator",
    summary: "Ends the nodes of a node array that are shut down now, also where they are kept or many are",
    answers: { 202: "EndDown", 400: "Problem", ...BELOW_CLUSTER },
  },
  {
    method: "get",
    path: "/clusters/{cluster}/config",
    id: "getConfiguration",
    role: "reader",
    summary: "The cluster's configuration, with its defaults",
    answers: { 200: "Configuration", ...BELOW_CLUSTER },
  },
  {
    method: "put",
    path: "/clusters/{cluster}/config",
    id: "putConfiguration",
    role: "operator",
    summary: "Replaces the cluster's configuration. A document that says no mode keeps the one in force",
    headers: [
      {
        name: "if-match",
        description: "The version that was seen, as in ETag of GET: 412 if another one is in force",
        type: "string",
      },
    ],
    body: "ConfigurationRequest",
    answers: {
      200: "ConfigurationWritten",
      400: "Problem",
      409: "Problem",
      412: "Problem",
      413: "Problem",
      ...BELOW_CLUSTER,
    },
  },
  {
    method: "patch",
    path: "/clusters/{cluster}/config",
    id: "changeConfiguration",
    role: "operator",
    summary: "Changes single keys of the cluster's configuration",
    body: "ConfigurationPatch",
    answers: {
      200: "ConfigurationWritten",
      400: "Problem",
      409: "Problem",
      413: "Problem",
      ...BELOW_CLUSTER,
    },
  },
  {
    method: "get",
    path: "/clusters/{cluster}/config/history",
    id: "getConfigurationHistory",
    role: "reader",
    summary: "Changes of the configuration, newest first: when, who, and what differs",
    answers: { 200: "ConfigurationHistory", ...BELOW_CLUSTER },
  },
  {
    method: "post",
    path: "/clusters/{cluster}/config/rollback",
    id: "rollBackConfiguration",
    role: "operator",
    summary: "Puts an earlier configuration in force again",
    query: [
      {
        name: "to",
        description: "The number of the version. 0: the defaults. Absent: the version before the last change",
        type: "integer",
      },
    ],
    answers: {
      200: "ConfigurationWritten",
      400: "Problem",
      409: "Problem",
      413: "Problem",
      ...BELOW_CLUSTER,
    },
  },
  ...(["get", "post"] as const).map((method): Operation => ({
    method,
    path: "/autostop/{cluster}/{token}",
    id: method === "get" ? "askToStop" : "askToStopByPost",
    role: "anyone",
    summary:
      "May this node stop? 200 is yes; else `undrain` says whether it may take work again. The token is the key",
    query: [
      { name: "instance", description: "The VM's instance id", required: true, type: "string" },
      {
        name: "asked",
        description: "The node's own time in ms, rising: an older question never counts against a newer one",
        type: "integer",
      },
      {
        name: "begin",
        description: "no: begins no stop, only asks what has become of earlier questions",
        type: "string",
      },
      {
        name: "reason",
        description:
          "unhealthy: it is stopped whatever the demand is, unless a job is on it or many other nodes were stopped this way within the hour",
        type: "string",
      },
    ],
    headers: [
      {
        name: NODE_TOKEN_HEADER,
        description:
          "A token that the node has chosen, 22 to 200 characters. Once a call has carried one, only calls with it count for this instance",
        type: "string",
      },
    ],
    answers: {
      200: "Stop",
      400: "Problem",
      403: "Problem",
      404: "Problem",
      409: "Problem",
      503: "Problem",
    },
  })),
  {
    method: "get",
    path: "/health",
    id: "getHealth",
    role: "anyone",
    summary: "Ok or not, and ages; without names or reasons",
    answers: { 200: "Health", 503: ["Health", "Problem"] },
  },
  {
    method: "get",
    path: "/openapi.json",
    id: "getOpenApi",
    role: "reader",
    summary: "This description",
    answers: { 200: "OpenApi" },
  },
];
