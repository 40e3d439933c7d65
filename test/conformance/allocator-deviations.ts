import type { CaseFacts, JobFacts, NodeOutcome } from "./allocator-case.ts";
import { fieldsOf, listOf, sizeOfBucket, someMember } from "./allocator-case.ts";
import type { Difference, Json } from "./compare.ts";
import { bytesOfText, isObject, textOf } from "./compare.ts";
import { asksTwice, isGroupRefused, LIBRARY_NAMES, sizedResources } from "./deviations.ts";
import type { LibraryPlan } from "./library-plan.ts";
import { asks, hasNoMachine, readPlan } from "./library-plan.ts";
import type { NaiveNode } from "./naive-judge.ts";
import { judgeSlot } from "./naive-judge.ts";
import { exceededLimits, familyIn, sizeIn } from "./naive-limits.ts";
import { showsClusterCount, showsRightFigure, showsRightRest } from "./right-state.ts";
import type { Surroundings, VectorCase } from "./vector-case.ts";

/**
 * Where a plan differs from the library's on purpose. A predicate sees the input and what the library answered, and no name, tag or
 * description. The first job that differs must be explained by one of `ofJob`, which does not see our answer; all jobs behind it and the
 * state at the end are its consequences, as they stand on another cluster then. If no job differs, each difference in the state must be
 * explained by itself, by one of `ofState`, which sees what we show in its place: right-state.ts counts once more what is right there.
 */
export interface AllocatorDeviation {
  readonly defect: number;
  readonly ofJob?: (plan: LibraryPlan, at: number) => boolean;
  readonly ofState?: (plan: LibraryPlan, path: string, actual: unknown) => boolean;
}

/** What explains the differences of a case; undefined: nothing does. */
export function explainPlan(
  one: VectorCase,
  differences: readonly Difference[],
  surroundings: Surroundings,
  answer: Json,
): readonly number[] | undefined {
  const plan = readPlan(one, answer, surroundings);
  const jobs = differences
    .map(({ path }) => /^jobs\[(\d+)\]/.exec(path)?.[1])
    .filter((at) => at !== undefined);
  if (jobs.length > 0) {
    const first = Math.min(...jobs.map(Number));
    const found = DEVIATIONS.find(({ ofJob }) => ofJob?.(plan, first) === true);
    return found === undefined ? undefined : [found.defect];
  }
  const defects = differences.map(
    ({ path, actual }) => DEVIATIONS.find(({ ofState }) => ofState?.(plan, path, actual) === true)?.defect,
  );
  const known = defects.filter((defect) => defect !== undefined);
  return known.length < defects.length ? undefined : known;
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
  {
    defect: 3,
    ofJob: countsBytes,
    ofState: (plan, path, actual) =>
      countsBytes(plan, plan.facts.jobs.length) && showsRightRest(plan, path, actual),
  },
  { defect: 29, ofJob: lacksArrayResource },
  { defect: 30, ofJob: countsOwnCores },
  { defect: 30, ofJob: (plan, at) => mistakesGpus(plan, at, "node") },
  { defect: 53, ofJob: (plan, at) => mistakesGpus(plan, at, "bucket") },
  {
    defect: 34,
    ofJob: (plan, at) => plan.outcome.jobs[at]?.candidates.some((one) => mixesRegions(plan, one)) === true,
    ofState: (plan, path, actual) =>
      familiesOfTwoRegions(plan).size > 0 &&
      isLimit(path, ["family"]) &&
      showsRightFigure(plan, path, actual),
  },
  {
    defect: 10,
    ofJob: exceedsSharedAvailability,
    ofState: (plan, path, actual) => hasSiblings(plan) && showsRightFigure(plan, path, actual),
  },
  {
    defect: 32,
    ofJob: exceedsClusterCount,
    ofState: showsClusterCount,
  },
  {
    defect: 33,
    ofJob: hasUnknownSize,
    ofState: (plan, path, actual) =>
      hasUnknownSize(plan) && isLimit(path, ["cluster", "nodearray"]) && showsRightFigure(plan, path, actual),
  },
  { defect: 9, ofJob: passesOpenNode },
  { defect: 15, ofJob: meetsLeftover, ofState: showsLeftover },
  { defect: 16, ofJob: seesReservation, ofState: keepsReservation },
  {
    defect: 0,
    ofJob: countsNoMachines,
    ofState: (plan, path, actual) =>
      plan.facts.nodes.some(hasNoMachine) &&
      isLimit(path, ["cluster"]) &&
      showsRightFigure(plan, path, actual),
  },
  { defect: 4, ofJob: ({ facts }, at) => asks(facts.jobs[at], isGroupRefused) },
  {
    defect: 7,
    ofJob: ({ facts, input }, at) => asksRedefined(input, facts.jobs.slice(0, at + 1)),
    ofState: (plan, path, actual) =>
      asksRedefined(plan.input, plan.facts.jobs) && showsRightRest(plan, path, actual),
  },
  {
    defect: 12,
    ofJob: meetsTakenInNot,
    ofState: (plan, path, actual) => plan.facts.jobs.some(takesInNot) && showsRightRest(plan, path, actual),
  },
  { defect: 0, ofJob: backsOffInside },
];

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

