import type { Constraint } from "../../domain/constraint.ts";
import { bytesOf, isSize } from "../../domain/size.ts";

/** Amounts in base units, by position of the resource. A resource that is missing is not taken. */
export type Amounts = ReadonlyMap<number, number>;

/** Gives a resource its position, and a plain number its unit: `mixed` if that differs between kinds of nodes. */
export interface AmountReader {
  positionOf(resource: string): number;
  unitOf(position: number): number | "mixed";
}

type AmountConstraint = Extract<Constraint, { kind: "amount" }>;

const NOTHING: Amounts = new Map();

/** Position and amount of a constraint. Without an amount if a plain number means different amounts on different kinds of nodes. */
export function amountOf(
  reader: AmountReader,
  { resource, amount }: AmountConstraint,
): readonly [position: number, amount?: number] {
  const position = reader.positionOf(resource);
  if (isSize(amount)) return [position, bytesOf(amount)];
  const unit = reader.unitOf(position);
  return unit === "mixed" ? [position] : [position, amount * unit];
}

/** A lower bound of what a slot takes under the constraint, whichever alternative it uses. */
export function leastTaken(reader: AmountReader, constraint: Constraint): Amounts {
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
