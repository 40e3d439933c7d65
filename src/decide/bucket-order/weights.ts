import type { Constraint } from "../../domain/constraint.ts";
import type { NodeView, SharedState } from "../../domain/node-view.ts";
import { compile } from "../constraints/match.ts";

/** Changes the weight of a bucket by a constraint. Heavier buckets are tried first. */
export type Weigher = (view: NodeView, shared: SharedState, weight: number) => number;

/** Weight of one place in a list of choices. It outweighs the order of up to a hundred buckets. */
const STEP = 100;

/** The weights of scalelib.md 9. Choices and alternatives prefer buckets in the order in which they are listed. Other constraints prefer none. */
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

/** Adds the score of a choice: the first of n choices has n, the last one 1. */
function byScore(constraint: Constraint): Weigher {
  const judge = compile(constraint);
  return (view, shared, weight) => {
    const judgement = judge(view, shared);
    return judgement.kind === "met" ? weight + STEP * judgement.score : 0;
  };
}
