import type { CaseFacts, NodeOutcome } from "./allocator-case.ts";
import { fieldsOf, listOf, sizeOfBucket } from "./allocator-case.ts";
import { isObject, textOf } from "./compare.ts";
import { sizedResources } from "./deviations.ts";
import type { LibraryPlan } from "./library-plan.ts";
import { asks, hasNoMachine } from "./library-plan.ts";
import { familyIn, sizeIn } from "./naive-limits.ts";

/*
 * Cases in which scalelib and we count cores, nodes or quotas differently.
 */

/** The job, or one before it, asks a plain number, not 0, of a resource that is a size. */
export function countsBytes({ input, facts }: LibraryPlan, at: number): boolean {
  const sizes = sizedResources(input);
  return facts.jobs
    .slice(0, at + 1)
    .some((job) => asks(job, (key, value) => typeof value === "number" && value !== 0 && sizes.has(key)));
}

/** The job asks for a resource that its array's record has and that of an existing node of the array, which the job is not on, has not. */
export function lacksArrayResource({ facts, outcome }: LibraryPlan, at: number): boolean {
  const used = outcome.jobs[at]?.nodes.map(({ name }) => name) ?? [];
  return facts.nodes.some((node) => {
    const ofArray = facts.arrays.find(({ name }) => name === node.array)?.resources ?? {};
    const missing = Object.keys(ofArray).filter((resource) => !(resource in node.resources));
    return !used.includes(node.name) && asks(facts.jobs[at], (key) => missing.includes(key));
  });
}

/** An existing node of a bucket that the job may use says another number of cores than its bucket does. */
export function countsOwnCores({ facts, outcome }: LibraryPlan, at: number): boolean {
  const candidates = outcome.jobs[at]?.candidates ?? [];
  return facts.nodes.some(({ array, size, coreCount }) => {
    const bucket = facts.buckets.find(({ id }) => id === `${array}/${size}`);
    const seen = candidates.some((candidate) => sizeOfBucket(candidate) === bucket?.id);
    return seen && coreCount !== undefined && coreCount !== bucket?.cores;
  });
}

/** The job asks for GPUs, of which CycleCloud reports another number than the catalogue has, for the bucket of an existing node or any. */
export function mistakesGpus(
  { facts, input, vmSizes }: LibraryPlan,
  at: number,
  of: "node" | "bucket",
): boolean {
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

/** Up to this job more nodes were made (or started) of one size of an array, in several groups, than the status says are available. */
export function exceedsSharedAvailability(plan: LibraryPlan, at: number): boolean {
  const made = madeUpTo(plan, at);
  return plan.facts.buckets.some(({ id, available }) => {
    const here = made.filter(({ bucket }) => sizeOfBucket(bucket) === id);
    return here.length > available && new Set(here.map(({ bucket }) => bucket)).size > 1;
  });
}

/** Nodes that the library makes or starts for the jobs up to this one. */
function madeUpTo({ facts, outcome }: LibraryPlan, at: number): readonly NodeOutcome[] {
  const started = new Set(facts.nodes.filter(hasNoMachine).map(({ name }) => name));
  const used = outcome.jobs.slice(0, at + 1).flatMap(({ nodes }) => nodes);
  const names = new Set(used.filter(({ fresh, name }) => fresh || started.has(name)).map(({ name }) => name));
  return outcome.nodes.filter(({ name }) => names.has(name));
}

/** The nodes that the library makes up to this job exceed the cluster's limit of nodes. */
export function exceedsClusterCount(plan: LibraryPlan, at: number): boolean {
  const counted = plan.facts.nodes.filter((node) => !hasNoMachine(node)).length;
  return counted + madeUpTo(plan, at).length > plan.facts.maxCount;
}

/** Cores that the library counts against the cluster up to a job: of all nodes, also of those without a machine, and of what it makes. */
function coresCounted(plan: LibraryPlan, at: number): number {
  const { facts } = plan;
  const there = facts.nodes.map(({ array, size }) => coresOf(facts, `${array}/${size}`));
  const made = madeUpTo(plan, at).map(({ bucket }) => coresOf(facts, bucket));
  return [...there, ...made].reduce((sum, cores) => sum + cores, 0);
}

const coresOf = ({ buckets }: CaseFacts, bucket: string): number =>
  buckets.find(({ id }) => id === sizeOfBucket(bucket))?.cores ?? 0;

/** Nodes without a machine fill the cluster's limit of cores up: one more node of a bucket that the job may use would exceed it. */
export function countsNoMachines(plan: LibraryPlan, at: number): boolean {
  const { facts, outcome } = plan;
  const used = coresCounted(plan, at);
  if (!facts.nodes.some(hasNoMachine)) return false;
  return (
    outcome.jobs[at]?.candidates.some((bucket) => used + coresOf(facts, bucket) > facts.maxCores) === true
  );
}

/** An existing node is of a size that the catalogue does not know. */
export function hasUnknownSize({ facts, vmSizes }: LibraryPlan): boolean {
  return facts.nodes.some(({ array, size }) => {
    const bucket = facts.buckets.find(({ id }) => id === `${array}/${size}`);
    return bucket !== undefined && sizeIn(vmSizes, bucket.region, size) === undefined;
  });
}

/** A size of an array has several buckets: in groups, or in groups and in none. */
export function hasSiblings({ outcome }: LibraryPlan): boolean {
  const sizes = outcome.buckets.map(({ bucket }) => sizeOfBucket(bucket));
  return new Set(sizes).size < sizes.length;
}

/** The figure is one of these limits of a bucket, or what all of them leave. */
export function isLimit(path: string, names: readonly string[]): boolean {
  const figure = /^buckets\[\d+\]\.(.+)$/.exec(path)?.[1];
  return names.some((name) => figure === `limits.${name}`) || figure === "available";
}

/** Families that have buckets on demand in two regions. */
export function familiesOfTwoRegions({ facts, vmSizes }: LibraryPlan): ReadonlySet<string> {
  const regions = new Map<string, Set<string>>();
  for (const bucket of facts.buckets) {
    if (!bucket.valid || bucket.spot) continue;
    const family = familyIn(vmSizes, bucket);
    regions.set(family, (regions.get(family) ?? new Set()).add(bucket.region));
  }
  return new Set([...regions].filter(([, { size }]) => size > 1).map(([family]) => family));
}

/** The bucket is of a family that has buckets in two regions. */
export function mixesRegions(plan: LibraryPlan, bucket: string | undefined): boolean {
  const of = plan.facts.buckets.find(({ id }) => id === sizeOfBucket(bucket ?? ""));
  return of !== undefined && !of.spot && familiesOfTwoRegions(plan).has(familyIn(plan.vmSizes, of));
}
