import { findVmSize } from "../../src/domain/catalogue.ts";
import { machineType } from "../../src/domain/ids.ts";
import { catalogueOf } from "../../src/domain/vm-size-data.ts";
import type { Allocation } from "../../src/domain/allocation.ts";
import type { World } from "../../src/domain/world.ts";
import type { LimitId } from "../../src/domain/limit.ts";
import { newcomers } from "../property/naive-places.ts";
import type { Cluster, Fields } from "./clusters.ts";

const CATALOGUE = catalogueOf({});
const sizeNamed = (type: string) => findVmSize(CATALOGUE, undefined, machineType(type)).size;

/** A limit as the status shows it, and what a plan takes of it. */
export interface CountedLimit {
  readonly id: Pick<LimitId, "kind" | "name" | "unit">;
  readonly max: number;
  /** Before the plan. */
  readonly used: number;
  /** By the plan. */
  readonly taken: number;
}

interface BucketFacts {
  readonly array: string;
  readonly type: string;
  readonly region: string;
  readonly spot: boolean;
  readonly cores: number;
  readonly fields: Fields;
}

export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
export const listOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.map(fieldsOf) : [];
const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/**
 * Every limit of a status, counted from its JSON alone (cyclecloud-wire.md A.3): nodes and cores of cluster and array, quotas of families
 * and regions in each form that CycleCloud shows them in, what each bucket still offers, and the size of placement groups.
 */
export function countLimits({ status }: Cluster, world: World, answer: Allocation): readonly CountedLimit[] {
  const buckets = bucketsOf(status);
  const nodes = listOf(status["nodes"]).filter(hasMachine);
  const added = newcomers(world, answer).flatMap(({ bucket, count, what }) => {
    const parent = world.buckets.find((offer) => offer.bucket.array === bucket.array)?.parent?.bucket;
    const array = parent?.array ?? bucket.array;
    const facts = buckets.find((one) => one.array === array && sameType(one.type, bucket.machineType));
    return facts === undefined ? [] : [{ facts, count, what, group: bucket.placementGroup }];
  });
  const takenIn = (
    isMeant: (facts: BucketFacts) => boolean,
    unit: "nodes" | "cores",
    isStarted = false,
  ): number =>
    added
      .filter(({ facts, what }) => isMeant(facts) && (isStarted || what === "created"))
      .reduce((sum, { facts, count }) => sum + count * (unit === "nodes" ? 1 : facts.cores), 0);
  const usedBy = (some: readonly Fields[], unit: "nodes" | "cores"): number =>
    some.reduce((sum, node) => sum + (unit === "nodes" ? 1 : coresOf(node, buckets)), 0);
  const counted = (kind: "cluster" | "nodearray", name: string, from: Fields): CountedLimit[] =>
    (["nodes", "cores"] as const).flatMap((unit) => {
      const max = numberOf(from[unit === "nodes" ? "maxCount" : "maxCoreCount"]);
      if (max === undefined) return [];
      const isMine = (array: string): boolean => kind === "cluster" || array === name;
      const some = nodes.filter((node) => isMine(textOf(node["Template"])));
      const taken = takenIn(({ array }) => isMine(array), unit, true);
      return [{ id: { kind, name, unit }, max, used: usedBy(some, unit), taken }];
    });
  const own = buckets.map(({ array, type, cores, fields }): CountedLimit => {
    const here = nodes.filter(
      (node) => node["Template"] === array && sameType(textOf(node["MachineType"]), type),
    );
    const used = Math.max(here.length, numberOf(fields["activeCount"]) ?? 0);
    const most = Math.min(
      numberOf(fields["maxCount"]) ?? Infinity,
      Math.floor((numberOf(fields["maxCoreCount"]) ?? Infinity) / cores),
    );
    const max = Number.isFinite(most) ? most : used + (numberOf(fields["availableCount"]) ?? 0);
    const taken = takenIn((facts) => facts.array === array && facts.type === type, "nodes");
    return { id: { kind: "bucket", name: `${array}/${type}`, unit: "nodes" }, max, used, taken };
  });
  return [
    ...counted("cluster", "", status),
    ...listOf(status["nodearrays"]).flatMap((array) => counted("nodearray", textOf(array["name"]), array)),
    ...quotas(buckets, takenIn),
    ...own,
  ];
}

