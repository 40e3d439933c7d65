import type { JobFacts, NodeOutcome } from "./allocator-case.ts";
import { fieldsOf, listOf } from "./allocator-case.ts";
import type { Json } from "./compare.ts";
import { isObject, textOf } from "./compare.ts";
import type { LibraryPlan } from "./library-plan.ts";
import { asks } from "./library-plan.ts";
import type { NaiveNode } from "./naive-judge.ts";
import { judgeSlot } from "./naive-judge.ts";
import { exceededLimits } from "./naive-limits.ts";

/*
 * Cases in which scalelib and we differ in pools, leftovers and reservations.
 */

/**
 * A bucket that the job may use, and that comes before the last one it is on (any, if it misses slots), has a node with room for a slot
 * of it. The job is not on that node, and another job is, or, if a number of nodes is asked for, another job is on a node of that bucket;
 * or it is there by one alternative, and another one has room.
 */
export function passesOpenNode(plan: LibraryPlan, at: number): boolean {
  const { facts, outcome } = plan;
  const [job, result] = [facts.jobs[at], outcome.jobs[at]];
  if (job === undefined || result === undefined) return false;
  const before = plan.nodesBefore(at);
  const inBucket = new Map(outcome.nodes.map(({ name, bucket }) => [name, bucket]));
  const buckets = result.candidates.map(bucketOfNodes);
  const usedOf = new Set(result.nodes.map(({ name }) => inBucket.get(name) ?? ""));
  const lastUsed = buckets.findLastIndex((bucket) => usedOf.has(bucket));
  const passed = result.allocated < result.requested ? buckets : buckets.slice(0, lastUsed);
  const pools = {
    left: new Map(poolNames(plan)),
    values: new Map(poolValues(plan)),
    once: new Set<string>(),
  };
  const isOn = (node: NaiveNode): boolean => result.nodes.some(({ name }) => name === node.name);
  const hasRoom = (node: NaiveNode): boolean =>
    passed.includes(inBucket.get(node.name) ?? "") &&
    node.owner === undefined &&
    judgeSlot(job.members, node, pools, job.name) !== undefined;
  const usedIn = new Set(
    [...before.values()].filter(({ jobs }) => jobs.size > 0).map(({ bucket }) => bucket),
  );
  const isPassed = [...before.values()].some((node) => {
    const row = outcome.nodes.find(({ name }) => name === node.name);
    const isUsed = node.jobs.size > 0 || (row !== undefined && isLeftover(plan, row, at));
    // A number of nodes is asked of as many as are not used yet, and used ones come first among them by name.
    const isCounted = job.nodeCount > 0 && usedIn.has(row?.bucket ?? "");
    return (isUsed || isCounted) && !isOn(node) && hasRoom(node);
  });
  if (isPassed || !asks(job, (key, value) => (key === "or" || key === "xor") && Array.isArray(value)))
    return isPassed;
  return [...plan.nodesBefore(at + 1).values()].some((node) => isOn(node) && hasRoom(node));
}

/** Hosts that only the scheduler knows have one name as buckets and another as the place of nodes. */
export const bucketOfNodes = (candidate: string): string => candidate.replace("__unmanaged__", "unknown");

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

/** A job that failed is still on a node of a bucket that this job may use, and this job is not on that node; or it has drained a pool. */
export function meetsLeftover(plan: LibraryPlan, at: number): boolean {
  const { facts, outcome } = plan;
  if ([...poolsAsked(facts.jobs[at])].some((pool) => isDrained(plan, pool, at))) return true;
  const used = outcome.jobs[at]?.nodes.map(({ name }) => name) ?? [];
  const candidates = outcome.jobs[at]?.candidates.map(bucketOfNodes) ?? [];
  return outcome.nodes.some(
    (node) => !used.includes(node.name) && candidates.includes(node.bucket) && isLeftover(plan, node, at),
  );
}

/** A whole job before `at` that takes of the pool failed in a bucket at least: what it took there is not given back. */
function isDrained({ facts, outcome }: LibraryPlan, pool: string, at: number): boolean {
  return facts.jobs.slice(0, at).some((job, i) => {
    const { allocated = 0, candidates = [], buckets = [] } = outcome.jobs[i] ?? {};
    const failed = allocated === 0 ? candidates.length > 0 : candidates[0] !== buckets[0];
    return job.whole && failed && poolsAsked(job).has(pool);
  });
}

function poolsAsked(job: JobFacts | undefined): ReadonlySet<string> {
  const shared = job?.members.map((member) => fieldsOf(fieldsOf(member)["$shared"])) ?? [];
  return new Set(shared.flatMap(({ ids }) => listOf(ids).map(textOf)));
}

/** The difference is in a node on which a failed job was left, or in lists of nodes, and there is such a node. */
export function showsLeftover(plan: LibraryPlan, path: string): boolean {
  const row = plan.outcome.nodes[Number(/^nodes\[(\d+)\]/.exec(path)?.[1] ?? -1)];
  const all = plan.facts.jobs.length;
  if (row !== undefined) return isLeftover(plan, row, all);
  const pool = /^shared_resources\.(.+)$/.exec(path)?.[1];
  if (pool !== undefined) return isDrained(plan, pool, all);
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

/** A reservation that is left is charged to the other limits too, by what is made there next. */
export function keepsReservation(plan: LibraryPlan, path: string): boolean {
  return path.startsWith("buckets[") && plan.outcome.buckets.some(({ bucket }) => isReserved(plan, bucket));
}

export function seesReservation(plan: LibraryPlan, at: number): boolean {
  return plan.outcome.jobs[at]?.candidates.some((bucket) => isReserved(plan, bucket)) === true;
}
