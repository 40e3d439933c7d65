import type { JobDemand, PlacedSlots } from "../../domain/demand.ts";
import {
  AT_MOST,
  readCount,
  readOneOf,
  checkKeys,
  isTooLong,
  NO_ACTING,
  readEach,
  readHost,
  readTexts,
} from "../json/fields.ts";
import { problemAt, problemShowing } from "../json/problem.ts";
import type { Problems } from "../json/problems.ts";
import { BOUNDS } from "../json/bounds.ts";
import { NOT_PLACED } from "../../domain/shared-constraints.ts";
import { isActing } from "../../domain/shown.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

/** The amount that a job asks for, and the part that already runs. */
type JobAmount = Pick<JobDemand, "iterations" | "nodeCount" | "partial" | "placed">;

/** The keys of a job that give its amount, as written. */
interface Written {
  readonly iterations: number | undefined;
  readonly remaining: number | undefined;
  /** 0: slots that may be placed anywhere. */
  readonly nodeCount: number;
  readonly strategy: "pack" | "scatter" | undefined;
  readonly placed: readonly PlacedSlots[];
}

/**
 * Reads the amount that a job asks for. The same keys have two meanings (docs/demand.md, Jobs of scalelib): `iterations` multiply with
 * `node-count` in our messages, and are ignored beside it in a job as scalelib writes it. node-count: absent and 0 both mean slots.
 */
export function readJobAmount(job: Fields, problems: Problems): JobAmount {
  const iterations = readCount(job, "iterations", 1, problems);
  const remaining = readCount(job, "iterations-remaining", 0, problems);
  const nodeCount = readCount(job, "node-count", 0, problems) ?? 0;
  const strategy = readOneOf(job, "packing-strategy", ["pack", "scatter"], problems);
  if (strategy === "scatter" && nodeCount === 0) {
    problems.add(() =>
      problemShowing("packing-strategy", strategy, "scatter only with a node-count of 1 or more"),
    );
  }
  const placed = readPlaced(job, problems);
  const written = { iterations, remaining, nodeCount, strategy, placed };
  const amount = isOfScalelib(job, written) ? amountOfScalelib(written) : ownAmount(written);
  checkPlaced(job, amount, problems);
  const slots = amount.iterations * (amount.nodeCount ?? 1);
  if (slots > BOUNDS.count)
    problems.add(() => problemAt("node-count", nodeCount, `${AT_MOST} slots on all nodes together`));
  return amount;
}

/** Keys that only scalelib writes, and a strategy that is its default for slots but has a meaning beside a node-count. */
function isOfScalelib(job: Fields, { nodeCount, strategy }: Written): boolean {
  return (
    job["iterations-remaining"] !== undefined ||
    job["metadata"] !== undefined ||
    (strategy === "pack" && nodeCount > 0)
  );
}

function ownAmount({ iterations = 1, nodeCount, placed }: Written): JobAmount {
  return nodeCount === 0 ? { iterations, placed } : { iterations, nodeCount, placed };
}

/**
 * scalelib.md 12: with a node-count one slot on each of that many nodes, else the remaining iterations. Running slots are added, because
 * our jobs give their whole need. Together they are at most the iterations, which drivers do not reduce.
 */
function amountOfScalelib({ iterations, remaining, nodeCount, strategy, placed }: Written): JobAmount {
  const running = countSlots(placed);
  if (nodeCount === 0) {
    if (remaining === undefined) return { iterations: iterations ?? 1, placed };
    const most = Math.max(iterations ?? remaining + running, remaining);
    return { iterations: Math.max(running, Math.min(remaining + running, most)), placed };
  }
  // It has everything that it needs, however many of its slots share a host. One node is one slot.
  if (running >= nodeCount) return { iterations: running, placed };
  if (nodeCount === 1) return { iterations: 1, placed };
  const onEach = placed.map(({ hostname }) => ({ hostname, iterations: 1 }));
  return { iterations: 1, nodeCount, ...(strategy === "pack" ? { partial: true } : {}), placed: onEach };
}

function checkPlaced(
  job: Fields,
  { iterations, nodeCount = 1, placed }: JobAmount,
  problems: Problems,
): void {
  const [slots, running] = [iterations * nodeCount, countSlots(placed)];
  if (running <= slots) return;
  const key = job["placed"] === undefined ? "executing-hostnames" : "placed";
  problems.add(() =>
    problemAt(
      key,
      job[key],
      `at most ${slots} slots in all, not ${running}: iterations counts running ones too`,
    ),
  );
}

function countSlots(placed: readonly PlacedSlots[]): number {
  return placed.reduce((sum, { iterations }) => sum + iterations, 0);
}

const PLACED_KEYS: ReadonlySet<string> = new Set(["hostname", "iterations"]);

/**
 * Hosts of a job's running slots: `placed` ([{hostname, iterations}], each host once), or `executing-hostnames`, where each mention of a
 * host is one slot. Sorted by host, because the order has no meaning and must not change the digest.
 */
function readPlaced(job: Fields, problems: Problems): readonly PlacedSlots[] {
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
