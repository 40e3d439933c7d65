import type { Constraint } from "../../domain/constraint.ts";
import type { Matcher } from "./judgement.ts";
import { PLAIN_MET, refused } from "./judgement.ts";
import {
  compileChoice,
  judgeAmount,
  judgeBackoff,
  judgeExclusive,
  judgeGroup,
  judgePool,
  judgePoolValue,
} from "./judge.ts";
import { compileAnd, compileNot, compileOr, compileShared, compileXor } from "./join.ts";

/** Everything that must hold at once, as a job's list of constraints does. */
export function compileAll(constraints: readonly Constraint[]): Matcher {
  return compile({ kind: "and", of: constraints });
}

/** Constraints that are ready already. Where many judgements share constraints, each is made ready once. */
export type Compiled = Map<Constraint, Matcher>;

/** One of several constraints that must hold at once. */
export interface Member {
  readonly judge: Matcher;
  /** It has alternatives. */
  readonly isChoice: boolean;
}

/** The same as the constraints say, without an "and" inside an "and". */
export function membersOf(constraints: readonly Constraint[], compiled?: Compiled): readonly Member[] {
  return withoutNesting(constraints).map((one) => ({
    judge: compile(one, compiled),
    isChoice: one.kind === "or",
  }));
}

/** All of them must hold at once. Costs little: all is ready. */
export function joinMembers(members: readonly Member[]): Matcher {
  return compileAnd(
    members.map(({ judge }) => judge),
    members.map(({ isChoice }) => isChoice),
  );
}

/** Makes a constraint ready to be judged many times: patterns are compiled once. */
export function compile(constraint: Constraint, compiled?: Compiled): Matcher {
  if (compiled === undefined) return compileAnew(constraint, undefined);
  let matcher = compiled.get(constraint);
  if (matcher === undefined) {
    matcher = compileAnew(constraint, compiled);
    compiled.set(constraint, matcher);
  }
  return matcher;
}

function compileAnew(constraint: Constraint, compiled: Compiled | undefined): Matcher {
  const inside = (one: Constraint): Matcher => compile(one, compiled);
  switch (constraint.kind) {
    case "amount":
      return ({ available }) =>
        judgeAmount(constraint.resource, constraint.amount, available[constraint.resource]);
    case "resource-choice": {
      const { resource } = constraint;
      const choose = compileChoice(resource, constraint.choices);
      return ({ available }) => {
        const found = available[resource];
        return found === undefined ? refused({ code: "undefined-resource", resource }) : choose(found);
      };
    }
    case "property-choice": {
      const choose = compileChoice(`node.${constraint.property}`, constraint.choices);
      return ({ properties }) => choose(properties[constraint.property]);
    }
    case "exclusive":
      return constraint.wanted ? judgeExclusive(constraint.scope) : () => PLAIN_MET;
    case "in-a-placement-group":
      return ({ properties }) => judgeGroup(constraint.wanted, properties.placement_group);
    case "and":
      return joinMembers(membersOf(constraint.of, compiled));
    case "or":
      return compileOr(constraint.of.map(inside));
    case "xor":
      return compileXor(constraint.of.map(inside));
    case "not":
      return compileNot(inside(constraint.of));
    case "never":
      return () => refused({ code: "never", message: constraint.message });
    case "pool":
      return (_, shared) => judgePool(constraint.pool, constraint.amount, shared.left.get(constraint.pool));
    case "pool-value":
      return (_, { values }) =>
        judgePoolValue(constraint.pool, constraint.value, values.get(constraint.pool));
    case "shared-consumable":
      return compileShared(constraint);
    case "capacity-failure-backoff":
      return ({ capacityFailureSeconds }) => judgeBackoff(constraint.seconds, capacityFailureSeconds);
  }
}

const withoutNesting = (constraints: readonly Constraint[]): readonly Constraint[] =>
  constraints.flatMap((one) => (one.kind === "and" ? withoutNesting(one.of) : [one]));
