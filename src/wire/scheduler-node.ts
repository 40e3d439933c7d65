import type { Problem, SchedulerNode } from "../domain/demand.ts";
import { checkKeys, isFields, readEach, readText, readTexts, type Fields } from "./fields.ts";
import { problemAt } from "./problem.ts";

export const HOST_KEYS: ReadonlySet<string> = new Set([
  "hostname",
  "resources",
  "available",
  "jobs",
  "jobIds",
  "state",
]);

/**
 * Reads a scheduler's report of its hosts. `jobs` (or `jobIds`) lists what runs there; absent or empty: nothing does. `resources` and
 * `available` are part of the contract and checked; placement starts to use them with the issue that brings the full language. A host
 * that is named twice is a problem: the two could say different things about its jobs.
 */
export function readSchedulerNodes(value: unknown, problems: Problem[]): readonly SchedulerNode[] {
  if (!Array.isArray(value)) {
    problems.push(problemAt("schedulerNodes", value, "a list of objects with hostname and jobs"));
    return [];
  }
  const nodes = readEach(value, "schedulerNodes", problems, readSchedulerNode);
  checkRepeatedHosts(value, problems);
  return nodes;
}

function readSchedulerNode(item: unknown, problems: Problem[]): SchedulerNode | undefined {
  if (!isFields(item)) {
    problems.push(problemAt("", item, "an object with hostname and jobs"));
    return undefined;
  }
  checkKeys(item, HOST_KEYS, problems);
  const hostname = readText(item, "hostname", problems);
  if (item["hostname"] === undefined) problems.push(problemAt("hostname", undefined, "text, not empty"));
  const jobs = readTexts(item, "jobs", problems);
  const jobIds = readTexts(item, "jobIds", problems);
  if (jobs !== undefined && jobIds !== undefined) {
    problems.push(problemAt("jobIds", item["jobIds"], "either jobs or jobIds, not both"));
  }
  const state = readText(item, "state", problems);
  checkResources(item, "resources", problems);
  checkResources(item, "available", problems);
  if (hostname === undefined) return undefined;
  // Keys in alphabetical order: see digestOf.
  const known = { hostname, jobs: jobs ?? jobIds ?? [] };
  return state === undefined ? known : { ...known, state };
}

/** Resource values are numbers, texts, booleans or null (scalelib-behaviour.md 4). */
function checkResources(item: Fields, key: string, problems: Problem[]): void {
  const resources = item[key];
  if (resources === undefined) return;
  if (!isFields(resources)) {
    problems.push(problemAt(key, resources, "an object: resource name -> amount"));
    return;
  }
  for (const name of Object.keys(resources)) {
    const value = resources[name];
    if (typeof value === "object" && value !== null) {
      problems.push(problemAt(`${key}.${name}`, value, "a number, text, true, false or null"));
    }
  }
}

function checkRepeatedHosts(items: readonly unknown[], problems: Problem[]): void {
  const seen = new Set<unknown>();
  items.forEach((item, index) => {
    const hostname = isFields(item) ? item["hostname"] : undefined;
    if (typeof hostname !== "string" || seen.size !== seen.add(hostname).size) return;
    problems.push(problemAt(`schedulerNodes[${index}].hostname`, hostname, "each host only once"));
  });
}
