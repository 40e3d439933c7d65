import type { CaseFacts, JobFacts, NodeFacts, NodeOutcome, Outcome } from "./allocator-case.ts";
import { fieldsOf, listOf, readFacts, readOutcome, sizeOfBucket, someMember } from "./allocator-case.ts";
import type { Difference, Json } from "./compare.ts";
import { isObject, textOf } from "./compare.ts";
import { asksTwice, sizedResources } from "./deviations.ts";
import type { NaiveWorld } from "./naive-first-fit.ts";
import { readNaiveWorld } from "./naive-first-fit.ts";
import type { NaiveNode } from "./naive-judge.ts";
import { judgeSlot, putSlot } from "./naive-judge.ts";
import { exceededLimits, sizeIn } from "./naive-limits.ts";
import type { Surroundings, VectorCase } from "./vector-case.ts";

/**
 * Where a plan differs from the library's on purpose. A predicate sees the input and what the library answered, never our answer, and no
 * name, tag or description. The first job that differs must be explained by one of `ofJob`; all jobs behind it and the state at the end
 * are its consequences, as they stand on another cluster then. If no job differs, each difference in the state must be explained by
 * itself, by one of `ofState`.
 */
export interface AllocatorDeviation {
  readonly defect: number;
  readonly ofJob?: (plan: LibraryPlan, at: number) => boolean;
  readonly ofState?: (plan: LibraryPlan, path: string) => boolean;
}

/** The library's plan of a case, and what its predicates ask of it. */
interface LibraryPlan {
  readonly input: VectorCase["input"];
  readonly facts: CaseFacts;
  readonly outcome: Outcome;
  readonly vmSizes: Json;
  /** Nodes before each job, as the library's placements up to there leave them. */
  readonly nodesBefore: (at: number) => ReadonlyMap<string, NaiveNode>;
}

/** What explains the differences of a case; undefined: nothing does. */
export function explainPlan(
  one: VectorCase,
  differences: readonly Difference[],
  surroundings: Surroundings,
): readonly number[] | undefined {
  const plan = readPlan(one, surroundings);
  const jobs = differences
    .map(({ path }) => /^jobs\[(\d+)\]/.exec(path)?.[1])
    .filter((at) => at !== undefined);
  if (jobs.length > 0) {
    const first = Math.min(...jobs.map(Number));
    const found = DEVIATIONS.find(({ ofJob }) => ofJob?.(plan, first) === true);
    return found === undefined ? undefined : [found.defect];
  }
  const defects = differences.map(
    ({ path }) => DEVIATIONS.find(({ ofState }) => ofState?.(plan, path) === true)?.defect,
  );
  const known = defects.filter((defect) => defect !== undefined);
  return known.length < defects.length ? undefined : known;
}

function readPlan(one: VectorCase, surroundings: Surroundings): LibraryPlan {
  const facts = readFacts(one);
  const outcome = readOutcome(one.expected);
  const world = readNaiveWorld(one, facts, surroundings);
  return {
    input: one.input,
    facts,
    outcome,
    vmSizes: surroundings.vmSizes,
    nodesBefore: (at) => (world === undefined ? new Map() : reenact(world, facts, outcome, at)),
  };
}

