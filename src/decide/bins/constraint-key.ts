import type { Constraint } from "../../domain/constraint.ts";
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
