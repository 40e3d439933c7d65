import type {
  ArrayTemplates,
  CreateOutcome,
  CreateRequest,
  CycleCloud,
  InTime,
  RequestedSet,
  StatusOutcome,
  ManagementOutcome,
} from "../../app/ports/cyclecloud.ts";
import type { Log } from "../../app/ports/ports.ts";
import type { RequestedNode } from "../../domain/cluster.ts";
import type { ClusterName, NodeId, RequestId, ArrayName } from "../../domain/ids.ts";
import type { Instant } from "../../domain/units.ts";
import {
  failureOf,
  isFromCycleCloud,
  isSuccess,
  malformedAnswer,
  wordsOf,
  readCreated,
  readManaged,
  readRefusal,
} from "./answer.ts";
import { readTemplates } from "./read-nodearray.ts";
import type { StopKeyReader } from "./read-node.ts";
import { malformed, readNodes, readStatus } from "./read-status.ts";
import type { Transport, TransportRequest, Answer } from "./transport.ts";
import { operationOf } from "./transport.ts";
import { withoutSecrets } from "../../domain/secrets.ts";
import { mergeAttributes } from "../../domain/attributes.ts";
import type { NodeAttributes } from "../../domain/demand.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import { isFields } from "../../domain/fields.ts";

interface CycleCloudOptions {
  readonly transport: Transport;
  /** Absent: created nodes carry no autostop URL. */
  readonly autostop?: AutostopUrls;
  /** The key that signed a stop URL for nodes of this array; undefined: it is not ours. Absent: no node is known by its URL. */
  readonly stopKeyOf?: StopKeyReader;
  /** Gets the number of parts of a status that could not be used and were left out. */
  readonly log?: Log;
}

/**
 * CycleCloud's REST API (cyclecloud-wire.md A) behind the port of the use cases. Answers that are no outcome of the port become PortError:
 * 401 and 403 "denied", 429 and 503 "throttled", all others "unexpected".
 */
export function createCycleCloud(options: CycleCloudOptions): CycleCloud {
  const { transport, autostop } = options;
  return {
    status: (cluster, now) => observe(options, cluster, now),
    nodesOfRequest: (cluster, id) => listNodesOfRequest(transport, cluster, id),
    knowsRequest: (_cluster, id) => findOperation(transport, id),
    create: (cluster, request, inTime) => createNodes(transport, cluster, request, autostop, inTime),
    start: (cluster, id, nodes, inTime) => manageNodes(transport, cluster, "start", { id, nodes, inTime }),
    terminate: (cluster, id, nodes, inTime) =>
      manageNodes(transport, cluster, "terminate", { id, nodes, inTime }),
    deallocate: (cluster, id, nodes, inTime) =>
      manageNodes(transport, cluster, "deallocate", { id, nodes, inTime }),
  };
}

async function observe(
  { transport, log, stopKeyOf }: CycleCloudOptions,
  cluster: ClusterName,
  now: Instant,
): Promise<StatusOutcome> {
  const request = get(clusterPath(cluster, "status"), { nodes: "true" });
  const answer = await transport.send(request);
  if (answer.status === 404) {
    const message = wordsOf(answer) ?? "no words given";
    return { kind: "not-found", fromCycleCloud: isFromCycleCloud(answer), message };
  }
  if (!isSuccess(answer)) throw failureOf(operationOf(request), answer);
  const reading = readStatus(answer.body, cluster, now, stopKeyOf);
  if (reading.kind === "malformed") throw malformedAnswer(operationOf(request), reading, answer);
  if (Object.values(reading.oddities).some((count) => count > 0))
    log?.("cyclecloud-status-incomplete", { cluster, ...reading.oddities });
  return { kind: "snapshot", snapshot: reading.snapshot, templates: readTemplates(answer.body) };
}

/** Undefined for a 404: CycleCloud's "No operation found for request id", in any wording or form (cyclecloud-wire.md A.4). */
async function listNodesOfRequest(
  transport: Transport,
  cluster: ClusterName,
  id: RequestId,
): Promise<readonly RequestedNode[] | undefined> {
  const request = get(clusterPath(cluster, "nodes"), { request_id: id });
  const answer = await transport.send(request);
  if (answer.status === 404) return undefined;
  if (!isSuccess(answer)) throw failureOf(operationOf(request), answer);
  const reading = isFields(answer.body)
    ? readNodes(answer.body["nodes"])
    : malformed("(body)", answer.body, "an object");
  if (reading.kind === "malformed") throw malformedAnswer(operationOf(request), reading, answer);
  return reading.nodes;
}

/** Request ids belong to the server, not to the cluster: the path has no cluster (cyclecloud-wire.md A.9, with the trailing slash). */
async function findOperation(transport: Transport, id: RequestId): Promise<boolean> {
  const request = get("/operations/", { request_id: id });
  const answer = await transport.send(request);
  if (answer.status === 404) return false;
  if (!isSuccess(answer)) throw failureOf(operationOf(request), answer);
  if (!Array.isArray(answer.body)) {
    throw malformedAnswer(
      operationOf(request),
      malformed("(body)", answer.body, "a list of operations"),
      answer,
    );
  }
  return answer.body.length > 0;
}

