import type { Constraint } from "../../src/domain/constraint.ts";

/** Amounts that each slot takes. */
export function needing(amounts: Readonly<Record<string, number>>): readonly Constraint[] {
  return Object.entries(amounts).map(([resource, amount]) => ({ amount, kind: "amount", resource }));
}

/** Only nodes of these arrays. */
export function inArrays(...choices: readonly string[]): Constraint {
  return { choices, kind: "property-choice", property: "nodearray" };
}

/** Only nodes of these VM sizes. */
export function ofSizes(...choices: readonly string[]): Constraint {
  return { choices, kind: "property-choice", property: "vm_size" };
}

/** One slot on each node, and no other job there. */
export const EXCLUSIVE: Constraint = { kind: "exclusive", scope: "job", wanted: true };