/** Follows the library's placements of the first jobs; what it takes where our judge would not is not taken. */
function reenact(
  world: NaiveWorld,
  facts: CaseFacts,
  outcome: Outcome,
  jobs: number,
): ReadonlyMap<string, NaiveNode> {
  const fresh = (node: NaiveNode, name: string): NaiveNode => ({
    ...node,
    name,
    resources: new Map(node.resources),
    jobs: new Set(node.jobs),
  });
  const nodes = new Map<string, NaiveNode>();
  for (const bucket of world.buckets)
    for (const node of bucket.nodes) nodes.set(node.name, fresh(node, node.name));
  const pools = {
    left: new Map([...world.pools.left.keys()].map((pool) => [pool, Infinity])),
    values: world.pools.values,
    once: new Set<string>(),
  };
  outcome.jobs.slice(0, jobs).forEach(({ nodes: used }, i) => {
    const job = facts.jobs[i];
    for (const { name, slots } of job === undefined ? [] : used) {
      const bucket = outcome.nodes.find((node) => node.name === name)?.bucket;
      const example = world.buckets.find(({ id, of }) => id === bucket && of !== undefined)?.example;
      const node = nodes.get(name) ?? (example === undefined ? undefined : fresh(example, name));
      if (node === undefined || job === undefined) continue;
      nodes.set(name, node);
      const { jobs: others, owner } = node;
      for (let slot = 0; slot < slots; slot += 1) {
        const alone = { ...node, jobs: new Set<string>(), owner: undefined };
        const take = judgeSlot(job.members, alone, pools, job.name);
        if (take !== undefined) putSlot(take, node, pools, job.name);
      }
      others.add(job.name);
      node.owner ??= owner;
    }
  });
  return nodes;
}

const DEVIATIONS: readonly AllocatorDeviation[] = [
  { defect: 14, ofJob: usesFailedNode },
  { defect: 11, ofJob: packsExclusive },
  {
    defect: 56,
    ofJob: (plan) => hasUnlistedNode(plan.facts),
    ofState: ({ facts }) => hasUnlistedNode(facts),
  },
  { defect: 31, ofJob: ({ facts }, at) => asks(facts.jobs[at], (key) => key === "node.infiniband") },
  {
    defect: 22,
    ofJob: ({ facts }, at) => asksTwice([...(facts.jobs[at]?.members ?? [])]),
    ofState: skipsExclusiveTask,
  },
  { defect: 3, ofJob: countsBytes },
  { defect: 29, ofJob: lacksArrayResource },
  { defect: 30, ofJob: countsOwnCores },
  { defect: 30, ofJob: (plan, at) => mistakesGpus(plan, at, "node") },
  { defect: 53, ofJob: (plan, at) => mistakesGpus(plan, at, "bucket") },
  { defect: 10, ofJob: exceedsSharedAvailability, ofState: ownsAvailability },
  { defect: 32, ofJob: ({ facts, outcome }) => exceeds(facts, outcome, "nodes of the cluster") },
  {
    defect: 33,
    ofJob: hasUnknownSize,
    ofState: (plan, path) => hasUnknownSize(plan) && isLimit(path, ["cluster", "nodearray"]),
  },
  {
    defect: 34,
    ofJob: mixesRegions,
    ofState: (plan, path) => mixesRegions(plan) && isLimit(path, ["family"]),
  },
  { defect: 9, ofJob: passesOpenNode },
  { defect: 15, ofJob: minds, ofState: showsLeftover },
  { defect: 16, ofJob: seesReservation, ofState: keepsReservation },
  { defect: 0, ofState: ({ facts }, path) => isLimit(path, ["cluster"]) && facts.nodes.some(hasNoMachine) },
];

const asks = (job: JobFacts | undefined, test: (key: string, value: Json) => boolean): boolean =>
  someMember(job?.members, test);

/** The job is on a node whose Status is Failed. */
function usesFailedNode({ facts, outcome }: LibraryPlan, at: number): boolean {
  const failed = new Set(facts.nodes.filter(({ status }) => status === "Failed").map(({ name }) => name));
  return outcome.jobs[at]?.nodes.some(({ name }) => failed.has(name)) === true;
}

/** An exclusive job (not: exclusive-task) has several slots on a node. */
function packsExclusive({ facts, outcome }: LibraryPlan, at: number): boolean {
  const wanted = asks(facts.jobs[at], (key, value) => key === "exclusive" && value !== false && value !== 0);
  return wanted && outcome.jobs[at]?.nodes.some(({ slots }) => slots > 1) === true;
}

