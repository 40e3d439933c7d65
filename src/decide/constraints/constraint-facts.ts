import type { Constraint } from "../../domain/constraint.ts";

/*
 * What one constraint says, alternatives and negations included: does it decide on spot, name groups, take something, and of which
 * resources?
 */

/** Whether a job with this constraint decides on spot nodes itself: it tests `node.spot`, or names its node arrays. */
export function decidesOnSpot(constraint: Constraint): boolean {
  return testsSpot(constraint) || namesArrays(constraint);
}

function testsSpot(constraint: Constraint): boolean {
  switch (constraint.kind) {
    case "property-choice":
      return constraint.property === "spot";
    case "and":
    case "or":
    case "xor":
      return constraint.of.some(testsSpot);
    case "not":
      return testsSpot(constraint.of);
    default:
      return false;
  }
}

function namesArrays(constraint: Constraint): boolean {
  switch (constraint.kind) {
    case "property-choice":
      return constraint.property === "nodearray" && constraint.choices.length > 0;
    case "and":
      return constraint.of.some(namesArrays);
    case "or":
    case "xor":
      return constraint.of.every(namesArrays);
    default:
      return false;
  }
}

/** Whether it depends on the name of a placement group. */
export function namesGroups(constraint: Constraint): boolean {
  switch (constraint.kind) {
    case "property-choice":
      return constraint.property === "placement_group";
    case "and":
    case "or":
    case "xor":
      return constraint.of.some(namesGroups);
    case "not":
      return namesGroups(constraint.of);
    default:
      return false;
  }
}

/** Whether it may take something, or depends on what others have taken. */
export function takesSomething(constraint: Constraint): boolean {
  switch (constraint.kind) {
    case "amount":
    case "exclusive":
    case "pool":
    case "shared-consumable":
    case "capacity-failure-backoff":
      return true;
    case "and":
    case "or":
    case "xor":
      return constraint.of.some(takesSomething);
    case "not":
      return takesSomething(constraint.of);
    default:
      return false;
  }
}

/** The resources of which it may take something, or that it tests by what is left. */
export function countedResources(constraint: Constraint): readonly string[] {
  switch (constraint.kind) {
    case "amount":
      return [constraint.resource];
    case "and":
    case "or":
    case "xor":
      return constraint.of.flatMap(countedResources);
    case "not":
      return countedResources(constraint.of);
    default:
      return [];
  }
}
