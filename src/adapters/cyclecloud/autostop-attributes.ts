import { mergeAttributes } from "../../domain/attributes.ts";
import type { NodeAttributes } from "../../domain/demand.ts";
import type { ArrayName, ClusterName } from "../../domain/ids.ts";
import { isObject } from "./read-fields.ts";

/** The URL that nodes of an array call to ask whether they may stop. Equal for all nodes of the array: one scale set wants equal attributes. */
export type AutostopUrls = (cluster: ClusterName, array: ArrayName) => string;

/**
 * Node attributes with the autostop URL in their Configuration, under both names that nodes read (design.md section 4, Autostop); whatever
 * else the attributes say stays.
 */
export function withAutostopUrl(attributes: NodeAttributes, url: string): NodeAttributes {
  const name =
    Object.keys(attributes).find((key) => key.toLowerCase() === "configuration") ?? "Configuration";
  const configuration = isObject(attributes[name]) ? attributes[name] : {};
  return {
    ...attributes,
    [name]: mergeAttributes(configuration, {
      cyclecloud: { cluster: { autoscale: { stop_callback: url } } },
      autoscale: { stop_callback: url },
    }),
  };
}