/** The node has several slots of a job whose exclusiveness stands with its amounts in an "and" inside an "and": only the first slot took them. */
function skipsExclusiveTask({ facts, outcome }: LibraryPlan, path: string): boolean {
  const row = outcome.nodes[Number(/^nodes\[(\d+)\]\[4\]/.exec(path)?.[1] ?? -1)];
  if (row === undefined) return false;
  const isAlone = ([key, value]: [string, Json]): boolean =>
    key.startsWith("exclusive") && value !== false && value !== 0;
  return facts.jobs.some(
    (job, i) =>
      outcome.jobs[i]?.nodes.some(({ name, slots }) => name === row.name && slots > 1) === true &&
      asks(
        job,
        (key, value) =>
          key === "and" &&
          listOf(value).some((member) => {
            const entries = Object.entries(fieldsOf(member));
            return entries.length > 1 && entries.some(isAlone);
          }),
      ),
  );
}

/** One of the jobs asks for one of the library's ten resources, which the configuration redefines. */
function asksRedefined(input: VectorCase["input"], jobs: readonly JobFacts[]): boolean {
  const config = fieldsOf(input["config"]);
  if (config["disable_default_resources"] === true) return false;
  const names = listOf(config["default_resources"]).map((entry) => textOf(fieldsOf(entry)["name"]));
  const redefined = new Set(names.filter((name) => LIBRARY_NAMES.has(name)));
  return jobs.some((job) => asks(job, (key) => redefined.has(key)));
}

/**
 * Several amounts together must not hold: the library takes of them what is there. (Of a single one it takes nothing, or stops with an
 * exception.)
 */
function takesInNot(job: JobFacts): boolean {
  return asks(job, (key, value) => {
    if (key !== "not") return false;
    const members = Object.entries(fieldsOf(value));
    return members.length > 1 ? members.some(isAmount) : someMember(fieldsOf(value)["and"], holdsAmount);
  });
}

const isAmount = ([, value]: [string, Json]): boolean =>
  typeof value === "number" || bytesOfText(value) !== undefined;
const holdsAmount = (key: string, value: Json): boolean => isAmount([key, value]);

/** The job takes in a "not", or one before it has where this one may be. */
function meetsTakenInNot({ facts, outcome }: LibraryPlan, at: number): boolean {
  const candidates = (outcome.jobs[at]?.candidates ?? []).map(bucketOfNodes);
  return facts.jobs.slice(0, at + 1).some((job, i) => {
    if (!takesInNot(job)) return false;
    const on = outcome.jobs[i]?.nodes.map(({ name }) => name) ?? [];
    return (
      i === at || outcome.nodes.some(({ name, bucket }) => on.includes(name) && candidates.includes(bucket))
    );
  });
}

