import type { Constraint, SharedConsumable } from "../../domain/constraint.ts";
import type { Matcher, Judgement, Met, Refused, Shared } from "./judge.ts";
import {
  PLAIN_MET,
  refused,
  compileChoice,
  judgeAmount,
  judgeBackoff,
  judgeExclusive,
  judgeGroup,
  judgePool,
  judgePoolValue,
  sum,
  takeFrom,
  unsure,
} from "./judge.ts";
import { compileProperty } from "./not-yet.ts";
import type { Size } from "../../domain/size.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { NodeView } from "../../domain/node-view.ts";
import { sharedPoolName } from "./shared-pools.ts";

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
      return ({ available, totals = available }) => {
        const found = totals[resource];
        return found === undefined ? refused({ code: "undefined-resource", resource }) : choose(found);
      };
    }
    case "property-choice":
      return compileProperty(constraint.property, constraint.choices);
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

/**
 * All members must hold at once. Amounts of one resource add up. (In scalelib the second is skipped or an error: defects 21 and 22.) The
 * first member that certainly fails is the reason. Of a member with alternatives (`isChoice`), the first alternative that holds counts. If there is no
 * room for it together with the other members, the first one that holds on what these leave.
 */
function compileAnd(members: readonly Matcher[], isChoice: readonly boolean[] = []): Matcher {
  const choices = members.filter((_, at) => isChoice[at] === true);
  return (node, shared, job) => {
    const met: Met[] = [];
    let failure: Refused | undefined;
    let space: number | undefined;
    for (const member of members) {
      const one = member(node, shared, job);
      space = lesserSpace(space, one.space);
      if (one.kind === "met") met.push(one);
      else if (failure === undefined || (failure.unsure === true && one.unsure !== true)) failure = one;
    }
    if (failure !== undefined) return asSure(failure.refusal, space, failure.unsure);
    if (met.every(isPlain)) return space === undefined ? PLAIN_MET : { ...PLAIN_MET, space };
    const joint = joinTakes(met, node, shared, space);
    return joint.kind === "met" || choices.length === 0
      ? joint
      : (joinOthers(
          met.filter((_, at) => isChoice[at] !== true),
          choices,
          node,
          shared,
          job,
        ) ?? joint);
  };
}

/** The members without alternatives, joined with alternatives that hold on what they leave. Undefined if there are none. */
function joinOthers(
  sure: readonly Met[],
  choices: readonly Matcher[],
  node: NodeView,
  shared: Shared,
  job: string | undefined,
): Met | undefined {
  const joint = new Joint(node, shared);
  const available = { ...node.available };
  const rest: NodeView = { ...node, available, totals: node.totals ?? node.available };
  // Nothing is copied: a cluster may have thousands of pools, of which a job uses few.
  const left: Shared = {
    values: shared.values,
    left: { get: (pool) => minus(shared.left.get(pool), joint.drains.get(pool)) },
  };
  const add = (one: Met): boolean => {
    if (joint.add(one) !== undefined) return false;
    for (const resource of one.takes.keys())
      available[resource] = takeFrom(node.available[resource], joint.takes.get(resource) ?? 0);
    return true;
  };
  if (!sure.every(add)) return undefined;
  for (const choice of choices) {
    const one = choice(rest, left, job);
    if (one.kind === "refused" || !add(one)) return undefined;
  }
  return joint.met;
}

const minus = (amount: number | undefined, taken = 0): number | undefined =>
  amount === undefined ? undefined : amount - taken;

/** Whether a member takes nothing. */
const isPlain = ({ takes, drains, closes }: Met): boolean =>
  takes.size === 0 && drains.size === 0 && closes === undefined;

function joinTakes(
  met: readonly Met[],
  node: NodeView,
  shared: Shared,
  least: number | undefined,
): Judgement {
  const joint = new Joint(node, shared, least);
  for (const one of met) {
    const refusal = joint.add(one);
    if (refusal !== undefined) return refusal;
  }
  return joint.met;
}