/** What the plan takes beyond a limit. */
export function exceeded(limits: readonly CountedLimit[]): readonly string[] {
  return limits.flatMap(({ id, max, used, taken }) =>
    taken > 0 && used + taken > max
      ? [`${id.kind} ${id.name}: ${used} and ${taken} of ${max} ${id.unit}`]
      : [],
  );
}

const sameType = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

function bucketsOf(status: Fields): readonly BucketFacts[] {
  return listOf(status["nodearrays"]).flatMap((array) => {
    const record = fieldsOf(array["nodearray"]);
    return listOf(array["buckets"]).map((fields) => ({
      array: textOf(array["name"]),
      type: textOf(fieldsOf(fields["definition"])["machineType"]),
      region: textOf(record["Region"]),
      spot: record["Interruptible"] === true,
      cores: numberOf(fieldsOf(fields["virtualMachine"])["vcpuCount"]) ?? 0,
      fields,
    }));
  });
}

/** It has a machine, will have one, or still has it. */
function hasMachine({ Status: status, TargetState: target }: Fields): boolean {
  return target === "Started" || status !== target;
}

/** As the node says, as its bucket says, as Azure's table of sizes says. */
function coresOf(node: Fields, buckets: readonly BucketFacts[]): number {
  const type = textOf(node["MachineType"]);
  const bucket = buckets.find((one) => one.array === node["Template"] && sameType(one.type, type));
  return numberOf(node["CoreCount"]) ?? bucket?.cores ?? sizeNamed(type).vcpus ?? 0;
}

type Taken = (isMeant: (facts: BucketFacts) => boolean, unit: "nodes" | "cores") => number;

const QUOTAS = [
  { kind: "family-quota", max: "familyQuotaCoreCount", used: "familyConsumedCoreCount" },
  { kind: "regional-quota", max: "regionalQuotaCoreCount", used: "regionalConsumedCoreCount" },
  // The documentation has no other one: the family's, reduced by the region's.
  { kind: "family-quota", max: "quotaCoreCount", used: "consumedCoreCount" },
] as const;

/** Of spot there is the region's quota only. */
function quotas(buckets: readonly BucketFacts[], taken: Taken): readonly CountedLimit[] {
  return QUOTAS.flatMap(({ kind, max, used }) => {
    const groups = new Map<string, BucketFacts[]>();
    for (const facts of buckets) {
      if (numberOf(facts.fields[max]) === undefined || (facts.spot && kind === "family-quota")) continue;
      const key = `${facts.region} ${kind === "family-quota" ? familyOf(facts) : facts.spot}`;
      groups.set(key, [...(groups.get(key) ?? []), facts]);
    }
    return [...groups].flatMap(([, all]): CountedLimit[] => {
      const [first] = all;
      if (first === undefined) return [];
      const isSpot = kind === "regional-quota" && first.spot;
      const name = kind === "family-quota" ? familyOf(first) : first.region;
      return [
        {
          id: { kind: isSpot ? "regional-spot-quota" : kind, name, unit: "cores" },
          max: numberOf(first.fields[max]) ?? 0,
          used: numberOf(first.fields[used]) ?? 0,
          taken: taken((facts) => all.includes(facts), "cores"),
        },
      ];
    });
  });
}

/** By Azure's table of sizes; a size that it does not know is a family of its own. */
export const familyNamed = (type: string): string => sizeNamed(type).family ?? type;

const familyOf = ({ type }: BucketFacts): string => familyNamed(type);
