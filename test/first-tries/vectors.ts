import { readPolicy } from "../../src/wire/policy/policy.ts";
import type { Json } from "../conformance/compare.ts";
import { isList, isObject, textOf } from "../conformance/compare.ts";
import { readCases, SUITES } from "../conformance/suites.ts";
import type { VectorCase } from "../conformance/vector-case.ts";
import { DATA, readText } from "../support/data.ts";
import { agreeingStatus } from "./agreeing-status.ts";
import type { Cluster, Fields } from "./clusters.ts";
import { familyNamed, fieldsOf, listOf } from "./naive-limits.ts";

/** A vector as a user's cluster and a user's message. */
export interface VectorTry {
  readonly name: string;
  readonly cluster: Cluster;
  readonly message: Fields;
}

/** All cases of the allocator. Those whose configuration we refuse are left out. */
export function readVectorTries(): readonly VectorTry[] {
  return SUITES.filter(({ name }) => name.startsWith("allocator/"))
    .flatMap(({ name }) => readCases(JSON.parse(readText(`${DATA}vectors/${name}.json.gz`))))
    .flatMap((one) => tryOf(one) ?? []);
}

function tryOf({ name, input }: VectorCase): VectorTry | undefined {
  const config = configOf(fieldsOf(input["config"]));
  if (readPolicy(config).kind !== "policy") return undefined;
  const nodes = input["nodes"] ?? [];
  const status = agreeingStatus(input["clusterStatus"], nodes, familyNamed);
  if (!isObject(status)) return undefined;
  const started = { state: "Started", targetState: "Started" };
  return {
    name,
    cluster: { name, status: { ...started, ...status, nodes }, config },
    message: messageOf(input),
  };
}

/** What counts of an autoscale.json. */
function configOf({ default_resources: defaults, nodearrays }: Fields): Fields {
  return {
    ...(defaults === undefined ? {} : { default_resources: defaults }),
    ...(nodearrays === undefined ? {} : { nodearrays }),
  };
}

function messageOf(input: VectorCase["input"]): Fields {
  const pools = listOf(input["shared_resources"]).map(poolOf);
  const hosts = listOf(input["scheduler_nodes"]).map(({ hostname, jobs = [] }) => ({ hostname, jobs }));
  const jobs = isList(input["jobs"]) ? input["jobs"].filter(isObject).map(jobOf) : [];
  return {
    jobs,
    ...(pools.length === 0 ? {} : { pools }),
    ...(hosts.length === 0 ? {} : { schedulerNodes: hosts }),
  };
}

function poolOf({ id, kind, initial_value: initial, current_value: current }: Fields): Fields {
  if (kind === "value") return { name: id, value: current };
  return { name: id, total: Number(initial), used: Math.max(0, Number(initial) - Number(current)) };
}

/** The same cluster with each of its jobs alone: then a naive first fit is a fair judge. */
export function oneByOne({ name, cluster, message }: VectorTry): readonly VectorTry[] {
  const jobs = listOf(message["jobs"]);
  if (jobs.length < 2) return [];
  return jobs.map((job) => ({
    name: `${name}, ${String(job["name"])} alone`,
    cluster,
    message: { ...message, jobs: [job] },
  }));
}

/** With a node count scalelib looks at no iterations. Names are made different, as renewals need that. */
function jobOf(job: Readonly<Record<string, Json>>, at: number): Fields {
  const nodeCount = Number(job["node_count"] ?? 0);
  const hosts = job["executing_hostnames"];
  const constraints = isList(job["constraints"]) ? job["constraints"] : [job["constraints"] ?? {}];
  return {
    name: `${textOf(job["name"] ?? "job")}-${at}`,
    iterations: nodeCount > 0 ? 1 : (job["iterations"] ?? 1),
    ...(nodeCount > 0 ? { "node-count": nodeCount } : {}),
    constraints: constraints.flatMap(constraintOf),
    ...(job["colocated"] === true ? { colocated: true } : {}),
    ...(hosts === undefined ? {} : { "executing-hostnames": hosts }),
  };
}

/** `$shared` and `$shared_value` stand for objects that JSON cannot write. */
function constraintOf(member: Json): readonly Json[] {
  const shared = isObject(member) ? member["$shared"] : undefined;
  if (isObject(shared)) {
    const ids = isList(shared["ids"]) ? shared["ids"].map(textOf) : [];
    return ids.map((id) => ({ pool: { [id]: shared["amount"] ?? 0 } }));
  }
  const value = isObject(member) ? member["$shared_value"] : undefined;
  return isObject(value) ? [{ pool: { [textOf(value["id"])]: value["target"] ?? null } }] : [member];
}
