import type { Constraint, NodeProperty } from "../../domain/constraint.ts";
import type { Scalar } from "../../domain/resources.ts";
import { isPattern } from "../../domain/shell-pattern.ts";

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

/** Properties that differ between the nodes of one bucket. */
const OF_ONE_NODE: ReadonlySet<NodeProperty> = new Set<NodeProperty>([
  "name",
  "hostname",
  "fqdn",
  "hostname_or_uuid",
  "private_ip",
  "instance_id",
  "state",
  "exists",
  "keep_alive",
  "create_time_unix",
  "last_match_time_unix",
  "delete_time_unix",
  "create_time",
  "last_match_time",
  "delete_time",
  "create_time_remaining",
]);

/** Whether a property differs between the nodes of one bucket. */
export function isOfOneNode(property: NodeProperty): boolean {
  return OF_ONE_NODE.has(property);
}

/** Whether the result of a constraint can differ between two nodes of one bucket with the same resources. Then each node is judged separately. */
export function dependsOnNode(constraint: Constraint): boolean {
  return namesProperty(
    constraint,
    (property) => isOfOneNode(property) || property === "memory",
    (one) =>
      one.kind === "capacity-failure-backoff" ||
      (one.kind === "resource-choice" && one.resource === "ccnodeid"),
  );
}

/** Whether a constraint names a property that differs between the nodes of one bucket, so that the bucket cannot answer it. */
export function namesOneNode(constraint: Constraint): boolean {
  return namesProperty(constraint, isOfOneNode, () => false);
}

function namesProperty(
  constraint: Constraint,
  isMeant: (property: NodeProperty) => boolean,
  orElse: (constraint: Constraint) => boolean,
): boolean {
  switch (constraint.kind) {
    case "property-choice":
      return isMeant(constraint.property);
    case "and":
    case "or":
    case "xor":
      return constraint.of.some((one) => namesProperty(one, isMeant, orElse));
    case "not":
      return namesProperty(constraint.of, isMeant, orElse);
    default:
      return orElse(constraint);
  }
}

/** Whether a constraint depends on the jobs that are on a node. */
export function dependsOnJobs(constraint: Constraint): boolean {
  switch (constraint.kind) {
    case "exclusive":
      return constraint.wanted;
    case "and":
    case "or":
    case "xor":
      return constraint.of.some(dependsOnJobs);
    case "not":
      return dependsOnJobs(constraint.of);
    default:
      return false;
  }
}