async function createNodes(
  transport: Transport,
  cluster: ClusterName,
  { requestId, sets, templates }: CreateRequest,
  autostop: AutostopUrls | undefined,
  inTime: InTime | undefined,
): Promise<CreateOutcome> {
  const prepared = sets.map((set) => prepareSet(set, templates, autostop?.(cluster, set.bucket.array)));
  const content = { requestId, sets: prepared.map(({ body }) => body) };
  const request = post(clusterPath(cluster, "nodes", "create"), content, inTime);
  const fromTemplates = prepared.map(({ fromTemplate }) => fromTemplate);
  const answer = hideTexts(await transport.send(request), fromTemplates);
  return isSuccess(answer) ? readCreated(request, answer, sets.length) : readRefusal(request, answer);
}

/** One set as it is sent, and its parts that come from the template: they may hold secrets. */
function prepareSet(
  { bucket, count, nameFormat, attributes }: RequestedSet,
  templates: ArrayTemplates,
  autostopUrl: string | undefined,
) {
  const template = templates.configurationOf(bucket.array);
  const { nodeAttributes, fromTemplate } = nodeAttributesOf(attributes, template, autostopUrl);
  const body = {
    count,
    nodearray: bucket.array,
    definition: { machineType: bucket.machineType },
    ...withoutAbsent({ placementGroupId: bucket.placementGroup, nameFormat, nodeAttributes }),
  };
  return { body, fromTemplate };
}

/** Always by ids, because names and hostnames are reused (cyclecloud-wire.md A.7). */
async function manageNodes(
  transport: Transport,
  cluster: ClusterName,
  action: "start" | "terminate" | "deallocate",
  {
    id,
    nodes,
    inTime,
  }: {
    readonly id: RequestId;
    readonly nodes: readonly NodeId[];
    readonly inTime: InTime | undefined;
  },
): Promise<ManagementOutcome> {
  const content = { requestId: id, ids: nodes };
  const request = post(clusterPath(cluster, "nodes", action), content, inTime);
  const answer = await transport.send(request);
  return isSuccess(answer) ? readManaged(request, answer) : readRefusal(request, answer);
}

/** Names may contain spaces and any other character (cyclecloud-wire.md A.1). */
function clusterPath(cluster: ClusterName, ...segments: readonly string[]): string {
  return ["", "clusters", encodeURIComponent(cluster), ...segments].join("/");
}

function get(path: string, query: Readonly<Record<string, string>>): TransportRequest {
  return { method: "GET", path, query, idempotent: true };
}

/** The transport never repeats a change: the use case decides about that by asking for its request id (architecture.md, Intents). */
function post(path: string, body: unknown, inTime: InTime | undefined): TransportRequest {
  const change = { method: "POST", path, query: {}, body, idempotent: false } as const;
  return inTime === undefined ? change : { ...change, inTime };
}

/** An answer without the texts that `sent` contains at any depth: error answers quote the request, which may hold secrets. */
function hideTexts(answer: Answer, sent: unknown): Answer {
  const hidden = textsIn(sent);
  return hidden.length === 0 ? answer : { ...answer, body: without(answer.body, hidden) };
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isFields(value) ? Object.values(value).flatMap(textsIn) : [];
}

function without(value: unknown, hidden: readonly string[]): unknown {
  if (typeof value === "string") return withoutSecrets(value, hidden);
  if (Array.isArray(value)) return value.map((item) => without(item, hidden));
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, without(item, hidden)]));
}

/**
 * The URL that nodes of an array call to ask whether they may stop. The same for all nodes of the array, because one scale set needs equal
 * attributes.
 */
type AutostopUrls = (cluster: ClusterName, array: ArrayName) => string;

interface NodeAttributesToSend {
  /** Undefined if there are none. */
  readonly nodeAttributes: NodeAttributes | undefined;
  /** The parts that come from the template: they may hold secrets. */
  readonly fromTemplate: NodeAttributes;
}

/**
 * The nodeAttributes of a create. The autostop URL is put into Configuration under both names that nodes read (architecture.md, Autostop),
 * overriding the demand and the template.
 *
 * How deep CycleCloud merges Configuration into the array's is not documented (cyclecloud-wire.md C.2). So each member of Configuration is
 * sent completely: the array's template with ours merged over it. Whether CycleCloud merges it member by member or replaces it, the node
 * gets the same.
 */
function nodeAttributesOf(
  demanded: NodeAttributes | undefined,
  template: NodeAttributes | undefined,
  autostopUrl: string | undefined,
): NodeAttributesToSend {
  const name = Object.keys(demanded ?? {}).find((key) => key.toLowerCase() === "configuration");
  const said = name === undefined ? undefined : demanded?.[name];
  const ours = withAutostopUrl(isFields(said) ? said : undefined, autostopUrl);
  if (ours === undefined) return { nodeAttributes: demanded, fromTemplate: {} };
  const members = Object.keys(ours).filter((member) => Object.hasOwn(template ?? {}, member));
  const fromTemplate = Object.fromEntries(members.map((member) => [member, template?.[member]]));
  const configuration = mergeAttributes(fromTemplate, ours);
  return { nodeAttributes: { ...demanded, [name ?? "Configuration"]: configuration }, fromTemplate };
}

function withAutostopUrl(
  configuration: NodeAttributes | undefined,
  url: string | undefined,
): NodeAttributes | undefined {
  if (url === undefined) return configuration;
  return mergeAttributes(configuration ?? {}, {
    cyclecloud: { cluster: { autoscale: { stop_callback: url } } },
    autoscale: { stop_callback: url },
  });
}
