import type { Constraint } from "../../domain/constraint.ts";
import type { Scalar } from "../../domain/resources.ts";
import { isPattern } from "../../domain/shell-pattern.ts";

/** Steps to judge constraints on one node: one for each constraint and for each listed value. Long texts count as several. */
export function sizeOfConstraints(constraints: readonly Constraint[]): number {
  let size = 0;
  for (const constraint of constraints) size += sizeOf(constraint);
  return size;
}

/** Cost in steps of writing one member as text. Everything but plain amounts is written to find jobs with the same constraints. */
const STEPS_TO_WRITE = 5;

/** Steps to find the jobs with the same constraints. */
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

/** Number of characters of a text that are read at the cost of one step. A pattern may have thousands. */
const CHARACTERS_PER_STEP = 32;

/** Cost in steps of matching one pattern. Comparing one plain name costs one step. */
const STEPS_PER_PATTERN = 3;

function sizeOfValue(value: Scalar): number {
  if (typeof value !== "string") return 1;
  const each = isPattern(value) ? STEPS_PER_PATTERN : 1;
  return each + Math.floor(value.length / CHARACTERS_PER_STEP);
}
