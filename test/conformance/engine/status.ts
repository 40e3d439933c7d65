import type { Fields, Json } from "../compare.ts";
import { fieldsOf, isObject, objectsIn, textOf } from "../compare.ts";

/** A cluster's status as the engine reads it. */
export interface Status {
  readonly record: Fields;
  /** All sizes of all arrays. */
  readonly sizes: readonly Offer[];
  /** Those that may have new nodes: valid, of arrays that are autoscaled. */
  readonly offers: readonly Offer[];
  readonly nodes: readonly Fields[];
  readonly vmSizes: Json;
}

/** A size of an array. */
export interface Offer {
  readonly array: string;
  readonly size: string;
  readonly region: string;
  readonly spot: boolean;
  readonly cores: number;
  readonly vm: CatalogueSize;
  /** The array as the status lists it, its record, and the bucket. */
  readonly element: Fields;
  readonly record: Fields;
  readonly bucket: Fields;
}

/** What the catalogue says of a VM size; absent: nothing. */
interface CatalogueSize {
  readonly family?: string;
  readonly vcpus?: number;
  readonly pcpus?: number;
  readonly perCore?: number;
  readonly gpus: number;
  readonly infiniband: boolean;
}

export function readStatus(input: Fields, vmSizes: Json): Status {
  const record = fieldsOf(input["clusterStatus"]);
  const sizes = objectsIn(record["nodearrays"]).flatMap((element) =>
    objectsIn(element["buckets"]).map((bucket) => readOffer(element, bucket, vmSizes)),
  );
  const offers = sizes.filter((one) => one.bucket["valid"] === true && isAutoscaled(one));
  return { record, sizes, offers, nodes: objectsIn(input["nodes"]), vmSizes };
}

function readOffer(element: Fields, bucket: Fields, vmSizes: Json): Offer {
  const record = fieldsOf(element["nodearray"]);
  const size = textOf(fieldsOf(bucket["definition"])["machineType"]);
  const region = textOf(record["Region"]);
  return {
    array: textOf(element["name"]),
    size,
    region,
    spot: record["Interruptible"] === true,
    cores: Number(fieldsOf(bucket["virtualMachine"])["vcpuCount"]),
    vm: catalogueOf(vmSizes, region, size),
    element,
    record,
    bucket,
  };
}

export const isAutoscaled = ({ record }: Offer): boolean => autoscaleOf(record)["enabled"] !== false;

export const autoscaleOf = (record: Fields): Fields =>
  fieldsOf(fieldsOf(record["Configuration"])["autoscale"]);

/** A region without data may have another one that stands for it. */
export function catalogueOf(vmSizes: Json, region: string, size: string): CatalogueSize {
  const table = fieldsOf(vmSizes);
  const proxy = textOf(fieldsOf(table["proxied-locations"])[region] ?? "");
  const found = fieldsOf(isObject(table[region]) ? table[region] : table[proxy])[size];
  const { family, capabilities } = fieldsOf(found);
  const facts = fieldsOf(capabilities);
  const vcpus = numberOf(facts["vCPUsAvailable"]) ?? numberOf(facts["vCPUs"]);
  const perCore = numberOf(facts["vCPUsPerCore"]);
  return {
    ...(family === undefined ? {} : { family: textOf(family) }),
    ...(vcpus === undefined ? {} : { vcpus, pcpus: Math.floor(vcpus / (perCore ?? 1)) }),
    ...(perCore === undefined ? {} : { perCore }),
    gpus: numberOf(facts["GPUs"]) ?? 0,
    infiniband: textOf(facts["RdmaEnabled"] ?? "").toLowerCase() === "true",
  };
}

export const numberOf = (value: Json | undefined): number | undefined =>
  typeof value === "number" || (typeof value === "string" && value !== "") ? Number(value) : undefined;

/** A node that has a machine, or will have one, or still has it. */
export const hasMachine = (node: Fields): boolean =>
  node["TargetState"] === "Started" || node["Status"] !== node["TargetState"];
