import type { Constraint } from "../../domain/constraint.ts";
import type { SharedState } from "../../domain/node-view.ts";
import { bytesOf, isSize } from "../../domain/size.ts";
import { sizeOfConstraints } from "../constraints/constraint-size.ts";
import { dependsOnNode } from "../constraints/depends-on-node.ts";
import type { Ground, Kind } from "./node-kinds.ts";
import { compile } from "../constraints/match.ts";
import { takesSomething } from "../constraints/constraint-facts.ts";
import { TOLERANCE } from "../../domain/tolerance.ts";
import type { Takes } from "./takes.ts";
import type { Matcher } from "../constraints/judgement.ts";

/** Whether a node of a kind with so much left may meet a constraint. False is certain, true is not. */
type Test = (kind: Kind, free: ArrayLike<number>, start: number) => boolean;

/** Sums are made in another order than where a slot is judged: a little below what that would let pass. */
const ALL_BUT = 1 - TOLERANCE;

const MAYBE: Test = () => true;
const NEVER: Test = () => false;

/**
 * What can be told by numbers of a job with alternatives (`or`, `xor`, `not`) before a slot of it is tried out on a node. A job is tried out
 * only where this does not rule it out, so that a search over thousands of full nodes costs a comparison for each block of them.
 */
export interface Screen {
  /** The least that a slot takes, whichever alternative it is. */
  readonly least: Takes;
  /** Whether a slot may fit on a node of the kind with so much left. */
  readonly mayHold: Test;
  /** Steps that it costs to ask {@link mayHold}. */
  readonly steps: number;
  /**
   * As long as there is room for the alternative that holds first, the next slot on the node takes the same. Not so where something must not
   * hold that depends on what is left.
   */
  readonly isSteady: boolean;
  /** What fits of a job of the class depends on nothing but what nodes have left, and each slot takes something. */
  readonly isPlain: boolean;
}

/** Makes screens; what constraints say of a kind of node is judged once for all classes that say the same. */
export class Screens {
  readonly #ground: Ground;
  readonly #shared: SharedState;
  readonly #positions: ReadonlyMap<string, number>;
  readonly #ofKinds = new Map<string, Test>();

  constructor(ground: Ground, shared: SharedState) {
    this.#ground = ground;
    this.#shared = shared;
    this.#positions = new Map(ground.resources.map((name, position) => [name, position]));
  }

  of(constraints: readonly Constraint[]): Screen {
    const least = this.#leastOf({ kind: "and", of: constraints });
    const resource = [...least.keys()].filter((position) => (least.get(position) ?? 0) > 0);
    const amount = resource.map((position) => (least.get(position) ?? 0) * ALL_BUT);
    const [a, b] = this.#ground.pair;
    const pair = [resource.indexOf(a), resource.indexOf(b)] as const;
    const nothing = resource.length === 0;
    return {
      least: {
        resource,
        amount,
        pair: a !== b && pair[0] >= 0 && pair[1] >= 0 ? pair : undefined,
        alone: false,
        nothing,
        isCommon: false,
      },
      mayHold: this.#all(constraints),
      steps: sizeOfConstraints(constraints),
      isSteady: constraints.every((one) => this.#isSteady(one)),
      isPlain: !nothing && constraints.every(looksAtNodesOnly),
    };
  }

  #all(constraints: readonly Constraint[]): Test {
    const tests = constraints.map((one) => this.#testOf(one)).filter((test) => test !== MAYBE);
    if (tests.length === 0) return MAYBE;
    return (kind, free, start) => tests.every((test) => test(kind, free, start));
  }

  #any(constraints: readonly Constraint[]): Test {
    const tests = constraints.map((one) => this.#testOf(one));
    if (tests.includes(MAYBE)) return MAYBE;
    return (kind, free, start) => tests.some((test) => test(kind, free, start));
  }

  #testOf(constraint: Constraint): Test {
    switch (constraint.kind) {
      case "amount": {
        const [position, each] = this.#amountOf(constraint);
        if (each === undefined) return MAYBE;
        const enough = each > 0 ? each * ALL_BUT * ALL_BUT : each;
        return (_, free, start) => (free[start + position] ?? 0) >= enough;
      }
      case "and":
        return this.#all(constraint.of);
      case "or":
      case "xor":
        return this.#any(constraint.of);
      case "never":
        return NEVER;
      default:
        return this.#isOfKind(constraint) ? this.#testOfKind(constraint) : MAYBE;
    }
  }

