import type { NodeAttributes } from "../../domain/demand.ts";
import type { PlacementGroup } from "../../domain/ids.ts";

/**
 * The attributes of a group's nodes: its id stands on the node as `GroupId`, and in its configuration where jobs' scripts look for it, as
 * `cyclecloud.node.group_id` (cyclecloud-wire.md C.2). Whatever else the attributes say stays; an id of their own does not.
 */
export function withGroupId(attributes: NodeAttributes = {}, group: PlacementGroup): NodeAttributes {
  const others = Object.entries(attributes).filter(([key]) => key.toLowerCase() !== "groupid");
  return {
    ...Object.fromEntries(others),
    Configuration: putDeep(attributes["Configuration"], ["cyclecloud", "node", "group_id"], group),
    GroupId: group,
  };
}

/** The value at the end of the path, objects on the way kept as they are otherwise; what is no object there gives way. */
function putDeep(into: unknown, [key, ...path]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const members = typeof into === "object" && into !== null && !Array.isArray(into) ? into : {};
  return { ...members, [key]: putDeep(Reflect.get(members, key), path, value) };
}
