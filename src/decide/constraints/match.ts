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

/** Compiles constraints that must all hold at once, as those of a job. */
export function compileAll(constraints: readonly Constraint[]): Matcher {
  return compile({ kind: "and", of: constraints });
}

/** Compiled constraints. Judgements that share constraints compile each only once. */
export type Compiled = Map<Constraint, Matcher>;

/** One of several constraints that must hold at once. */
export interface Member {
  readonly judge: Matcher;
  /** Whether it has alternatives. */
  readonly isChoice: boolean;
}

/** The constraints as members, without an "and" inside an "and". */
export function membersOf(constraints: readonly Constraint[], compiled?: Compiled): readonly Member[] {
  return withoutNesting(constraints).map((one) => ({
    judge: compile(one, compiled),
    isChoice: one.kind === "or",
  }));
}

/** Joins compiled members that must all hold at once. */
export function joinMembers(members: readonly Member[]): Matcher {
  return compileAnd(
    members.map(({ judge }) => judge),
    members.map(({ isChoice }) => isChoice),
  );
}

/** Compiles a constraint, so that it can be judged many times. */
export function compile(constraint: Constraint, compiled?: Compiled): Matcher {
  if (compiled === undefined) return compileNow(constraint, undefined);
  let matcher = compiled.get(constraint);
  if (matcher === undefined) {
    matcher = compileNow(constraint, compiled);
    compiled.set(constraint, matcher);
  }
  return matcher;
}

function compileNow(constraint: Constraint, compiled: Compiled | undefined): Matcher {
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
