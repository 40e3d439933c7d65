import type { PlacedSlots } from "../../domain/demand.ts";
import { NOT_PLACED } from "../../domain/shared-constraints.ts";
import { isActing } from "../../domain/shown.ts";
import {
  checkKeys,
  isFields,
  isTooLong,
  NO_ACTING,
  readCount,
  readEach,
  readHost,
  readTexts,
  type Fields,
} from "../json/fields.ts";
import { problemAt, problemShowing } from "../json/problem.ts";
import type { Problems } from "../json/problems.ts";
import { BOUNDS } from "../json/bounds.ts";

const PLACED_KEYS: ReadonlySet<string> = new Set(["hostname", "iterations"]);

/**
 * Hosts of a job's running slots: `placed` ([{hostname, iterations}], each host once), or `executing-hostnames`, where each mention of a
 * host is one slot. Sorted by host, because the order has no meaning and must not change the digest.
 */
export function readPlaced(job: Fields, problems: Problems): readonly PlacedSlots[] {
  const hostnames = readTexts(job, "executing-hostnames", problems);
  const acting = hostnames?.find(isActing);
  if (acting !== undefined)
    problems.add(() => problemShowing("executing-hostnames", acting, `names of hosts, ${NO_ACTING}`));
  const list = job["placed"];
  if (list === undefined) return hostnames === undefined ? NOT_PLACED : countMentions(hostnames);
  if (hostnames !== undefined) {
    problems.add(() => problemAt("placed", list, "either placed or executing-hostnames, not both"));
    return [];
  }
  if (!Array.isArray(list)) {
    problems.add(() => problemAt("placed", list, "a list of objects with hostname and iterations"));
    return [];
  }
  if (isTooLong("placed", list, BOUNDS.placed, "hosts", problems)) return [];
  const placed = readEach(list, "placed", problems, readSlots);
  if (new Set(placed.map((slots) => slots.hostname)).size < placed.length) {
    problems.add(() => problemAt("placed", list, "each host only once"));
  }
  return sortByHost(placed);
}

function readSlots(item: unknown, problems: Problems): PlacedSlots | undefined {
  if (!isFields(item)) {
    problems.add(() => problemAt("", item, "an object with hostname and iterations"));
    return undefined;
  }
  checkKeys(item, PLACED_KEYS, problems);
  const hostname = readHost(item, "hostname", problems);
  const iterations = readCount(item, "iterations", 1, problems);
  if (item["hostname"] === undefined) problems.add(() => problemAt("hostname", undefined, "text, not empty"));
  if (item["iterations"] === undefined)
    problems.add(() => problemAt("iterations", undefined, "a whole number, 1 or more"));
  return hostname === undefined || iterations === undefined ? undefined : { hostname, iterations };
}

function countMentions(hostnames: readonly string[]): readonly PlacedSlots[] {
  const counts = new Map<string, number>();
  for (const hostname of hostnames) counts.set(hostname, (counts.get(hostname) ?? 0) + 1);
  return sortByHost(Array.from(counts, ([hostname, iterations]) => ({ hostname, iterations })));
}

function sortByHost(placed: PlacedSlots[]): readonly PlacedSlots[] {
  return placed.sort((a, b) => (a.hostname < b.hostname ? -1 : a.hostname > b.hostname ? 1 : 0));
}
