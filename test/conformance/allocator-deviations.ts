import type { CaseFacts, JobFacts } from "./allocator-case.ts";
import { fieldsOf, listOf, someMember } from "./allocator-case.ts";
import type { Difference, Json } from "./compare.ts";
import { bytesOfText, textOf } from "./compare.ts";
import { asksTwice, isGroupRefused, LIBRARY_NAMES } from "./deviations.ts";
import { OF_ONE_NODE } from "./naive-first-fit.ts";
import type { LibraryPlan } from "./library-plan.ts";
import { asks, hasNoMachine, readPlan } from "./library-plan.ts";
import { showsClusterCount, showsRightFigure, showsRightRest } from "./right-state.ts";
import type { Surroundings, VectorCase } from "./vector-case.ts";
import {
  countsBytes,
  countsNoMachines,
  countsOwnCores,
  exceedsClusterCount,
  exceedsSharedAvailability,
  familiesOfTwoRegions,
  hasSiblings,
  hasUnknownSize,
  isLimit,
  lacksArrayResource,
  mistakesGpus,
  mixesRegions,
} from "./deviations-by-limit.ts";
import {
  bucketOfNodes,
  keepsReservation,
  meetsLeftover,
  passesOpenNode,
  seesReservation,
  showsLeftover,
} from "./deviations-by-pool.ts";

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
  { defect: 19, ofJob: packsWithoutAmount },
  {
    defect: 56,
    ofJob: (plan) => hasUnlistedNode(plan.facts),
    ofState: ({ facts }) => hasUnlistedNode(facts),
  },
  { defect: 0, ofJob: ({ facts }, at) => asks(facts.jobs[at], (key) => OF_ONE_NODE.test(key)) },
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

/** A job has several slots on a node, and there is a way to meet its constraints that takes nothing of a node. */
function packsWithoutAmount({ facts, outcome }: LibraryPlan, at: number): boolean {
  const members = facts.jobs[at]?.members ?? [];
  return members.every(mayTakeNothing) && outcome.jobs[at]?.nodes.some(({ slots }) => slots > 1) === true;
}

/** A member's keys are joined by "and"; an amount is a number above 0 or the text of a size. */
const mayTakeNothing = (member: Json): boolean =>
  Object.entries(fieldsOf(member)).every(([key, value]) => {
    if (key === "and") return listOf(value).every(mayTakeNothing);
    if (key === "or" || key === "xor") return listOf(value).some(mayTakeNothing);
    if (key.startsWith("node.") || key === "not" || key === "never") return true;
    if (key.startsWith("exclusive") || key === "capacity-failure-backoff") return true;
    return !(typeof value === "number" && value > 0) && bytesOfText(value) === undefined;
  });

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