/** A node is in a placement group that neither the status nor the configuration names for its bucket. */
function hasUnlistedNode({ nodes, buckets, config }: CaseFacts): boolean {
  const named = Object.values(fieldsOf(config["nodearrays"]))
    .flatMap((array) => listOf(fieldsOf(array)["placement_groups"]))
    .map(textOf);
  return nodes.some(({ array, size, group }) => {
    const bucket = buckets.find(({ id }) => id === `${array}/${size}`);
    if (group === undefined || bucket === undefined || !bucket.valid) return false;
    return !bucket.groups.has(group) && bucket.pinned !== group && !named.includes(group);
  });
}

/** The node has an exclusive-task with several slots whose amounts stand behind the same "and": only the first slot took them. */
function skipsExclusiveTask({ facts, outcome }: LibraryPlan, path: string): boolean {
  const row = outcome.nodes[Number(/^nodes\[(\d+)\]\[4\]/.exec(path)?.[1] ?? -1)];
  if (row === undefined) return false;
  return facts.jobs.some(
    (job, i) =>
      outcome.jobs[i]?.nodes.some(({ name, slots }) => name === row.name && slots > 1) === true &&
      asks(job, (key, value) => key.startsWith("exclusive") && value !== false && value !== 0) &&
      job.members.some((member) => Object.keys(fieldsOf(member)).length > 1 || "and" in fieldsOf(member)),
  );
}

/** The job, or one before it, asks a plain number, not 0, of a resource that is a size. */
function countsBytes({ input, facts }: LibraryPlan, at: number): boolean {
  const sizes = sizedResources(input);
  return facts.jobs
    .slice(0, at + 1)
    .some((job) => asks(job, (key, value) => typeof value === "number" && value !== 0 && sizes.has(key)));
}

/** The job asks for a resource that its array's record has and that of an existing node of the array, which the job is not on, has not. */
function lacksArrayResource({ facts, outcome }: LibraryPlan, at: number): boolean {
  const used = outcome.jobs[at]?.nodes.map(({ name }) => name) ?? [];
  return facts.nodes.some((node) => {
    const ofArray = facts.arrays.find(({ name }) => name === node.array)?.resources ?? {};
    const missing = Object.keys(ofArray).filter((resource) => !(resource in node.resources));
    return !used.includes(node.name) && asks(facts.jobs[at], (key) => missing.includes(key));
  });
}

/** An existing node of a bucket that the job may use says another number of cores than its bucket does. */
function countsOwnCores({ facts, outcome }: LibraryPlan, at: number): boolean {
  const candidates = outcome.jobs[at]?.candidates ?? [];
  return facts.nodes.some(({ array, size, coreCount }) => {
    const bucket = facts.buckets.find(({ id }) => id === `${array}/${size}`);
    const seen = candidates.some((candidate) => sizeOfBucket(candidate) === bucket?.id);
    return seen && coreCount !== undefined && coreCount !== bucket?.cores;
  });
}

/** The job asks for GPUs, of which CycleCloud reports another number than the catalogue has, for the bucket of an existing node or any. */
function mistakesGpus({ facts, input, vmSizes }: LibraryPlan, at: number, of: "node" | "bucket"): boolean {
  const resources = listOf(fieldsOf(input["config"])["default_resources"])
    .filter(isObject)
    .filter(({ value }) => value === "node.gpu_count")
    .map(({ name }) => textOf(name));
  const names = new Set(["ngpus", "node.gpu_count", ...resources]);
  if (!asks(facts.jobs[at], (key) => names.has(key))) return false;
  return facts.buckets.some(({ id, region, size, gpus }) => {
    const known = Number(fieldsOf(sizeIn(vmSizes, region, size)?.["capabilities"])["GPUs"] ?? 0);
    const inUse = facts.nodes.some((node) => `${node.array}/${node.size}` === id);
    return gpus > 0 && known !== gpus && (of === "bucket" || inUse);
  });
}

