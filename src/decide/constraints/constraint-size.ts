import type { Constraint } from "../../domain/constraint.ts";
import type { Scalar } from "../../domain/resources.ts";
import { isPattern } from "../../domain/shell-pattern.ts";

/** How many looks it takes to judge constraints on one node: one for each, and for each value that they list; long texts count as several. */
export function sizeOfConstraints(constraints: readonly Constraint[]): number {
  let size = 0;
  for (const constraint of constraints) size += sizeOf(constraint);
  return size;
}

/** To tell jobs apart, all but plain amounts is written as text: that costs about as much as this many steps. */
const STEPS_TO_WRITE = 5;

/** How many looks it takes to find out which jobs ask for the same. */
export function sizeOfText(constraints: readonly Constraint[]): number {
  let size = 0;
  for (const constraint of constraints)
    size += constraint.kind === "amount" ? 1 : STEPS_TO_WRITE * sizeOf(constraint);
  return size;
}

function sizeOf(constraint: Constraint): number {
  switch (constraint.kind) {
    case "property-choice":
    case "resource-choice":
      return 1 + sizeOfValues(constraint.choices);
    case "and":
    case "or":
    case "xor":
      return 1 + sizeOfConstraints(constraint.of);
    case "not":
      return 1 + sizeOf(constraint.of);
    case "shared-consumable":
      return 1 + constraint.pools.length;
    case "never":
      return sizeOfValue(constraint.message);
    case "pool-value":
      return sizeOfValue(constraint.value);
    default:
      return 1;
  }
}

function sizeOfValues(values: readonly Scalar[]): number {
  let size = 0;
  for (const value of values) size += sizeOfValue(value);
  return size;
}

/** A text may be a pattern of thousands of characters. Reading them costs about as much as one step. */
const CHARACTERS_OF_STEP = 32;

/** To match a pattern takes about as long as to compare so many plain names. */
const STEPS_OF_PATTERN = 3;

function sizeOfValue(value: Scalar): number {
  if (typeof value !== "string") return 1;
  const each = isPattern(value) ? STEPS_OF_PATTERN : 1;
  return each + Math.floor(value.length / CHARACTERS_OF_STEP);
}
