import type { BucketFacts, CaseFacts, NodeFacts } from "./allocator-case.ts";
import { fieldsOf, listOf } from "./allocator-case.ts";
import type { Json } from "./compare.ts";
import { bytesOfText, isObject, textOf } from "./compare.ts";
import type { NaiveNode, NaivePools, NaiveValue } from "./naive-judge.ts";
import type { Created } from "./naive-limits.ts";
import type { Surroundings, VectorCase } from "./vector-case.ts";
import { readCluster, readRules } from "./vector-cluster.ts";

/*
 * A case of the vectors as the naive first fit sees it.
 */

/** A bucket with its group, what a new node there is, and the nodes that it has. */
export interface NaiveBucket {
  readonly id: string;
  /** Absent: a host that only the scheduler knows, which is a bucket of its own. */
  readonly of: BucketFacts | undefined;
  readonly example: NaiveNode;
  readonly nodes: NaiveNode[];
}

/** A case as the checkers see it. Only what nodes offer is read by the product's reader: the other suites check that. */
export interface NaiveWorld {
  readonly facts: CaseFacts;
  readonly vmSizes: Json;
  readonly buckets: readonly NaiveBucket[];
  readonly pools: NaivePools;
  readonly created: Created[];
  /** Names of deallocated nodes that are not started yet. */
  readonly asleep: Set<string>;
}

export function readNaiveWorld(
  one: VectorCase,
  facts: CaseFacts,
  surroundings: Surroundings,
): NaiveWorld | undefined {
  const read = readRules(one.input, surroundings);
  if (read.kind === "refused") return undefined;
  const cluster = readCluster(one.input, read.rules);
  const mine = facts.buckets.filter(
    (bucket) => bucket.valid && facts.arrays.some(({ name, enabled }) => name === bucket.array && enabled),
  );
  const generated = one.input["default_placement_groups"] === true ? generatedNames(facts, mine) : [];
  const buckets: NaiveBucket[] = [];
  const add = (of: BucketFacts, group: string | undefined): void => {
    const id = group === undefined ? of.id : `${of.id}/${group}`;
    const view = cluster.buckets.get(id) ?? cluster.buckets.get(of.id);
    if (view === undefined || buckets.some((bucket) => bucket.id === id)) return;
    buckets.push({
      id,
      of,
      example: naiveNode(`${of.array}-0`, id, view, group ?? null, of.failure),
      nodes: [],
    });
  };
  for (const of of mine) {
    for (const group of groupsOf(of, facts)) add(of, group);
    add(of, undefined);
  }
  for (const { of, group } of generated) add(of, group);
  const asleep = new Set<string>();
  for (const [name, view] of cluster.nodes) {
    const node = facts.nodes.find((other) => other.name === name);
    if (node === undefined) {
      const host = naiveNode(name, "unknown/unknown", view, null, -1);
      buckets.push({ id: `host ${name}`, of: undefined, example: host, nodes: [host] });
      continue;
    }
    const bucket = buckets.find(({ id }) => id === bucketOf(node));
    if (bucket === undefined || !isHealthy(node)) continue;
    if (node.status === "Deallocated") asleep.add(name);
    bucket.nodes.push(naiveNode(name, bucket.id, view, node.group ?? null, -1));
  }
  for (const { nodes } of buckets) nodes.sort((a, b) => compareNames(a.name, b.name));
  const vmSizes = surroundings.vmSizes;
  return { facts, vmSizes, buckets, pools: readPools(one.input["shared_resources"]), created: [], asleep };
}

const bucketOf = ({ array, size, group }: NodeFacts): string =>
  group === undefined ? `${array}/${size}` : `${array}/${size}/${group}`;

/** Failed nodes are none (defect 14), nor are those on their way down; deallocated ones can be started. */
function isHealthy({ status, target }: NodeFacts): boolean {
  if (status === "Failed" || status === "Unavailable") return false;
  return target === "Started" || (status === "Deallocated" && target === "Deallocated");
}

