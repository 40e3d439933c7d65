import type { Constraint, SharedConsumable } from "../../domain/constraint.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { ResourceValue, Scalar } from "../../domain/resources.ts";
import type { Size } from "../../domain/size.ts";
import { bytesOf, bytesPer, isSize, subtractSize } from "../../domain/size.ts";
import { TOLERANCE } from "../../domain/tolerance.ts";
import type { NodeView, SharedState } from "../../domain/node-view.ts";
import { sharedPoolName } from "./shared-pools.ts";
import type { Pattern } from "../../domain/shell-pattern.ts";
import { compilePattern } from "../../domain/shell-pattern.ts";

/**
 * What a constraint says of one node. `space`: how many slots it lets onto the node; absent: it has no opinion. It is told also where the
 * constraint fails, as a constraint that fails may still bound (scalelib.md 9).
 */
export type Judgement =
  | Met
  | { readonly kind: "refused"; readonly refusal: Refusal; readonly space?: number };

export interface Met {
  readonly kind: "met";
  /** How good a choice: of n values or alternatives the first gives n, the last 1. */
  readonly score: number;
  readonly space?: number;
  /** What one slot takes from the node, and from pools. */
  readonly takes: ReadonlyMap<string, number | Size>;
  readonly drains: ReadonlyMap<string, number>;
  /** Nobody but the job may be on the node from then on; absent: the node stays open. */
  readonly closes?: "job" | "task";
}

/** A compiled constraint. `job` is the name of the job that asks, where it matters who is on the node already. */
export type Matcher = (node: NodeView, shared: Shared, job?: string) => Judgement;

/** What jobs share, as far as one node is judged by it: one pool at a time is asked for. */
type Shared = Pick<SharedState, "values"> & { readonly left: Pick<SharedState["left"], "get"> };

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();
const PLAIN_MET: Met = { kind: "met", score: 1, takes: NOTHING, drains: NOTHING };

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

function refused(refusal: Refusal, space?: number): Judgement {
  return space === undefined ? { kind: "refused", refusal } : { kind: "refused", refusal, space };
}

/** An amount of a size is told in bytes, one of a number as it is. A plain number asked of a size counts in the size's unit (defect 3). */
function judgeAmount(resource: string, asked: number | Size, found: ResourceValue | undefined): Judgement {
  if (found === undefined) return refused({ code: "undefined-resource", resource }, 0);
  const offered = typeof found === "boolean" ? Number(found) : found;
  if (typeof offered !== "number" && !isSize(offered))
    return refused({ code: "not-an-amount", resource, found }, 0);
  const take = inTermsOf(asked, offered);
  const space = timesIn(offered, take);
  if (countable(offered) < countable(take) - Math.abs(countable(take)) * TOLERANCE)
    return refused({ code: "insufficient-resource", resource, asked: take, offered }, Math.max(0, space));
  return { kind: "met", score: 1, space, takes: new Map([[resource, take]]), drains: NOTHING };
}

/** The asked amount in the same terms as what is offered: both sizes, or both numbers (of bytes, if a size is asked of a number). */
function inTermsOf(asked: number | Size, offered: number | Size): number | Size {
  if (typeof asked === "number") return isSize(offered) ? { amount: asked, unit: offered.unit } : asked;
  return isSize(offered) ? asked : bytesOf(asked);
}

const countable = (value: number | Size): number => (isSize(value) ? bytesOf(value) : value);

/** How many times one fits into the other; nothing fits without end. */
function timesIn(offered: number | Size, take: number | Size): number {
  const one = countable(take);
  return one === 0 ? Number.POSITIVE_INFINITY : Math.floor(countable(offered) / one + TOLERANCE);
}

/** What is left of a value after a slot. */
export function takeFrom(found: ResourceValue | undefined, take: number | Size): ResourceValue {
  if (isSize(found))
    return isSize(take) ? subtractSize(found, take) : subtractSize(found, take * bytesPer(found.unit));
  return Number(found ?? 0) - countable(take);
}

function compileChoice(what: string, options: readonly Scalar[]): (found: ResourceValue) => Judgement {
  const patterns = options.map((option) => (typeof option === "string" ? compilePattern(option) : undefined));
  // Made once: a list may be judged on hundreds of kinds of nodes.
  const met = options.map((_, at): Met => ({ ...PLAIN_MET, score: options.length - at }));
  return (found) => {
    const at = options.findIndex((option, i) => isChosen(found, option, patterns[i]));
    return met[at] ?? refused({ code: "invalid-option", what, found, options });
  };
}

/** Texts by pattern, everything else by value, where true is 1 and a size is its bytes, as in Python. */
function isChosen(found: ResourceValue, option: Scalar, pattern: Pattern | undefined): boolean {
  if (typeof found === "string" && pattern !== undefined) return pattern.test(found);
  const value = isSize(found) ? bytesOf(found) : found;
  if (value === option) return true;
  return isCounted(value) && isCounted(option) && Number(value) === Number(option);
}

const isCounted = (one: Scalar): boolean => typeof one === "number" || typeof one === "boolean";