  /** What is said of a kind is said of each of its nodes, whatever is on them. */
  #isOfKind(constraint: Constraint): boolean {
    switch (constraint.kind) {
      case "property-choice":
      case "in-a-placement-group":
        return !dependsOnNode(constraint);
      case "resource-choice":
        return !this.#positions.has(constraint.resource) && !dependsOnNode(constraint);
      case "and":
      case "or":
      case "xor":
        return constraint.of.every((one) => this.#isOfKind(one));
      case "not":
        return this.#isOfKind(constraint.of);
      default:
        return false;
    }
  }

  #testOfKind(constraint: Constraint): Test {
    const key = JSON.stringify(constraint);
    let test = this.#ofKinds.get(key);
    if (test === undefined) {
      test = testOfKind(compile(constraint), this.#shared);
      this.#ofKinds.set(key, test);
    }
    return test;
  }

  /** Position and amount in base units; without an amount where a plain number means different amounts on different kinds. */
  #amountOf({ resource, amount }: Extract<Constraint, { kind: "amount" }>): readonly [number, number?] {
    const position = this.#positions.get(resource) ?? 0;
    if (isSize(amount)) return [position, bytesOf(amount)];
    const unit = this.#ground.unitOf(position);
    return unit === "mixed" ? [position] : [position, amount * unit];
  }

  /** By position; what must hold at once adds up, of alternatives it is the least of all. */
  #leastOf(constraint: Constraint): ReadonlyMap<number, number> {
    switch (constraint.kind) {
      case "amount": {
        const [position, each] = this.#amountOf(constraint);
        return each === undefined ? NOTHING : new Map([[position, each]]);
      }
      case "and":
        return sumOf(constraint.of.map((one) => this.#leastOf(one)));
      case "or":
      case "xor":
        return leastOf(constraint.of.map((one) => this.#leastOf(one)));
      default:
        return NOTHING;
    }
  }

  #isSteady(constraint: Constraint): boolean {
    switch (constraint.kind) {
      case "resource-choice":
        return !this.#positions.has(constraint.resource);
      case "and":
      case "or":
        return constraint.of.every((one) => this.#isSteady(one));
      case "xor":
        return constraint.of.every((one) => !takesSomething(one) && this.#isSteady(one));
      case "not":
        return !takesSomething(constraint.of) && this.#isSteady(constraint.of);
      default:
        return true;
    }
  }
}

const NOTHING: ReadonlyMap<number, number> = new Map();

function testOfKind(matcher: Matcher, shared: SharedState): Test {
  const known: boolean[] = [];
  return (kind) => {
    let answer = known[kind.index];
    if (answer === undefined) {
      answer = matcher(kind.view(), shared).kind === "met";
      known[kind.index] = answer;
    }
    return answer;
  };
}

function sumOf(all: readonly ReadonlyMap<number, number>[]): ReadonlyMap<number, number> {
  const sums = new Map<number, number>();
  for (const one of all)
    for (const [position, amount] of one) sums.set(position, (sums.get(position) ?? 0) + amount);
  return sums;
}

/** An alternative that does not name a resource takes nothing of it. */
function leastOf(all: readonly ReadonlyMap<number, number>[]): ReadonlyMap<number, number> {
  const seen = new Map<number, { naming: number; least: number }>();
  for (const one of all) {
    for (const [position, amount] of one) {
      const { naming, least } = seen.get(position) ?? { naming: 0, least: Number.POSITIVE_INFINITY };
      seen.set(position, { naming: naming + 1, least: Math.min(least, amount) });
    }
  }
  return new Map(
    [...seen].map(([position, { naming, least }]) => [
      position,
      naming === all.length ? least : Math.min(0, least),
    ]),
  );
}

/** Neither pools nor who else is on a node matter. */
function looksAtNodesOnly(constraint: Constraint): boolean {
  switch (constraint.kind) {
    case "exclusive":
    case "pool":
    case "pool-value":
    case "shared-consumable":
      return false;
    case "and":
    case "or":
    case "xor":
      return constraint.of.every(looksAtNodesOnly);
    case "not":
      return looksAtNodesOnly(constraint.of);
    default:
      return true;
  }
}
