import type { Constraint } from "../../domain/constraint.ts";
import type { SetName } from "../../domain/ids.ts";
import type { SharedState, NodeView } from "../../domain/node-view.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { ListedBucket } from "./bucket-list.ts";
import { namesOneNode } from "../constraints/constraint-facts.ts";
import { compileAll, compile } from "../constraints/match.ts";

/** The buckets that a job may use, in the order in which it tries them, and the others, each with the constraint that failed. */
export interface Candidates {
  readonly buckets: readonly ListedBucket[];
  readonly refused: readonly { readonly bucket: ListedBucket; readonly refusal: Refusal }[];
}

/**
 * Chooses buckets as scalelib does (scalelib.md 10): in the order of the list, shifted by what the constraints prefer. Hosts that only a scheduler
 * reports come first. What only a node can answer, such as its name, does not refuse a bucket: its nodes are judged one by one, and so are
 * new ones.
 */
export function chooseBuckets(
  all: readonly ListedBucket[],
  constraints: readonly Constraint[],
  shared: SharedState,
): Candidates {
  const weighers = constraints.map(compileWeight);
  const judge = compileAll(constraints.filter((one) => !namesOneNode(one)));
  const weighed = all.map((bucket, at) => ({
    bucket,
    weight: weighers.reduce((sum, weigh) => weigh(bucket.view, shared, sum), all.length - at),
  }));
  const buckets: ListedBucket[] = [];
  const refused: { bucket: ListedBucket; refusal: Refusal }[] = [];
  for (const { bucket } of weighed.toSorted((a, b) => b.weight - a.weight)) {
    const judgement = judge(bucket.view, shared);
    if (judgement.kind === "met") buckets.push(bucket);
    else refused.push({ bucket, refusal: judgement.refusal });
  }
  const own = buckets.filter(({ offer }) => offer.onlyFor !== undefined);
  return { buckets: [...own, ...buckets.filter((bucket) => !own.includes(bucket))], refused };
}

/** The candidates for the jobs of a request set. Hosts that only a scheduler reports belong to certain sets. */
export function candidatesFor({ buckets, refused }: Candidates, set: SetName): Candidates {
  const isFor = ({ offer }: ListedBucket): boolean => offer.onlyFor?.includes(set) !== false;
  return { buckets: buckets.filter(isFor), refused: refused.filter(({ bucket }) => isFor(bucket)) };
}

/** Changes the weight of a bucket by a constraint. Heavier buckets are tried first. */
type Weigher = (view: NodeView, shared: SharedState, weight: number) => number;

/** Weight of one place in a list of choices. It outweighs the order of up to a hundred buckets. */
const STEP = 100;

/** The weights of scalelib.md 9. Choices and alternatives prefer buckets in the order in which they are listed. Other constraints prefer none. */
function compileWeight(constraint: Constraint): Weigher {
  switch (constraint.kind) {
    case "resource-choice":
    case "or":
      return byScore(constraint);
    case "property-choice": {
      const choice = byScore(constraint);
      return (view, shared, weight) => (weight === 0 ? 0 : choice(view, shared, weight));
    }
    case "capacity-failure-backoff": {
      const judge = compile(constraint);
      return (view, shared, weight) => (judge(view, shared).kind === "met" ? weight : 0);
    }
    case "and": {
      const members = constraint.of.map(compileWeight);
      return (view, shared, weight) => members.reduce((sum, member) => member(view, shared, sum), weight);
    }
    default:
      return (_, _shared, weight) => weight;
  }
}

/** Adds the score of a choice: the first of n choices has n, the last one 1. */
function byScore(constraint: Constraint): Weigher {
  const judge = compile(constraint);
  return (view, shared, weight) => {
    const judgement = judge(view, shared);
    return judgement.kind === "met" ? weight + STEP * judgement.score : 0;
  };
}