/** Up to this job more new nodes were made of one size of an array, in several groups, than the status says are available. */
function exceedsSharedAvailability({ facts, outcome }: LibraryPlan, at: number): boolean {
  const made = new Map<string, { count: number; readonly groups: Set<string> }>();
  const buckets = new Map(outcome.nodes.map(({ name, bucket }) => [name, bucket]));
  for (const { nodes } of outcome.jobs.slice(0, at + 1)) {
    for (const { name } of nodes.filter(({ fresh }) => fresh)) {
      const bucket = buckets.get(name) ?? "";
      const entry = made.get(sizeOfBucket(bucket)) ?? { count: 0, groups: new Set() };
      entry.count += 1;
      entry.groups.add(bucket);
      made.set(sizeOfBucket(bucket), entry);
    }
  }
  return facts.buckets.some(({ id, available }) => {
    const { count, groups } = made.get(id) ?? { count: 0, groups: new Set() };
    return count > available && groups.size > 1;
  });
}

/** The figure is what one of several buckets of one size counts for itself alone, and nodes of that size are made, or groups were generated. */
function ownsAvailability({ outcome }: LibraryPlan, path: string): boolean {
  const [, at = "", figure = ""] = /^buckets\[(\d+)\]\.(available|limits\.bucket)$/.exec(path) ?? [];
  const bucket = outcome.buckets[Number(at)]?.bucket;
  if (figure === "" || bucket === undefined) return false;
  const isSibling = (other: string): boolean => sizeOfBucket(other) === sizeOfBucket(bucket);
  const siblings = outcome.buckets.filter((other) => isSibling(other.bucket));
  const elsewhere = outcome.created.some((made) => isSibling(made.bucket) && made.bucket !== bucket);
  return siblings.length > 1 && (elsewhere || figure === "limits.bucket");
}

/** The nodes that the library makes exceed a limit that it does not look at. */
function exceeds(facts: CaseFacts, outcome: Outcome, what: "nodes of the cluster"): boolean {
  const counted = facts.nodes.filter((node) => !hasNoMachine(node)).length;
  const made = outcome.created.reduce((sum, { count }) => sum + count, 0);
  return what === "nodes of the cluster" && counted + made > facts.maxCount;
}

/** An existing node is of a size that the catalogue does not know. */
function hasUnknownSize({ facts, vmSizes }: LibraryPlan): boolean {
  return facts.nodes.some(({ array, size }) => {
    const bucket = facts.buckets.find(({ id }) => id === `${array}/${size}`);
    return bucket !== undefined && sizeIn(vmSizes, bucket.region, size) === undefined;
  });
}

/** One family has buckets on demand in two regions. */
function mixesRegions({ facts, vmSizes }: LibraryPlan): boolean {
  const regions = new Map<string, Set<string>>();
  for (const { valid, spot, region, size } of facts.buckets) {
    if (!valid || spot) continue;
    const family = textOf(sizeIn(vmSizes, region, size)?.["family"] ?? size);
    regions.set(family, (regions.get(family) ?? new Set()).add(region));
  }
  return [...regions.values()].some(({ size }) => size > 1);
}

function isLimit(path: string, names: readonly string[]): boolean {
  const figure = /^buckets\[\d+\]\.(.+)$/.exec(path)?.[1];
  return names.some((name) => figure === `limits.${name}` || figure === "available");
}

/**
 * The job is not on any node of a bucket that it may use and that comes before those that it is on (or it misses slots), though a node
 * there, which a job is on already, has room for a slot of it.
 */
function passesOpenNode(plan: LibraryPlan, at: number): boolean {
  const { facts, outcome } = plan;
  const [job, result] = [facts.jobs[at], outcome.jobs[at]];
  if (job === undefined || result === undefined) return false;
  const before = plan.nodesBefore(at);
  const inBucket = new Map(outcome.nodes.map(({ name, bucket }) => [name, bucket]));
  const buckets = result.candidates.map((bucket) => bucket.replace("__unmanaged__", "unknown"));
  const usedOf = new Set(result.nodes.map(({ name }) => inBucket.get(name) ?? ""));
  const firstUsed = buckets.findIndex((bucket) => usedOf.has(bucket));
  const passed =
    result.allocated < result.requested || firstUsed < 0 ? buckets : buckets.slice(0, firstUsed + 1);
  const pools = {
    left: new Map(poolNames(plan)),
    values: new Map(poolValues(plan)),
    once: new Set<string>(),
  };
  return [...before.values()].some((node) => {
    const bucket = inBucket.get(node.name) ?? "";
    const row = outcome.nodes.find(({ name }) => name === node.name);
    if (node.jobs.size === 0 && (row === undefined || !isLeftover(plan, row, at))) return false;
    if (!passed.includes(bucket) || (usedOf.has(bucket) && bucket !== "unknown/unknown")) return false;
    if (result.nodes.some(({ name }) => name === node.name) || node.owner !== undefined) return false;
    return judgeSlot(job.members, node, pools, job.name) !== undefined;
  });
}

