import type { JobDemand, Problem, RejectedJob } from "../domain/demand.ts";
import { readJobConstraints } from "./job-constraints.ts";
import { checkKeys, isFields, readBoolean, readNumber, readOneOf, readText, type Fields } from "./fields.ts";
import { readJobAmount } from "./job-amount.ts";
import { readMetadata } from "./metadata.ts";
import { below, boundProblems, problemAt, shorten } from "./problem.ts";

/** Ids of targets begin so; a job's id is its name and must not. */
export const TARGET_ID_PREFIX = "nodearray:";

/** Enough of a rejected job's name to find it. */
const LONGEST_REJECTED_NAME = 200;

/** The keys of a job. `walltime` is part of the contract (design.md section 4) and checked, and changes nothing yet. */
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

export interface JobsRead {
  readonly jobs: readonly JobDemand[];
  readonly rejected: readonly RejectedJob[];
}

/**
 * Lowers the jobs of a message. One that cannot be read is rejected by itself, under its name or "#index"; the others stand. `position`
 * is the rank of the first one in its message. The second job of a name is rejected: renewals could not tell the two apart.
 */
export function readJobs(items: readonly unknown[], position: number): JobsRead {
  const jobs: JobDemand[] = [];
  const rejected: RejectedJob[] = [];
  const names = new Set<string>();
  items.forEach((item, index) => {
    const problems: Problem[] = [];
    const job = readJob(item, position + index, problems);
    if (job !== undefined && names.has(job.name)) {
      problems.push(problemAt("name", job.name, "a name that no other job of the message has"));
    }
    if (job !== undefined && problems.length === 0) {
      names.add(job.name);
      jobs.push(job);
    } else {
      const path = `jobs[${index}]`;
      rejected.push({
        name: nameOf(item) ?? `#${index}`,
        problems: boundProblems(problems.map((problem) => below(path, problem))),
      });
    }
  });
  return { jobs, rejected };
}

function nameOf(item: unknown): string | undefined {
  const name = isFields(item) ? item["name"] : undefined;
  return typeof name === "string" && name !== "" ? shorten(name, LONGEST_REJECTED_NAME) : undefined;
}

function readJob(item: unknown, position: number, problems: Problem[]): JobDemand | undefined {
  if (!isFields(item)) {
    problems.push(problemAt("", item, "an object: a job with its name"));
    return undefined;
  }
  checkKeys(item, JOB_KEYS, problems);
  const span = readBoolean(item, "span", problems) ?? false;
  const spot = readOneOf(item, "spot", ["never", "allow", "only"], problems);
  checkWalltime(item, problems);
  const name = readJobName(item, problems);
  const user = readText(item, "user", problems);
  const priority = readNumber(item, "priority", problems) ?? 0;
  const { iterations, nodeCount, partial, placed } = readJobAmount(item, problems);
  const colocated = readBoolean(item, "colocated", problems) ?? false;
  const exclusive = readBoolean(item, "exclusive", problems) ?? false;
  const constraints = readJobConstraints(item["constraints"], problems, exclusive);
  const metadata = readMetadata(item, problems);
  if (name === undefined || problems.length > 0) return undefined;
  // Keys in alphabetical order: see digestOf.
  return {
    colocated,
    constraints,
    id: name,
    iterations,
    kind: "job",
    ...(metadata === undefined ? {} : { metadata }),
    name,
    ...(nodeCount === undefined ? {} : { nodeCount }),
    ...(partial === undefined || colocated ? {} : { partial }),
    placed,
    position,
    priority,
    ...(span ? { span } : {}),
    ...(spot === undefined ? {} : { spot }),
    ...(user === undefined ? {} : { user }),
  };
}

function readJobName(job: Fields, problems: Problem[]): string | undefined {
  const name = readText(job, "name", problems);
  if (job["name"] === undefined) problems.push(problemAt("name", undefined, "text, not empty"));
  if (name?.startsWith(TARGET_ID_PREFIX) === true) {
    problems.push(problemAt("name", name, `a name that does not begin with "${TARGET_ID_PREFIX}"`));
  }
  return name;
}

function checkWalltime(job: Fields, problems: Problem[]): void {
  const walltime = readNumber(job, "walltime", problems);
  if (walltime !== undefined && walltime <= 0)
    problems.push(problemAt("walltime", walltime, "a number of seconds above 0"));
}
