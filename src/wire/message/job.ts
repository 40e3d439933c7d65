import type { JobDemand, RejectedJob } from "../../domain/demand.ts";
import type { Sliced } from "../../domain/sliced.ts";
import { JobConstraints } from "./job-constraints.ts";
import {
  checkKeys,
  readBoolean,
  readNumber,
  readOneOf,
  readText,
  hasProtoKey,
  isDeeperThan,
  sortFields,
} from "../json/fields.ts";
import { readJobAmount } from "./job-amount.ts";
import { problemAt, problemShowing, shorten } from "../json/problem.ts";
import { Problems } from "../json/problems.ts";
import { BOUNDS } from "../json/bounds.ts";
import { oversizeOf } from "../json/check-size.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

/** Prefix of the ids of targets. A job's id is its name and must not begin with it. */
export const TARGET_ID_PREFIX = "nodearray:";

/** Long enough to find a rejected job by its name. */
const LONGEST_REJECTED_NAME = 200;

/** The keys of a job. `walltime` is part of the contract (docs/demand.md) and is checked, but has no effect yet. */
export const JOB_KEYS: ReadonlySet<string> = new Set([
  "name",
  "user",
  "priority",
  "iterations",
  "node-count",
  "constraints",
  "colocated",
  "packing-strategy",
  "executing-hostnames",
  "placed",
  "span",
  "spot",
  "walltime",
  "exclusive",
  "iterations-remaining",
  "metadata",
]);

/** About a millisecond: others that go on meanwhile wait this long for each of their steps. */
const JOBS_AT_ONCE = 100;

/** Levels above a job: the message and the list. */
const LEVELS_ABOVE = 2;

interface JobsRead {
  readonly jobs: readonly JobDemand[];
  /** The first jobs that could not be read. */
  readonly rejected: readonly RejectedJob[];
  /** The number of further ones. */
  readonly moreRejected: number;
}

/**
 * Translates the jobs of a message. A job that cannot be read is rejected by itself, under its name or "#index"; the others count.
 * `position` is the rank of the first one in its message. `hasOversizeJob`: one of them is too large or too deep to be read. The second job
 * with the same name is rejected, because renewals could not distinguish the two.
 */
export function* readJobsInSlices(
  items: readonly unknown[],
  position: number,
  { hasOversizeJob = false }: { readonly hasOversizeJob?: boolean } = {},
): Sliced<JobsRead> {
  const jobs: JobDemand[] = [];
  const rejected: RejectedJob[] = [];
  const names = new Set<string>();
  const constraints = new JobConstraints();
  let moreRejected = 0;
  for (const [index, item] of items.entries()) {
    if (index % JOBS_AT_ONCE === JOBS_AT_ONCE - 1) yield;
    const isFull = rejected.length >= BOUNDS.rejectedJobs;
    const found = new Problems(isFull ? 0 : BOUNDS.problems);
    const problems = found.below(() => `jobs[${index}]`);
    const oversize = hasOversizeJob ? oversizeOf(item, LEVELS_ABOVE) : undefined;
    if (oversize !== undefined) problems.add(() => oversize.problem);
    const job = oversize === undefined ? readJob(item, position + index, constraints, problems) : undefined;
    if (job !== undefined && names.has(job.name)) {
      problems.add(() => problemShowing("name", job.name, "a name that no other job of the message has"));
    }
    if (job !== undefined && problems.count === 0) {
      names.add(job.name);
      jobs.push(job);
    } else if (isFull) moreRejected += 1;
    else rejected.push({ name: nameOf(item) ?? `#${index}`, problems: found.all() });
  }
  return { jobs, rejected, moreRejected };
}

function nameOf(item: unknown): string | undefined {
  const name = isFields(item) ? item["name"] : undefined;
  return typeof name === "string" && name !== "" ? shorten(name, LONGEST_REJECTED_NAME) : undefined;
}

function readJob(
  item: unknown,
  position: number,
  constraintsOf: JobConstraints,
  problems: Problems,
): JobDemand | undefined {
  if (!isFields(item)) {
    problems.add(() => problemAt("", item, "an object: a job with its name"));
    return undefined;
  }
  checkKeys(item, JOB_KEYS, problems);
  const span = readBoolean(item, "span", problems) ?? false;
  const spot = readOneOf(item, "spot", ["never", "allow", "only"], problems);
  checkWalltime(item, problems);
  const name = readJobName(item, problems);
  const user = readText(item, "user", problems);
  const priority = readPriority(item, problems);
  const { iterations, nodeCount, partial, placed } = readJobAmount(item, problems);
  const colocated = readBoolean(item, "colocated", problems) ?? false;
  const exclusive = readBoolean(item, "exclusive", problems) ?? false;
  const constraints = constraintsOf.read(item["constraints"], problems, { exclusive });
  const metadata = readMetadata(item, problems);
  if (name === undefined || problems.count > 0) return undefined;
  // Keys in alphabetical order: see digestOf.
  return {
    colocated,
    constraints,
    id: name,
    iterations,
    kind: "job",
    ...withoutAbsent({ metadata }),
    name,
    ...withoutAbsent({ nodeCount }),
    ...(partial === undefined || colocated ? {} : { partial }),
    placed,
    position,
    priority,
    ...(span ? { span } : {}),
    ...withoutAbsent({ spot, user }),
  };
}

function readPriority(job: Fields, problems: Problems): number {
  const priority = readNumber(job, "priority", problems) ?? 0;
  if (Math.abs(priority) <= BOUNDS.priority) return priority;
  problems.add(() =>
    problemAt("priority", priority, `a number from -${BOUNDS.priority} to ${BOUNDS.priority}`),
  );
  return 0;
}

function readJobName(job: Fields, problems: Problems): string | undefined {
  const name = readText(job, "name", problems);
  if (job["name"] === undefined) problems.add(() => problemAt("name", undefined, "text, not empty"));
  if (name?.startsWith(TARGET_ID_PREFIX) === true) {
    problems.add(() => problemShowing("name", name, `a name that does not begin with "${TARGET_ID_PREFIX}"`));
  }
  return name;
}

function checkWalltime(job: Fields, problems: Problems): void {
  const walltime = readNumber(job, "walltime", problems);
  if (walltime !== undefined && walltime <= 0)
    problems.add(() => problemAt("walltime", walltime, "a number of seconds above 0"));
}

const LONGEST = 4096;
const DEEPEST = 8;

/**
 * Notes of a scheduler's driver about a job (scalelib's Job.metadata), for users to read; no decision depends on them. At most 4096
 * characters of JSON and 8 levels, because there may be 100,000 jobs. An empty object counts as absent.
 */
function readMetadata(job: Fields, problems: Problems): Fields | undefined {
  const value = job["metadata"];
  if (value === undefined) return undefined;
  const flaw = flawOf(value);
  if (flaw !== undefined) problems.add(() => problemAt("metadata", value, flaw));
  if (flaw !== undefined || !isFields(value) || Object.keys(value).length === 0) return undefined;
  return sortFields(value);
}

function flawOf(value: unknown): string | undefined {
  const expected = `an object of at most ${LONGEST} characters of JSON`;
  if (!isFields(value)) return expected;
  if (hasProtoKey(value)) return "a value without the key __proto__";
  if (isDeeperThan(value, DEEPEST)) return `at most ${DEEPEST} levels of nesting`;
  return JSON.stringify(value).length > LONGEST ? expected : undefined;
}