const poolsOf = ({ input }: LibraryPlan) => listOf(input["shared_resources"]).filter(isObject);
const poolNames = (plan: LibraryPlan): [string, number][] =>
  poolsOf(plan).map((pool) => [textOf(pool["id"]), Infinity]);
const poolValues = (plan: LibraryPlan): [string, Json][] =>
  poolsOf(plan).map((pool) => [textOf(pool["id"]), pool["current_value"] ?? null]);

/** A job of those before `at` that goes whole or not at all is listed on the node though it has no slots there: it failed there. */
function isLeftover({ facts, outcome }: LibraryPlan, node: NodeOutcome, at: number): boolean {
  return facts.jobs.slice(0, at).some((job, i) => {
    const isThere = outcome.jobs[i]?.nodes.some(({ name }) => name === node.name) === true;
    const isNamesake = facts.jobs.some((other) => other !== job && other.name === job.name);
    return job.whole && !isThere && !isNamesake && node.jobs.includes(job.name);
  });
}

/** A job that failed is still on a node of a bucket that this job may use, and this job is not on that node. */
function minds(plan: LibraryPlan, at: number): boolean {
  const { outcome } = plan;
  const used = outcome.jobs[at]?.nodes.map(({ name }) => name) ?? [];
  const candidates = outcome.jobs[at]?.candidates ?? [];
  return outcome.nodes.some(
    (node) => !used.includes(node.name) && candidates.includes(node.bucket) && isLeftover(plan, node, at),
  );
}

/** The difference is in a node on which a failed job was left, or in lists of nodes, and there is such a node. */
function showsLeftover(plan: LibraryPlan, path: string): boolean {
  const row = plan.outcome.nodes[Number(/^nodes\[(\d+)\]/.exec(path)?.[1] ?? -1)];
  const all = plan.facts.jobs.length;
  if (row !== undefined) return isLeftover(plan, row, all);
  return path.startsWith("demand.") && plan.outcome.nodes.some((node) => isLeftover(plan, node, all));
}

/** A bucket without groups shows less than its nodes and limits leave, and a number of nodes was asked of it that it could not give. */
function isReserved({ facts, outcome, vmSizes }: LibraryPlan, bucket: string): boolean {
  const shown = outcome.buckets.find((one) => one.bucket === bucket)?.available;
  if (shown === undefined) return false;
  const asked = facts.jobs.some(
    (job, i) =>
      job.nodeCount > 0 &&
      (outcome.jobs[i]?.allocated ?? 0) < job.nodeCount &&
      outcome.jobs[i]?.candidates.includes(bucket) === true,
  );
  const oneMore = [...outcome.created, { bucket, count: shown + 1 }];
  return asked && exceededLimits(facts, vmSizes, oneMore).length === 0;
}

function keepsReservation(plan: LibraryPlan, path: string): boolean {
  const bucket = plan.outcome.buckets[Number(/^buckets\[(\d+)\]/.exec(path)?.[1] ?? -1)];
  return bucket !== undefined && isReserved(plan, bucket.bucket);
}

function seesReservation(plan: LibraryPlan, at: number): boolean {
  return plan.outcome.jobs[at]?.candidates.some((bucket) => isReserved(plan, bucket)) === true;
}

/** Gone, off or deallocated: it has no machine. */
function hasNoMachine({ status, target }: NodeFacts): boolean {
  return status === target && target !== "Started";
}
