import type { Constraint } from "../../domain/constraint.ts";
import type { Size } from "../../domain/size.ts";
import { isSize } from "../../domain/size.ts";

/** A text that is the same for the same constraints. Amounts are written by hand, because there may be a hundred thousand jobs. */
export function keyOf(constraints: readonly Constraint[]): string {
  let key = "";
  for (const constraint of constraints) {
    if (constraint.kind === "amount") {
      const { resource, amount } = constraint;
      key += isSize(amount) ? `|${resource}\t${amount.amount}${amount.unit}` : `|${resource}\t${amount}`;
    } else key += `\n${JSON.stringify(constraint)}`;
  }
  return key;
}

/** Whether both lists consist of the same amounts in the same order, and of nothing else. */
export function sameAmounts(a: readonly Constraint[], b: readonly Constraint[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) {
    const [one, other] = [a[i], b[i]];
    if (one?.kind !== "amount" || other?.kind !== "amount" || one.resource !== other.resource) return false;
    if (one.amount !== other.amount && !sameSize(one.amount, other.amount)) return false;
  }
  return true;
}

const sameSize = (a: number | Size, b: number | Size): boolean =>
  isSize(a) && isSize(b) && a.amount === b.amount && a.unit === b.unit;
