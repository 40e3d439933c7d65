import type { LibraryPlan } from "./library-plan.ts";
import { bytesOfText, isClose } from "./compare.ts";
import type { NaiveNode } from "./naive-judge.ts";
import { naiveFigures } from "./naive-figures.ts";

/**
 * What is right at the end of a plan, counted without the product: where the library shows something else because of a defect, ours must
 * be that. Both are of cases in which no job differs, so that the library's slots are ours.
 */

/** Ours is the figure that the status and the plan leave to the bucket. */
export function showsRightFigure(
  { facts, vmSizes, outcome, ours }: LibraryPlan,
  path: string,
  actual: unknown,
): boolean {
  const [, at = "", figure = ""] = /^buckets\[(\d+)\]\.(?:limits\.)?(\w+)$/.exec(path) ?? [];
  const bucket = outcome.buckets[Number(at)]?.bucket;
  if (at === "" || bucket === undefined) return false;
  const right = naiveFigures(facts, vmSizes, ours.created, bucket);
  return Object.entries(right ?? {}).some(([name, value]) => name === figure && value === actual);
}

/** Ours is what all jobs leave of a resource of a node; absent: they take nothing of it. */
export function showsRightRest(plan: LibraryPlan, path: string, actual: unknown): boolean {
  const [, at = "", resource = ""] = /^nodes\[(\d+)\]\[4\]\.(.+)$/.exec(path) ?? [];
  const name = plan.outcome.nodes[Number(at)]?.name;
  if (at === "" || name === undefined) return false;
  const amountOn = (node: NaiveNode | undefined): number | undefined => {
    const found = node?.resources.get(resource);
    return found?.kind === "amount" ? found.amount * (found.bytes ?? 1) : undefined;
  };
  const first = amountOn(plan.nodeAtFirst(name));
  const left = amountOn(plan.nodesBefore(plan.facts.jobs.length).get(name));
  if (first === undefined || left === undefined) return false;
  const shown = actual === undefined ? first : typeof actual === "number" ? actual : bytesOfText(actual);
  return shown !== undefined && isClose(first - left + shown, first);
}
