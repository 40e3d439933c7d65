import type { Constraint } from "../../domain/constraint.ts";
import type { SharedState } from "../../domain/node-view.ts";
import { sizeOfConstraints, dependsOnNode, takesSomething } from "../constraints/constraint-facts.ts";
import type { Ground, Kind } from "./node-kinds.ts";
import { compile } from "../constraints/match.ts";
import { ALL_BUT } from "./first-fit.ts";
import type { Takes } from "./takes.ts";
import type { Matcher } from "../constraints/judge.ts";
import { bytesOf, isSize } from "../../domain/size.ts";

/** Whether a node of the kind may meet a constraint with the free amounts that begin at `start`. False is certain, true is not. */
type Test = (kind: Kind, free: ArrayLike<number>, start: number) => boolean;

const MAYBE: Test = () => true;
const NEVER: Test = () => false;

/**
 * A screen rules nodes out for an intricate job (see slot-by-slot.ts) by comparing numbers. Only where it lets the job pass is a slot tried
 * out, which is far more expensive. So a search over thousands of full nodes costs one comparison for each block of them
 * (docs/decisions.md, "Alternatives are judged beside the rest of the job when needed").
 */
export interface Screen {
  /** A lower bound of what a slot takes, whichever alternative it uses. */
  readonly least: Takes;
  /** Whether a slot may fit on a node. */
  readonly mayHold: Test;
  /** Cost of one call of {@link mayHold}. */
  readonly steps: number;
  /**
   * While there is room for the alternative that holds first, the next slot on the node takes the same. False if a condition that must not hold
   * depends on free amounts.
   */
  readonly isSteady: boolean;
}

/** Makes screens. A constraint that depends on the kind of node alone is tested once for each kind, for all classes that have it. */
export class Screens {
  readonly #shared: SharedState;
  readonly #positions: ReadonlyMap<string, number>;
  readonly #reader: AmountReader;
  readonly #ofKinds = new Map<string, Test>();

  constructor(ground: Ground, shared: SharedState) {
    this.#shared = shared;
    this.#positions = new Map(ground.resources.map((name, position) => [name, position]));
    this.#reader = {
      positionOf: (resource) => this.#positions.get(resource) ?? 0,
      unitOf: (position) => ground.unitOf(position),
    };
  }

  of(constraints: readonly Constraint[]): Screen {
    const least = leastTaken(this.#reader, { kind: "and", of: constraints });
    const resource = [...least.keys()].filter((position) => (least.get(position) ?? 0) > 0);
    const amount = resource.map((position) => (least.get(position) ?? 0) * ALL_BUT);
    const nothing = resource.length === 0;
    return {
      least: {
        resource,
        amount,
        alone: false,
        nothing,
      },
      mayHold: this.#all(constraints),
      steps: sizeOfConstraints(constraints),
      isSteady: constraints.every((one) => this.#isSteady(one)),
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
        const [position, each] = amountOf(this.#reader, constraint);
        if (each === undefined) return MAYBE;
        // Twice, because amounts are added in another order here than where a slot is judged.
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

  /** Whether a constraint gives the same answer for all nodes of a kind, whatever is on them. */
  #isOfKind(constraint: Constraint): boolean {
    switch (constraint.kind) {
      case "property-choice":
      case "in-a-placement-group":
      case "resource-choice":
        return !dependsOnNode(constraint);
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

  #isSteady(constraint: Constraint): boolean {
    switch (constraint.kind) {
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

/** Amounts in base units, by position of the resource. A resource that is missing is not taken. */
type Amounts = ReadonlyMap<number, number>;

/** Gives a resource its position, and a plain number its unit: `mixed` if that differs between kinds of nodes. */
interface AmountReader {
  positionOf(resource: string): number;
  unitOf(position: number): number | "mixed";
}

type AmountConstraint = Extract<Constraint, { kind: "amount" }>;

const NOTHING: Amounts = new Map();

/** Position and amount of a constraint. Without an amount if a plain number means different amounts on different kinds of nodes. */
function amountOf(
  reader: AmountReader,
  { resource, amount }: AmountConstraint,
): readonly [position: number, amount?: number] {
  const position = reader.positionOf(resource);
  if (isSize(amount)) return [position, bytesOf(amount)];
  const unit = reader.unitOf(position);
  return unit === "mixed" ? [position] : [position, amount * unit];
}

/** A lower bound of what a slot takes under the constraint, whichever alternative it uses. */
function leastTaken(reader: AmountReader, constraint: Constraint): Amounts {
  switch (constraint.kind) {
    case "amount": {
      const [position, each] = amountOf(reader, constraint);
      return each === undefined ? NOTHING : new Map([[position, each]]);
    }
    case "and":
      return sumOf(constraint.of.map((one) => leastTaken(reader, one)));
    case "or":
    case "xor":
      return leastOf(constraint.of.map((one) => leastTaken(reader, one)));
    default:
      return NOTHING;
  }
}

function sumOf(all: readonly Amounts[]): Amounts {
  const sums = new Map<number, number>();
  for (const one of all)
    for (const [position, amount] of one) sums.set(position, (sums.get(position) ?? 0) + amount);
  return sums;
}

/** The least of several alternatives. One that does not name a resource takes nothing of it. */
function leastOf(all: readonly Amounts[]): Amounts {
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
