import type { Constraint } from "../domain/constraint.ts";
import type { NodeView, SharedState } from "../domain/node-view.ts";
import type { Budget } from "./budget.ts";
import { sizeOfConstraints } from "./constraint-size.ts";
import type { Matcher } from "./match.ts";
import { compile, compileAll } from "./match.ts";
import { takesSomething } from "./requirements.ts";

/** How good a choice a node is by a job's own lists and alternatives: higher is better, 0 is no opinion. */
export type Preference = (node: NodeView, shared: SharedState) => number;

/** Lists of values and alternatives (`or`) are in order of preference. `xor` and `not` are not (scalelib-behaviour.md 9, weigh). */
export function hasPreference(constraint: Constraint): boolean {
  switch (constraint.kind) {
    case "property-choice":
    case "resource-choice":
      return constraint.choices.length > 1;
    case "or":
      return constraint.of.length > 1;
    case "and":
      return constraint.of.some(hasPreference);
    default:
      return false;
  }
}

/** To make a constraint ready costs about as much as so many looks at it. */
const STEPS_TO_COMPILE = 10;

/** The same, with its steps counted. Each list and each `or` is judged beside all the rest. */
export function countedPreference(constraints: readonly Constraint[], budget: Budget): Preference {
  const steps = sizeOfConstraints(constraints) * (1 + constraints.filter(hasPreference).length);
  budget.spend(STEPS_TO_COMPILE * steps);
  const preference = compilePreference(constraints);
  return (node, shared) => {
    budget.spend(steps);
    return preference(node, shared);
  };
}

/**
 * The sum of what each list and each `or` says: of n values or alternatives the first gives n, the last 1. What is said inside of an
 * alternative orders the nodes for which that alternative holds, and never outweighs another alternative. An alternative counts only where
 * a slot has room for it beside all else that it takes, `rest` included.
 */
function compilePreference(constraints: readonly Constraint[], rest: readonly Constraint[] = []): Preference {
  const parts = constraints.flatMap((one, at) => {
    if (!hasPreference(one)) return [];
    const others = constraints.filter((other, i) => i !== at && takesSomething(other));
    return [compileOne(one, [...rest, ...others])];
  });
  return (node, shared) => parts.reduce((sum, part) => sum + part(node, shared), 0);
}

function compileOne(constraint: Constraint, rest: readonly Constraint[]): Preference {
  switch (constraint.kind) {
    case "and":
      return compilePreference(constraint.of, rest);
    case "or":
      return compileOr(constraint.of, rest);
    default: {
      const judge = compile(constraint);
      return (node, shared) => {
        const judgement = judge(node, shared);
        return judgement.kind === "met" ? judgement.score : 0;
      };
    }
  }
}

function compileOr(members: readonly Constraint[], rest: readonly Constraint[]): Preference {
  const choices = members.map((member): { readonly judge: Matcher; readonly within: Preference } => ({
    judge: compileAll([...rest, member]),
    within: compilePreference([member], rest),
  }));
  return (node, shared) => {
    const at = choices.findIndex(({ judge }) => judge(node, shared).kind === "met");
    const chosen = choices[at];
    return chosen === undefined ? 0 : choices.length - at + belowOne(chosen.within(node, shared));
  };
}

/** Keeps the order of scores from 0 on. */
const belowOne = (score: number): number => score / (score + 1);
