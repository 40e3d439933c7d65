import type { Constraint, NodeProperty } from "../../domain/constraint.ts";

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
  switch (constraint.kind) {
    case "property-choice":
      return isOfOneNode(constraint.property) || constraint.property === "memory";
    case "resource-choice":
      return constraint.resource === "ccnodeid";
    case "and":
    case "or":
    case "xor":
      return constraint.of.some(dependsOnNode);
    case "not":
      return dependsOnNode(constraint.of);
    case "capacity-failure-backoff":
      return true;
    default:
      return false;
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