/** Adds up members that must hold at once. */
class Joint {
  readonly takes = new Map<string, number | Size>();
  readonly drains = new Map<string, number>();
  readonly #node: NodeView;
  readonly #shared: Shared;
  #space: number | undefined;
  #closes: Met["closes"];

  constructor(node: NodeView, shared: Shared, least?: number) {
    this.#node = node;
    this.#shared = shared;
    this.#space = least;
  }

  /** Adds a member. Returns the refusal if there is no room for it together with the others. */
  add(one: Met): Judgement | undefined {
    this.#space = lesserSpace(this.#space, one.space);
    if (one.closes !== undefined && this.#closes !== "job") this.#closes = one.closes;
    for (const [resource, take] of one.takes) {
      const before = this.takes.get(resource);
      const all = before === undefined ? take : sum(before, take);
      this.takes.set(resource, all);
      if (before === undefined) continue;
      const judged = judgeAmount(resource, all, this.#node.available[resource]);
      if (judged.kind === "refused") return judged;
      this.#space = lesserSpace(this.#space, judged.space);
    }
    for (const [pool, amount] of one.drains) {
      const total = (this.drains.get(pool) ?? 0) + amount;
      this.drains.set(pool, total);
      if (total === amount) continue;
      const judged = judgePool(pool, total, this.#shared.left.get(pool));
      if (judged.kind === "refused") return judged;
      this.#space = lesserSpace(this.#space, judged.space);
    }
    return undefined;
  }

  get met(): Met {
    return {
      kind: "met",
      score: 1,
      takes: this.takes,
      drains: this.drains,
      ...(this.#space === undefined ? {} : { space: this.#space }),
      ...(this.#closes === undefined ? {} : { closes: this.#closes }),
    };
  }
}

const asSure = (refusal: Refusal, space: number | undefined, isUnsure: boolean | undefined): Refused =>
  (isUnsure === true ? unsure : refused)(refusal, space);

function lesserSpace(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

/** One alternative must hold. The first one that does is charged. */
function compileOr(members: readonly Matcher[]): Matcher {
  return (node, shared, job) => {
    const refusals: Refusal[] = [];
    let isUnsure = false;
    for (const [at, member] of members.entries()) {
      const judgement = member(node, shared, job);
      if (judgement.kind === "met") return { ...judgement, score: members.length - at };
      refusals.push(judgement.refusal);
      isUnsure ||= judgement.unsure === true;
    }
    return asSure({ code: "no-alternative", refusals }, 0, isUnsure);
  };
}

/** Exactly one alternative must hold. */
function compileXor(members: readonly Matcher[]): Matcher {
  return (node, shared, job) => {
    const judgements = members.map((member) => member(node, shared, job));
    const met = judgements.filter((one) => one.kind === "met");
    const [only] = met;
    if (met.length > 1) return refused({ code: "several-alternatives", holding: met.length }, 0);
    const refusals = judgements.flatMap((one) => (one.kind === "refused" ? [one] : []));
    const open = refusals.find((one) => one.unsure === true);
    if (only !== undefined) return open ?? { ...only, score: 1 };
    const all = refusals.map(({ refusal }) => refusal);
    return asSure({ code: "no-alternative", refusals: all }, 0, open?.unsure);
  };
}

/** The member must not hold. It takes nothing. (In scalelib it does: defect 12.) */
function compileNot(member: Matcher): Matcher {
  return (node, shared, job) => {
    const judgement = member(node, shared, job);
    if (judgement.kind === "met") return refused({ code: "holds" });
    return judgement.unsure === true ? judgement : PLAIN_MET;
  };
}

/** All pools of a shared consumable have enough. */
function compileShared({ resource, pools, amount }: SharedConsumable): Matcher {
  return compileAnd(
    pools.map(({ source }): Matcher => {
      const pool = sharedPoolName(resource, source);
      return (_, { left }) => judgePool(pool, amount, left.get(pool));
    }),
  );
}