function compareNames(a: string, b: string): number {
  const [x, y] = [/^(.*?)-?(\d*)$/.exec(a), /^(.*?)-?(\d*)$/.exec(b)];
  const [p = "", q = ""] = [x?.[1], y?.[1]];
  return p < q ? -1 : p > q ? 1 : Number(x?.[2]) - Number(y?.[2]);
}

/** Groups that the status lists, then nodes' own (defect 56), those of the configuration, the array's. */
function groupsOf(of: BucketFacts, facts: CaseFacts): ReadonlySet<string> {
  const arrays = fieldsOf(facts.config["nodearrays"]);
  const named = (array: string): string[] => listOf(fieldsOf(arrays[array])["placement_groups"]).map(textOf);
  const ofNodes = facts.nodes
    .filter((node) => `${node.array}/${node.size}` === of.id)
    .flatMap(({ group }) => (group === undefined ? [] : [group]));
  const own = of.pinned === undefined ? [] : [of.pinned];
  return new Set([...of.groups.keys(), ...ofNodes, ...named("default"), ...named(of.array), ...own]);
}

/**
 * Names of groups that the library generates (scalelib.md 8). For each VM size there are as many as the array's buffer says, within the
 * array's limit. There are none in an array that is not for HPC, and none if the configuration names groups.
 */
function generatedNames(
  facts: CaseFacts,
  mine: readonly BucketFacts[],
): readonly { readonly of: BucketFacts; readonly group: string }[] {
  const arrays = fieldsOf(facts.config["nodearrays"]);
  if (Object.values(arrays).some((array) => listOf(fieldsOf(array)["placement_groups"]).length > 0))
    return [];
  const known = new Map<string, Set<string>>();
  for (const bucket of mine)
    known.set(bucket.array, new Set([...(known.get(bucket.array) ?? []), ...groupsOf(bucket, facts)]));
  return mine.flatMap((of) => {
    const { generated_placement_group_buffer: buffer, max_placement_groups: most } = fieldsOf(
      arrays[of.array],
    );
    const ofArray = known.get(of.array) ?? new Set<string>();
    const room = (typeof most === "number" ? most : 10_000) - ofArray.size;
    const isHpc = facts.arrays.find(({ name }) => name === of.array)?.isHpc !== false;
    const wanted = isHpc ? Math.min(typeof buffer === "number" ? buffer : 2, room) : 0;
    const names: string[] = [];
    for (let i = 0; names.length < wanted; i += 1)
      if (!ofArray.has(`${of.size}_pg${i}`)) names.push(`${of.size}_pg${i}`);
    for (const name of names) ofArray.add(name);
    return names.map((group) => ({ of, group }));
  });
}

type View = ReturnType<typeof readCluster>["nodes"] extends ReadonlyMap<string, infer V> ? V : never;

function naiveNode(
  name: string,
  bucket: string,
  view: View,
  group: string | null,
  failure: number,
): NaiveNode {
  const properties = new Map(Object.entries(view.properties).map(([key, value]) => [key, naiveValue(value)]));
  properties.set("placement_group", { kind: "mark", value: group });
  properties.set("colocated", { kind: "mark", value: group !== null });
  return {
    name,
    bucket,
    properties,
    resources: new Map(Object.entries(view.available).map(([key, value]) => [key, naiveValue(value)])),
    jobs: new Set(view.jobs),
    owner: undefined,
    failure,
  };
}

function naiveValue(value: View["available"][string]): NaiveValue {
  if (typeof value === "number") return { kind: "amount", amount: value, bytes: undefined };
  if (typeof value !== "object" || value === null) return { kind: "mark", value };
  return { kind: "amount", amount: value.amount, bytes: bytesOfText(`memory::1${value.unit}`) };
}

function readPools(value: Json | undefined): NaivePools {
  const pools = listOf(value).filter(isObject);
  return {
    left: new Map(
      pools
        .filter(({ kind }) => kind !== "value")
        .map((pool) => [textOf(pool["id"]), Number(pool["current_value"])]),
    ),
    values: new Map(
      pools
        .filter(({ kind }) => kind === "value")
        .map((pool) => [textOf(pool["id"]), pool["current_value"] ?? null]),
    ),
    once: new Set(),
  };
}
