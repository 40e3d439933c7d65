import type { Json } from "./compare.ts";
import { isList, isObject, textOf } from "./compare.ts";
import type { VectorCase } from "./vector-case.ts";

/** A case of the allocator's files as plain objects: its input, and an outcome in the format of `expected`. Nothing of the product is here. */

export type Fields = Readonly<Record<string, Json>>;

export interface BucketFacts {
  /** "array/size". */
  readonly id: string;
  readonly array: string;
  readonly size: string;
  readonly region: string;
  readonly spot: boolean;
  readonly valid: boolean;
  readonly cores: number;
  readonly gpus: number;
  readonly available: number;
  readonly groupSize: number;
  readonly groups: ReadonlyMap<string, number>;
  readonly pinned: string | undefined;
  readonly family: Quota;
  readonly regional: Quota;
  /** Seconds since the last capacity failure; below 0: never. */
  readonly failure: number;
}

export interface Quota {
  readonly used: number;
  readonly max: number;
}

export interface NodeFacts {
  readonly name: string;
  readonly array: string;
  readonly size: string;
  readonly group: string | undefined;
  readonly status: string;
  readonly target: string;
  readonly resources: Fields;
  readonly coreCount: number | undefined;
}

export interface JobFacts {
  readonly name: string;
  readonly members: readonly Json[];
  readonly iterations: number;
  readonly nodeCount: number;
  /** All or nothing, in one bucket. */
  readonly whole: boolean;
}

/** What an outcome says of a job. */
export interface JobOutcome {
  readonly allocated: number;
  readonly requested: number;
  readonly candidates: readonly string[];
  readonly nodes: readonly { readonly name: string; readonly fresh: boolean; readonly slots: number }[];
  readonly buckets: readonly string[];
  /** It was refused as one that cannot be read. */
  readonly refused: boolean;
}

export interface NodeOutcome {
  readonly name: string;
  readonly bucket: string;
  readonly flags: string;
  readonly jobs: readonly string[];
}

export interface Outcome {
  readonly jobs: readonly JobOutcome[];
  readonly nodes: readonly NodeOutcome[];
  /** `own`: what the bucket's own limit leaves, if the file has it. */
  readonly buckets: readonly { readonly bucket: string; readonly available: number; readonly own: number }[];
  readonly created: readonly { readonly bucket: string; readonly count: number }[];
  readonly raised: boolean;
}

export interface ArrayFacts {
  readonly name: string;
  readonly maxCount: number;
  readonly maxCores: number;
  readonly enabled: boolean;
  /** False: no placement groups are generated there. */
  readonly isHpc: boolean;
  readonly resources: Fields;
}

export interface CaseFacts {
  readonly arrays: readonly ArrayFacts[];
  readonly buckets: readonly BucketFacts[];
  readonly nodes: readonly NodeFacts[];
  readonly jobs: readonly JobFacts[];
  readonly maxCount: number;
  readonly maxCores: number;
  readonly config: Fields;
}

export const fieldsOf = (value: Json | undefined): Fields => (isObject(value) ? value : {});
export const listOf = (value: Json | undefined): readonly Json[] => (isList(value) ? value : []);
const objectsIn = (value: Json | undefined): readonly Fields[] => listOf(value).filter(isObject);
const numberOr = (value: Json | undefined, other: number): number =>
  typeof value === "number" ? value : other;
const textOr = (value: Json | undefined): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

export function readFacts({ input }: VectorCase): CaseFacts {
  const status = fieldsOf(input["clusterStatus"]);
  const arrays = objectsIn(status["nodearrays"]);
  return {
    arrays: arrays.map(readArray),
    buckets: arrays.flatMap((array) =>
      objectsIn(array["buckets"]).map((bucket) => readBucket(array, bucket)),
    ),
    nodes: objectsIn(input["nodes"]).map(readNode),
    jobs: objectsIn(input["jobs"]).map(readJob),
    maxCount: numberOr(status["maxCount"], Infinity),
    maxCores: numberOr(status["maxCoreCount"], Infinity),
    config: fieldsOf(input["config"]),
  };
}

function autoscaleOf(array: Fields): Fields {
  return fieldsOf(fieldsOf(fieldsOf(array["nodearray"])["Configuration"])["autoscale"]);
}

function readArray(array: Fields): ArrayFacts {
  return {
    name: textOf(array["name"]),
    maxCount: numberOr(array["maxCount"], Infinity),
    maxCores: numberOr(array["maxCoreCount"], Infinity),
    enabled: autoscaleOf(array)["enabled"] !== false,
    isHpc: autoscaleOf(array)["is_hpc"] !== false,
    resources: fieldsOf(autoscaleOf(array)["resources"]),
  };
}