/** The job says inside another constraint, or beside one in its object, for how long a bucket is left alone that has failed since. */
function backsOffInside({ facts }: LibraryPlan, at: number): boolean {
  const inside = (facts.jobs[at]?.members ?? []).filter((member) => {
    const keys = Object.keys(fieldsOf(member));
    return keys.length > 1 || keys[0] !== BACKOFF;
  });
  return someMember(
    inside,
    (key, value) =>
      key === BACKOFF && facts.buckets.some(({ failure }) => failure >= 0 && failure < Number(value)),
  );
}

const BACKOFF = "capacity-failure-backoff";

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

/** Up to this job more nodes were made (or started) of one size of an array, in several groups, than the status says are available. */
function exceedsSharedAvailability(plan: LibraryPlan, at: number): boolean {
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
function exceedsClusterCount(plan: LibraryPlan, at: number): boolean {
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
function countsNoMachines(plan: LibraryPlan, at: number): boolean {
  const { facts, outcome } = plan;
  const used = coresCounted(plan, at);
  if (!facts.nodes.some(hasNoMachine)) return false;
  return (
    outcome.jobs[at]?.candidates.some((bucket) => used + coresOf(facts, bucket) > facts.maxCores) === true
  );
}

/** An existing node is of a size that the catalogue does not know. */
function hasUnknownSize({ facts, vmSizes }: LibraryPlan): boolean {
  return facts.nodes.some(({ array, size }) => {
    const bucket = facts.buckets.find(({ id }) => id === `${array}/${size}`);
    return bucket !== undefined && sizeIn(vmSizes, bucket.region, size) === undefined;
  });
}

/** A size of an array has several buckets: in groups, or in groups and in none. */
function hasSiblings({ outcome }: LibraryPlan): boolean {
  const sizes = outcome.buckets.map(({ bucket }) => sizeOfBucket(bucket));
  return new Set(sizes).size < sizes.length;
}

/** The figure is one of these limits of a bucket, or what all of them leave. */
function isLimit(path: string, names: readonly string[]): boolean {
  const figure = /^buckets\[\d+\]\.(.+)$/.exec(path)?.[1];
  return names.some((name) => figure === `limits.${name}`) || figure === "available";
}

/** Families that have buckets on demand in two regions. */
function familiesOfTwoRegions({ facts, vmSizes }: LibraryPlan): ReadonlySet<string> {
  const regions = new Map<string, Set<string>>();
  for (const bucket of facts.buckets) {
    if (!bucket.valid || bucket.spot) continue;
    const family = familyIn(vmSizes, bucket);
    regions.set(family, (regions.get(family) ?? new Set()).add(bucket.region));
  }
  return new Set([...regions].filter(([, { size }]) => size > 1).map(([family]) => family));
}

/** The bucket is of a family that has buckets in two regions. */
function mixesRegions(plan: LibraryPlan, bucket: string | undefined): boolean {
  const of = plan.facts.buckets.find(({ id }) => id === sizeOfBucket(bucket ?? ""));
  return of !== undefined && !of.spot && familiesOfTwoRegions(plan).has(familyIn(plan.vmSizes, of));
}

/**
 * A bucket that the job may use, and that comes before the last one it is on (any, if it misses slots), has a node with room for a slot
 * of it. The job is not on that node, and another job is, or, if a number of nodes is asked for, another job is on a node of that bucket;
 * or it is there by one alternative, and another one has room.
 */
function passesOpenNode(plan: LibraryPlan, at: number): boolean {
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
const bucketOfNodes = (candidate: string): string => candidate.replace("__unmanaged__", "unknown");

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
function meetsLeftover(plan: LibraryPlan, at: number): boolean {
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
function showsLeftover(plan: LibraryPlan, path: string): boolean {
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
function keepsReservation(plan: LibraryPlan, path: string): boolean {
  return path.startsWith("buckets[") && plan.outcome.buckets.some(({ bucket }) => isReserved(plan, bucket));
}

function seesReservation(plan: LibraryPlan, at: number): boolean {
  return plan.outcome.jobs[at]?.candidates.some((bucket) => isReserved(plan, bucket)) === true;
}