/** One slot of the job a node (defect 11: the library packs several); tasks of one job may share. */
function judgeExclusive(scope: "job" | "task"): Matcher {
  return ({ jobs }, _, job) => {
    const mayStay = scope === "task" && job !== undefined;
    const others = [...jobs].filter((name) => !(mayStay && name === job));
    if (others.length > 0) return refused({ code: "not-exclusive", jobs: others }, 0);
    return scope === "job" ? { ...PLAIN_MET, space: 1, closes: scope } : { ...PLAIN_MET, closes: scope };
  };
}

function judgeGroup(wanted: boolean, found: ResourceValue): Judgement {
  const group = typeof found === "string" ? found : undefined;
  if (wanted === (group !== undefined)) return PLAIN_MET;
  return group === undefined
    ? refused({ code: "not-in-a-placement-group" }, 0)
    : refused({ code: "in-a-placement-group", group }, 0);
}

function judgePool(pool: string, asked: number, left: number | undefined): Judgement {
  if (left === undefined) return refused({ code: "unknown-pool", pool }, 0);
  const space = timesIn(left, asked);
  if (space < 1) return refused({ code: "pool-short", pool, asked, left }, 0);
  return { ...PLAIN_MET, space, drains: new Map([[pool, asked]]) };
}

function judgePoolValue(pool: string, asked: Scalar, found: Scalar | undefined): Judgement {
  if (found === undefined) return refused({ code: "unknown-pool", pool });
  return found === asked ? PLAIN_MET : refused({ code: "pool-value", pool, asked, found });
}

function compileShared({ resource, pools, amount }: SharedConsumable): Matcher {
  return compileAnd(
    pools.map(({ source }): Matcher => {
      const pool = sharedPoolName(resource, source);
      return (_, { left }) => judgePool(pool, amount, left.get(pool));
    }),
  );
}

function judgeBackoff(seconds: number | undefined, since: number | undefined): Judgement {
  return seconds !== undefined && since !== undefined && since < seconds
    ? refused({ code: "capacity-failure-backoff", seconds, since })
    : PLAIN_MET;
}

const withoutNesting = (constraints: readonly Constraint[]): readonly Constraint[] =>
  constraints.flatMap((one) => (one.kind === "and" ? withoutNesting(one.of) : [one]));

/**
 * All at once: what two members ask of one resource adds up (in the library the second is skipped, or an error: defects 21 and 22). The
 * first member that fails is the reason. Of alternatives the first is meant that holds; only where there is no room for it beside the
 * rest, the first that holds on what the rest leaves.
 */
function compileAnd(members: readonly Matcher[], isChoice: readonly boolean[] = []): Matcher {
  const choices = members.filter((_, at) => isChoice[at] === true);
  return (node, shared, job) => {
    const met: Met[] = [];
    let failure: Refusal | undefined;
    let space: number | undefined;
    for (const member of members) {
      const one = member(node, shared, job);
      space = lesserSpace(space, one.space);
      if (one.kind === "met") met.push(one);
      else failure ??= one.refusal;
    }
    if (failure !== undefined) return refused(failure, space);
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

/** What is sure, with alternatives that hold on what is left beside it; undefined: there are none. */
function joinOthers(
  sure: readonly Met[],
  choices: readonly Matcher[],
  node: NodeView,
  shared: Shared,
  job: string | undefined,
): Met | undefined {
  const joint = new Joint(node, shared);
  const available = { ...node.available };
  const rest: NodeView = { ...node, available };
  // A cluster may have many thousands of pools, and few are taken from: none is copied.
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

/** It takes nothing from anywhere. */
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

/** What must hold at once, put together one after the other. */
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

  /** Undefined: there is room for it beside the others. */
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

/** Of two amounts of one resource of one node: both are sizes, or both numbers. */
function sum(a: number | Size, b: number | Size): number | Size {
  if (!isSize(a)) return a + countable(b);
  return { amount: a.amount + countable(b) / bytesPer(a.unit), unit: a.unit };
}

function lesserSpace(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

/** The first alternative that holds is the one that is charged. */
function compileOr(members: readonly Matcher[]): Matcher {
  return (node, shared, job) => {
    const refusals: Refusal[] = [];
    for (const [at, member] of members.entries()) {
      const judgement = member(node, shared, job);
      if (judgement.kind === "met") return { ...judgement, score: members.length - at };
      refusals.push(judgement.refusal);
    }
    return refused({ code: "no-alternative", refusals }, 0);
  };
}

function compileXor(members: readonly Matcher[]): Matcher {
  return (node, shared, job) => {
    const judgements = members.map((member) => member(node, shared, job));
    const met = judgements.filter((one) => one.kind === "met");
    const [only] = met;
    if (only !== undefined && met.length === 1) return { ...only, score: 1 };
    if (met.length > 1) return refused({ code: "several-alternatives", holding: met.length }, 0);
    const refusals = judgements.flatMap((one) => (one.kind === "refused" ? [one.refusal] : []));
    return refused({ code: "no-alternative", refusals }, 0);
  };
}

/** What must not hold takes nothing (the library takes it: defect 12). */
function compileNot(member: Matcher): Matcher {
  return (node, shared, job) =>
    member(node, shared, job).kind === "met" ? refused({ code: "holds" }) : PLAIN_MET;
}