function readBucket(array: Fields, bucket: Fields): BucketFacts {
  const record = fieldsOf(array["nodearray"]);
  const machine = fieldsOf(bucket["virtualMachine"]);
  const size = textOf(fieldsOf(bucket["definition"])["machineType"]);
  const name = textOf(array["name"]);
  const quota = (kind: string): Quota => ({
    used: numberOr(bucket[`${kind}ConsumedCoreCount`], 0),
    max: numberOr(bucket[`${kind}QuotaCoreCount`], Infinity),
  });
  return {
    id: `${name}/${size}`,
    array: name,
    size,
    region: textOf(record["Region"]),
    spot: record["Interruptible"] === true,
    valid: bucket["valid"] === true,
    cores: numberOr(machine["vcpuCount"], 0),
    gpus: numberOr(machine["gpuCount"], 0),
    available: numberOr(bucket["availableCount"], 0),
    groupSize: numberOr(bucket["maxPlacementGroupSize"], 0),
    groups: new Map(
      objectsIn(bucket["placementGroups"]).map((group) => [
        textOf(group["name"]),
        numberOr(group["activeCount"], 0),
      ]),
    ),
    pinned: textOr(record["PlacementGroupId"]),
    family: quota("family"),
    regional: quota("regional"),
    failure: numberOr(bucket["lastCapacityFailure"], -1),
  };
}

function readNode(node: Fields): NodeFacts {
  const autoscale = fieldsOf(fieldsOf(node["Configuration"])["autoscale"]);
  return {
    name: textOf(node["Name"]),
    array: textOf(node["Template"]),
    size: textOf(node["MachineType"]),
    group: textOr(node["PlacementGroupId"]),
    status: textOr(node["Status"]) ?? "",
    target: textOr(node["TargetState"]) ?? "",
    resources: fieldsOf(autoscale["resources"]),
    coreCount: typeof node["CoreCount"] === "number" ? node["CoreCount"] : undefined,
  };
}

function readJob(job: Fields): JobFacts {
  const nodeCount = numberOr(job["node_count"], 0);
  const strategy = textOr(job["packing_strategy"]) ?? (nodeCount > 0 ? "scatter" : "pack");
  const { constraints } = job;
  return {
    name: textOf(job["name"]),
    members: isList(constraints) ? constraints : [constraints ?? {}],
    iterations: numberOr(job["iterations"], 1),
    nodeCount,
    whole: job["colocated"] === true || strategy === "scatter",
  };
}

export function readOutcome(value: Json): Outcome {
  const outcome = fieldsOf(value);
  const jobs = objectsIn(outcome["jobs"]);
  return {
    jobs: jobs.map(readJobOutcome),
    nodes: listOf(outcome["nodes"]).map((row): NodeOutcome => {
      const [name, bucket, flags, names] = listOf(row);
      return {
        name: textOf(name),
        bucket: textOf(bucket),
        flags: textOf(flags),
        jobs: listOf(names).map(textOf),
      };
    }),
    buckets: objectsIn(outcome["buckets"]).map((bucket) => ({
      bucket: textOf(bucket["bucket"]),
      available: numberOr(bucket["available"], 0),
      own: numberOr(fieldsOf(bucket["limits"])["bucket"], 0),
    })),
    created: objectsIn(fieldsOf(outcome["demand"])["new_by_bucket"]).map((entry) => ({
      bucket: textOf(entry["bucket"]),
      count: numberOr(entry["count"], 0),
    })),
    raised: "raises" in outcome || jobs.some((job) => "raises" in job),
  };
}

function readJobOutcome(job: Fields): JobOutcome {
  return {
    allocated: numberOr(job["allocated"], 0),
    requested: numberOr(job["requested"], 0),
    candidates: listOf(job["candidates"]).map(textOf),
    nodes: listOf(job["nodes"]).map((row) => {
      const [name, origin, slots] = listOf(row);
      return { name: textOf(name), fresh: origin === "new", slots: numberOr(slots, 0) };
    }),
    buckets: objectsIn(job["by_bucket"]).map((entry) => textOf(entry["bucket"])),
    refused: "problem" in job,
  };
}

/** Array and size of a bucket, without its group. */
export function sizeOfBucket(bucket: string): string {
  return bucket.split("/").slice(0, 2).join("/");
}

/** Whether a member anywhere in the constraints has this property. */
export function someMember(value: Json | undefined, test: (key: string, value: Json) => boolean): boolean {
  if (isList(value)) return value.some((item) => someMember(item, test));
  if (!isObject(value)) return false;
  return Object.entries(value).some(([key, member]) => test(key, member) || someMember(member, test));
}
