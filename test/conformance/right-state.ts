import type { LibraryPlan } from "./library-plan.ts";
import { bytesOfText, isClose } from "./compare.ts";
import type { NaiveNode } from "./naive-judge.ts";
import type { NaiveFigures } from "./naive-figures.ts";
import { naiveFigures } from "./naive-figures.ts";

/**
 * What is right at the end of a plan, counted without the product: where the library shows something else because of a defect, ours must
 * be that. Both are of cases in which no job differs, so that the library's slots are ours.
 */

/** Ours is the figure that the status and the plan leave to the bucket. */
export function showsRightFigure(plan: LibraryPlan, path: string, actual: unknown): boolean {
  const [, at = "", figure = ""] = FIGURE.exec(path) ?? [];
  const right = figuresAt(plan, at);
  return Object.entries(right ?? {}).some(([name, value]) => name === figure && value === actual);
}

const FIGURE = /^buckets\[(\d+)\]\.(?:limits\.)?(\w+)$/;

function figuresAt({ facts, vmSizes, outcome, ours }: LibraryPlan, at: string): NaiveFigures | undefined {
  const bucket = at === "" ? undefined : outcome.buckets[Number(at)]?.bucket;
  return bucket === undefined ? undefined : naiveFigures(facts, vmSizes, ours.created, bucket);
}

/** Ours is what is available, and the cluster's limit of nodes leaves no more. */
export function showsClusterCount(plan: LibraryPlan, path: string, actual: unknown): boolean {
  const [, at = "", figure = ""] = FIGURE.exec(path) ?? [];
  const right = figuresAt(plan, at);
  if (right === undefined || figure !== "available") return false;
  return actual === right.available && right.available === Math.max(0, right.clusterNodes);
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
