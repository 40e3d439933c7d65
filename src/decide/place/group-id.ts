import type { NodeAttributes } from "../../domain/demand.ts";
import type { PlacementGroup } from "../../domain/ids.ts";

/**
 * The attributes of a group's nodes: the attributes of the demand, with the group's id as `GroupId` and, for the scripts of jobs, in the
 * configuration as `cyclecloud.node.group_id` (cyclecloud-wire.md C.2). An id in the attributes of the demand is replaced.
 */
export function withGroupId(attributes: NodeAttributes = {}, group: PlacementGroup): NodeAttributes {
  const others = Object.entries(attributes).filter(([key]) => key.toLowerCase() !== "groupid");
  return {
    ...Object.fromEntries(others),
    Configuration: putDeep(attributes["Configuration"], ["cyclecloud", "node", "group_id"], group),
    GroupId: group,
  };
}

/** Puts a value at the end of a path. Other members of the objects on the path stay. Values on the path that are no objects are replaced. */
function putDeep(into: unknown, [key, ...path]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const members = typeof into === "object" && into !== null && !Array.isArray(into) ? into : {};
  return { ...members, [key]: putDeep(Reflect.get(members, key), path, value) };
}
