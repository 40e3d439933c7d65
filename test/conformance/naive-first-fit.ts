import type { BucketFacts, CaseFacts, JobFacts, NodeFacts } from "./allocator-case.ts";
import { fieldsOf, listOf, someMember } from "./allocator-case.ts";
import type { Json } from "./compare.ts";
import { bytesOfText, isObject, textOf } from "./compare.ts";
import type { NaiveNode, NaivePools, NaiveValue } from "./naive-judge.ts";
import { isOpen, judgeKey, judgeSlot, putSlot } from "./naive-judge.ts";
import type { Created } from "./naive-limits.ts";
import { exceededLimits } from "./naive-limits.ts";
import type { Surroundings, VectorCase } from "./vector-case.ts";
import { readCluster, readRules } from "./vector-cluster.ts";

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
 * Names of groups that the library generates (scalelib.md 8): so many of each VM size as the array's buffer says, and no more
 * than the array may have in all; none in an array that is not for HPC, and none at all where the configuration names groups.
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

/** Buckets that the job may use, preferred first (scalelib.md 10). */
export function naiveCandidates(world: NaiveWorld, job: JobFacts): readonly NaiveBucket[] {
  const count = world.buckets.length;
  const weighed = world.buckets.map((bucket, at) => ({
    bucket,
    weight: weightOf(world, job.members, bucket, count - at),
  }));
  const sorted = weighed
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ bucket }) => bucket)
    .filter(({ example }) => judgeSlot(job.members, example, world.pools, job.name) !== undefined);
  return [...sorted.filter(({ of }) => of === undefined), ...sorted.filter(({ of }) => of !== undefined)];
}

function weightOf(world: NaiveWorld, members: readonly Json[], bucket: NaiveBucket, start: number): number {
  let weight = start;
  for (const [key, value] of members.flatMap((member) => Object.entries(fieldsOf(member)))) {
    const take = judgeKey(key, value, bucket.example, world.pools, "");
    const isList = Array.isArray(value);
    const isChoice =
      key.startsWith("node.") || (isList && !["and", "xor"].includes(key)) || isMark(key, value);
    if (key === "and" && isList) weight = weightOf(world, listOf(value), bucket, weight);
    else if (key === "capacity-failure-backoff") weight = take === undefined ? 0 : weight;
    else if (isChoice && !(key.startsWith("node.") && weight === 0))
      weight = take === undefined ? 0 : weight + 100 * take.score;
  }
  return weight;
}

function isMark(key: string, value: Json): boolean {
  if (["never", "in-a-placement-group"].includes(key) || key.startsWith("exclusive")) return false;
  return (
    typeof value === "boolean" ||
    value === null ||
    (typeof value === "string" && bytesOfText(value) === undefined)
  );
}

/**
 * Places the jobs that can be read, one slot at a time on the first node that takes it, and tells how many slots (or nodes) each got of
 * which bucket. Of alternatives each node is filled by the one that holds first there; what is left then takes whichever holds.
 */
export function naiveFirstFit(
  start: NaiveWorld,
  readable: readonly boolean[],
): readonly ReadonlyMap<string, number>[] {
  let world = start;
  return world.facts.jobs.map((job, i) => {
    const placed = new Map<string, number>();
    if (readable[i] !== true) return placed;
    let left = job.nodeCount > 0 ? job.nodeCount : job.iterations;
    const filled = new Set<string>();
    for (const mixes of hasAlternatives(job) && job.nodeCount === 0 ? [false, true] : [false]) {
      for (const { id } of naiveCandidates(world, job)) {
        if (left <= 0) break;
        const fork = copyOf(world);
        const got = fillBucket(fork, job, id, left, mixes, filled);
        if (got === 0 || (job.whole && got < left)) continue;
        world = fork;
        left -= got;
        placed.set(id, (placed.get(id) ?? 0) + got);
      }
    }
    return placed;
  });
}

const hasAlternatives = ({ members }: JobFacts): boolean =>
  someMember(members, (key, value) => (key === "or" || key === "xor") && Array.isArray(value));

function fillBucket(
  world: NaiveWorld,
  job: JobFacts,
  id: string,
  wanted: number,
  mixes: boolean,
  filled: Set<string>,
): number {
  let got = 0;
  const mostOnNode = job.nodeCount > 0 ? 1 : Infinity;
  for (const bucket of world.buckets.filter((one) => one.id === id)) {
    for (const node of bucket.nodes) {
      if (world.asleep.has(node.name) && !canMake(world, bucket)) continue;
      const slots = fillNode(world, job, node, Math.min(mostOnNode, wanted - got), mixes, filled);
      if (slots > 0 && world.asleep.delete(node.name)) world.created.push({ bucket: id, count: 1 });
      got += slots;
    }
    while (got < wanted && bucket.of !== undefined && canMake(world, bucket)) {
      // Whether the bucket lacked capacity was judged with the bucket; of a node there is no such thing.
      const node = { ...copyNode(bucket.example, `new ${id} ${bucket.nodes.length}`), failure: -1 };
      const slots = fillNode(world, job, node, Math.min(mostOnNode, wanted - got), mixes, filled);
      if (slots === 0) break;
      bucket.nodes.push(node);
      world.created.push({ bucket: id, count: 1 });
      got += slots;
    }
  }
  return got;
}

/**
 * Of several alternatives the first that holds when the job comes is the one that its slots on this node take, unless it `mixes` them. Of
 * slots that take nothing a node has one; `filled`: nodes that have it.
 */
function fillNode(
  world: NaiveWorld,
  job: JobFacts,
  node: NaiveNode,
  most: number,
  mixes: boolean,
  filled: Set<string>,
): number {
  let slots = 0;
  let first: string | undefined;
  while (slots < most) {
    const take = judgeSlot(job.members, node, world.pools, job.name);
    if (take === undefined || !isOpen(node, job.name, take)) break;
    first ??= JSON.stringify(take.amounts);
    if (!mixes && first !== JSON.stringify(take.amounts)) break;
    if (take.amounts.every(([, amount]) => amount <= 0)) {
      if (filled.has(node.name)) break;
      filled.add(node.name);
    }
    putSlot(take, node, world.pools, job.name);
    slots += 1;
  }
  return slots;
}

function canMake(world: NaiveWorld, bucket: NaiveBucket): boolean {
  const { facts, vmSizes, created } = world;
  return exceededLimits(facts, vmSizes, [...created, { bucket: bucket.id, count: 1 }]).length === 0;
}

function copyNode(node: NaiveNode, name = node.name): NaiveNode {
  return { ...node, name, resources: new Map(node.resources), jobs: new Set(node.jobs) };
}

function copyOf(world: NaiveWorld): NaiveWorld {
  const { left, values, once } = world.pools;
  return {
    ...world,
    buckets: world.buckets.map((bucket) => ({
      ...bucket,
      nodes: bucket.nodes.map((node) => copyNode(node)),
    })),
    pools: { left: new Map(left), values, once: new Set(once) },
    created: [...world.created],
    asleep: new Set(world.asleep),
  };
}
