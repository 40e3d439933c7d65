import type { Constraint } from "../../domain/constraint.ts";
import type { NodeView, SharedState } from "../../domain/node-view.ts";
import { compile } from "../constraints/match.ts";

/** What a bucket's weight becomes under a constraint: the heavier bucket is tried first. */
export type Weigher = (view: NodeView, shared: SharedState, weight: number) => number;

/** So much more does one place further ahead in a list of choices weigh: more than the order of fewer than a hundred buckets. */
const STEP = 100;

/** The weights of scalelib.md 9: choices and alternatives put buckets in the order in which they are listed, the rest does not. */
export function compileWeight(constraint: Constraint): Weigher {
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

/** The score of a choice counts from its end: of n the first has n. */
function byScore(constraint: Constraint): Weigher {
  const judge = compile(constraint);
  return (view, shared, weight) => {
    const judgement = judge(view, shared);
    return judgement.kind === "met" ? weight + STEP * judgement.score : 0;
  };
}
