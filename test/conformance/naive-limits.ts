import type { BucketFacts, CaseFacts, NodeFacts } from "./allocator-case.ts";
import { sizeOfBucket, fieldsOf } from "./allocator-case.ts";
import type { Json } from "./compare.ts";
import { isObject, textOf } from "./compare.ts";

export interface Created {
  readonly bucket: string;
  readonly count: number;
}

/**
 * The limits that new nodes (or deallocated ones that are started) would exceed, counted from the status alone (cyclecloud-wire.md A.3):
 * availableCount of a VM size of an array, whatever the groups; the size of a placement group; nodes and cores of array and cluster; the
 * quota of a family (by the catalogue) and of a region, separate for spot, as in the first bucket.
 */
export function exceededLimits(
  facts: CaseFacts,
  vmSizes: Json,
  created: readonly Created[],
): readonly string[] {
  const rows = created.flatMap(({ bucket, count }) => {
    const of = facts.buckets.find(({ id }) => id === sizeOfBucket(bucket));
    return of === undefined || count === 0 ? [] : [{ of, group: bucket.split("/")[2], count }];
  });
  const valid = facts.buckets.filter((bucket) => bucket.valid);
  const counted = facts.nodes.filter(hasMachine);
  const coresOf = (nodes: readonly NodeFacts[]): number =>
    sum(nodes.map((node) => facts.buckets.find(({ id }) => id === `${node.array}/${node.size}`)?.cores ?? 0));
  const faults: string[] = [];
  const check = (
    what: string,
    key: (bucket: BucketFacts) => string | undefined,
    left: (bucket: BucketFacts) => number,
    unit: "nodes" | "cores",
  ): void => {
    for (const [name, members] of groupBy(rows, ({ of }) => key(of))) {
      const first = members[0]?.of;
      const asked = sum(members.map(({ of, count }) => count * (unit === "nodes" ? 1 : of.cores)));
      if (first !== undefined && asked > left(first))
        faults.push(`${what} ${name}: ${asked} of ${left(first)} ${unit}`);
    }
  };
  const firstOf = (key: (bucket: BucketFacts) => string | undefined, bucket: BucketFacts): BucketFacts =>
    valid.find((one) => key(one) === key(bucket)) ?? bucket;
  const family = (bucket: BucketFacts): string | undefined =>
    bucket.spot ? undefined : `${bucket.region}/${familyIn(vmSizes, bucket)}`;
  const region = (bucket: BucketFacts): string => `${bucket.region}/${bucket.spot}`;
  check(
    "bucket",
    ({ id }) => id,
    ({ available }) => available,
    "nodes",
  );
  check("family", family, (bucket) => roomIn(firstOf(family, bucket).family), "cores");
  check("region", region, (bucket) => roomIn(firstOf(region, bucket).regional), "cores");
  check(
    "cluster",
    () => "",
    () => facts.maxCount - counted.length,
    "nodes",
  );
  check(
    "cluster",
    () => "",
    () => facts.maxCores - coresOf(counted),
    "cores",
  );
  const arrayOf = ({ array }: BucketFacts) => facts.arrays.find(({ name }) => name === array);
  const inArray = ({ array }: BucketFacts) => counted.filter((node) => node.array === array);
  check(
    "array",
    ({ array }) => array,
    (bucket) => (arrayOf(bucket)?.maxCount ?? Infinity) - inArray(bucket).length,
    "nodes",
  );
  check(
    "array",
    ({ array }) => array,
    (bucket) => (arrayOf(bucket)?.maxCores ?? Infinity) - coresOf(inArray(bucket)),
    "cores",
  );
  for (const { of, group, count } of rows) {
    if (group === undefined) continue;
    const nodes = counted.filter(
      (node) => `${node.array}/${node.size}` === of.id && node.group === group,
    ).length;
    const used = Math.max(of.groups.get(group) ?? 0, nodes);
    const all = sum(rows.filter((row) => row.of === of && row.group === group).map((row) => row.count));
    if (used + all > of.groupSize)
      faults.push(`group ${group}: ${used} and ${count} of ${of.groupSize} nodes`);
  }
  return faults;
}

/** A node that has a machine, or will have one, or still has it. */
export function hasMachine({ status, target }: NodeFacts): boolean {
  return target === "Started" || status !== target;
}

export const roomIn = ({ used, max }: { readonly used: number; readonly max: number }): number =>
  Math.max(0, max - used);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

function groupBy<T>(
  rows: readonly T[],
  key: (row: T) => string | undefined,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const name = key(row);
    if (name !== undefined) groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return groups;
}

/** What the catalogue of the vectors says of a size; a size that it does not know is a family of its own. */
export function sizeIn(
  vmSizes: Json,
  region: string,
  size: string,
): Readonly<Record<string, Json>> | undefined {
  const table = fieldsOf(vmSizes);
  const proxy = textOf(fieldsOf(table["proxied-locations"])[region] ?? "");
  const location = isObject(table[region]) ? table[region] : fieldsOf(table[proxy]);
  const found = location[size];
  return isObject(found) ? found : undefined;
}

export function familyIn(vmSizes: Json, { region, size }: BucketFacts): string {
  return textOf(sizeIn(vmSizes, region, size)?.["family"] ?? size);
}
