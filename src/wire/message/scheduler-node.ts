import type { SchedulerNode } from "../../domain/demand.ts";
import type { Resources, ResourceValue } from "../../domain/resources.ts";
import { isActing } from "../../domain/shown.ts";
import { looksLikeSize, parseSize } from "../../domain/size.ts";
import { compareText } from "../../domain/text.ts";
import { COUNTED } from "../constraint/constraint-doubt.ts";
import { checkKeys, isTooLong, NO_ACTING, readEach, readHost, readText, readTexts } from "../json/fields.ts";
import { problemAt, problemShowing } from "../json/problem.ts";
import type { Problems } from "../json/problems.ts";
import { BOUNDS } from "../json/bounds.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

export const HOST_KEYS: ReadonlySet<string> = new Set([
  "hostname",
  "resources",
  "available",
  "jobs",
  "jobIds",
  "state",
  "keep",
]);

/** Maximum number of resources of a host, and maximum length of a resource's name and text. */
const MOST_RESOURCES = 100;
const LONGEST_TEXT = 200;

/**
 * Reads a scheduler's report of its hosts. `jobs` (or `jobIds`) lists the jobs that run there. Absent or empty means none. `resources` are
 * the host's total resources, `available` the free ones. A host that is named twice is a problem, because the two entries could differ.
 */
export function readSchedulerNodes(value: unknown, problems: Problems): readonly SchedulerNode[] {
  if (!Array.isArray(value)) {
    problems.add(() => problemAt("schedulerNodes", value, "a list of objects with hostname and jobs"));
    return [];
  }
  if (isTooLong("schedulerNodes", value, BOUNDS.hosts, "hosts", problems)) return [];
  const nodes = readEach(value, "schedulerNodes", problems, readSchedulerNode);
  checkRepeatedHosts(value, problems);
  return nodes;
}

function readSchedulerNode(item: unknown, problems: Problems): SchedulerNode | undefined {
  if (!isFields(item)) {
    problems.add(() => problemAt("", item, "an object with hostname and jobs"));
    return undefined;
  }
  checkKeys(item, HOST_KEYS, problems);
  const hostname = readHost(item, "hostname", problems);
  if (item["hostname"] === undefined) problems.add(() => problemAt("hostname", undefined, "text, not empty"));
  const jobs = readTexts(item, "jobs", problems);
  const jobIds = readTexts(item, "jobIds", problems);
  if (jobs !== undefined && jobIds !== undefined) {
    problems.add(() => problemAt("jobIds", item["jobIds"], "either jobs or jobIds, not both"));
  }
  const state = readText(item, "state", problems);
  const keep = readText(item, "keep", problems);
  if (keep !== undefined && keep.length > LONGEST_TEXT)
    problems.add(() => problemAt("keep", keep, `a text of at most ${LONGEST_TEXT} characters`));
  const resources = readResources(item, "resources", problems);
  const available = readResources(item, "available", problems);
  if (hostname === undefined) return undefined;
  // Keys in alphabetical order: see digestOf. Most reports have none of these two.
  const known = { hostname, jobs: jobs ?? jobIds ?? [], ...withoutAbsent({ keep }) };
  if (resources === undefined && available === undefined)
    return state === undefined ? known : { ...known, state };
  return {
    ...withoutAbsent({ available }),
    ...known,
    ...withoutAbsent({ resources, state }),
  };
}

/** Values by name, in the order of the names. Undefined if there are none. */
function readResources(item: Fields, key: string, problems: Problems): Resources | undefined {
  const values = item[key];
  if (values === undefined) return undefined;
  if (!isFields(values)) {
    problems.add(() => problemAt(key, values, "an object: resource name -> amount"));
    return undefined;
  }
  const names = Object.keys(values).sort(compareText);
  if (names.length > MOST_RESOURCES) {
    problems.add(() => problemAt(key, values, `at most ${MOST_RESOURCES} resources`));
    return undefined;
  }
  const resources = names.flatMap((name) => {
    const value = readValue(name, values[name], `${key}.${name}`, problems);
    return value === undefined ? [] : [[name, value] as const];
  });
  return resources.length === 0 ? undefined : Object.fromEntries(resources);
}

/** One value of a resource (scalelib.md 4). Undefined if it was reported. */
function readValue(
  name: string,
  value: unknown,
  path: string,
  problems: Problems,
): ResourceValue | undefined {
  if (name === "" || name.length > LONGEST_TEXT || isActing(name)) {
    const expected = `the name of a resource: 1 to ${LONGEST_TEXT} characters, ${NO_ACTING}`;
    problems.add(() => problemShowing(path, name, expected));
    return undefined;
  }
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "number" && Math.abs(value) <= BOUNDS.amount) return value;
  if (typeof value !== "string") {
    problems.add(() => problemAt(path, value, "a number, text, true, false or null"));
    return undefined;
  }
  if (value.length > LONGEST_TEXT) {
    problems.add(() => problemAt(path, value, `a text of at most ${LONGEST_TEXT} characters`));
    return undefined;
  }
  const size = parseSize(value);
  if (!looksLikeSize(value)) {
    if (!COUNTED.has(name)) return value;
    // A text could not be counted, so no job would ever fit there.
    const meant = name.startsWith("mem") && typeof size !== "string" ? `memory::${value.trim()}` : undefined;
    problems.add(() =>
      problemShowing(path, value, "an amount: a number, or a size such as memory::4g", meant),
    );
    return undefined;
  }
  if (typeof size !== "string") return size;
  problems.add(() =>
    problemShowing(
      path,
      value,
      "a size such as memory::4g: b, k, m, g, t, p, or upper case for powers of 1000",
    ),
  );
  return undefined;
}

function checkRepeatedHosts(items: readonly unknown[], problems: Problems): void {
  const seen = new Set<unknown>();
  items.forEach((item, index) => {
    const hostname = isFields(item) ? item["hostname"] : undefined;
    if (typeof hostname !== "string" || seen.size !== seen.add(hostname).size) return;
    problems.add(() => problemShowing(`schedulerNodes[${index}].hostname`, hostname, "each host only once"));
  });
}
