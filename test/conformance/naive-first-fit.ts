import type { JobFacts } from "./allocator-case.ts";
import { fieldsOf, listOf, someMember } from "./allocator-case.ts";
import type { Json } from "./compare.ts";
import { bytesOfText } from "./compare.ts";
import type { NaiveNode } from "./naive-judge.ts";
import { isOpen, judgeKey, judgeSlot, putSlot } from "./naive-judge.ts";
import { exceededLimits } from "./naive-limits.ts";
import type { NaiveBucket, NaiveWorld } from "./naive-world.ts";

/** What differs between the nodes of a bucket. */
export const OF_ONE_NODE =
  /^node\.(?:name|hostname|fqdn|hostname_or_uuid|private_ip|instance_id|state|exists|keep_alive|.*_time.*)$/;

/** Buckets that the job may use, preferred first (scalelib.md 10). */
export function naiveCandidates(world: NaiveWorld, job: JobFacts): readonly NaiveBucket[] {
  const count = world.buckets.length;
  // What only a node can answer does not refuse its bucket.
  const ofBucket = job.members
    .flatMap((member) => Object.entries(fieldsOf(member)).map(([key, value]) => ({ [key]: value })))
    .filter((member) => !someMember(member, (key) => OF_ONE_NODE.test(key)));
  const weighed = world.buckets.map((bucket, at) => ({
    bucket,
    weight: weightOf(world, job.members, bucket, count - at),
  }));
  const sorted = weighed
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ bucket }) => bucket)
    .filter(({ example }) => judgeSlot(ofBucket, example, world.pools, job.name) !== undefined);
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
 * Places the jobs that can be read, one slot at a time on the first node that takes it. Returns how many slots (or nodes) each job got of
 * which bucket. A job with alternatives makes two passes: first each node is filled by the alternative that holds first there, and then the
 * remaining slots take any alternative.
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
