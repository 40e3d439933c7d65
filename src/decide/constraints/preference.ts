import type { Constraint } from "../../domain/constraint.ts";
import type { NodeView, SharedState } from "../../domain/node-view.ts";
import type { Budget } from "./budget.ts";
import { sizeOfConstraints, takesSomething } from "./constraint-facts.ts";
import type { Compiled, Member } from "./match.ts";
import { compile, joinMembers, membersOf } from "./match.ts";

/** How good a choice a node is by the job's own lists and alternatives. Higher is better, 0 means no preference. */
export type Preference = (node: NodeView, shared: SharedState) => number;

/** Lists of values and alternatives (`or`) are in order of preference. `xor` and `not` are not (scalelib.md 9, weigh). */
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

/** Cost in steps of compiling a member, as a multiple of the cost of judging it. */
const STEPS_TO_COMPILE = 10;

/** Compiles the preference of a job, with its steps counted. Each list and each `or` is judged together with all other constraints. */
export function countedPreference(constraints: readonly Constraint[], budget: Budget): Preference {
  const steps = sizeOfConstraints(constraints) * (1 + constraints.filter(hasPreference).length);
  budget.spend(STEPS_TO_COMPILE * steps);
  const making: Making = { compiled: new Map(), steps: 0 };
  const preference = compilePreference(constraints, making, NO_REST);
  return (node, shared) => {
    making.steps = 0;
    const score = preference(node, shared);
    // Alternatives beside many others cost more than their size.
    budget.spend(Math.max(steps, making.steps));
    return score;
  };
}

/**
 * The constraints beside an alternative. Collected when it is judged, because n alternatives may have n constraints each
 * (docs/decisions.md, "Alternatives are judged beside the rest of the job when needed").
 */
type Rest = () => readonly Member[];

/** What the parts of the preference of one job share. */
interface Making {
  readonly compiled: Compiled;
  /** Steps of the current judgement. */
  steps: number;
}

/**
 * The sum of the scores of all lists and `or`s. Of n values or alternatives, the first scores n and the last 1. Scores inside an alternative
 * order the nodes for which that alternative holds, and never outweigh another alternative. An alternative counts only if a slot has room
 * for it together with everything else that it takes, including `rest`.
 */
function compilePreference(constraints: readonly Constraint[], making: Making, rest: Rest): Preference {
  const members = constraints.map((one) =>
    takesSomething(one) ? membersOf([one], making.compiled) : NO_MEMBERS,
  );
  const parts = constraints.flatMap((one, at) => {
    if (!hasPreference(one)) return [];
    const others: Rest = () => [...rest(), ...members.flatMap((own, i) => (i === at ? NO_MEMBERS : own))];
    return [compileOne(one, making, others)];
  });
  return (node, shared) => parts.reduce((sum, part) => sum + part(node, shared), 0);
}

const NO_MEMBERS: readonly Member[] = [];
const NO_REST: Rest = () => NO_MEMBERS;
const NO_PREFERENCE: Preference = () => 0;

function compileOne(constraint: Constraint, making: Making, rest: Rest): Preference {
  switch (constraint.kind) {
    case "and":
      return compilePreference(constraint.of, making, rest);
    case "or":
      return compileOr(constraint.of, making, rest);
    default: {
      const judge = compile(constraint, making.compiled);
      return (node, shared) => {
        const judgement = judge(node, shared);
        return judgement.kind === "met" ? judgement.score : 0;
      };
    }
  }
}

function compileOr(alternatives: readonly Constraint[], making: Making, rest: Rest): Preference {
  const choices = alternatives.map((one) => ({
    judge: compile(one, making.compiled),
    members: membersOf([one], making.compiled),
    within: hasPreference(one) ? compileOne(one, making, rest) : NO_PREFERENCE,
  }));
  return (node, shared) => {
    const beside = rest();
    const at = choices.findIndex(({ judge, members }) => {
      making.steps += beside.length + members.length;
      const all = beside.length === 0 ? judge : joinMembers([...beside, ...members]);
      return all(node, shared).kind === "met";
    });
    const chosen = choices[at];
    return chosen === undefined ? 0 : choices.length - at + belowOne(chosen.within(node, shared));
  };
}

/** Maps scores from 0 on to values below 1, in the same order. */
const belowOne = (score: number): number => score / (score + 1);
