import { mergeAttributes } from "../../domain/attributes.ts";
import type { NodeAttributes } from "../../domain/demand.ts";
import type { ArrayName, ClusterName } from "../../domain/ids.ts";
import { isObject } from "./read-fields.ts";

/**
 * The URL that nodes of an array call to ask whether they may stop. The same for all nodes of the array, because one scale set needs equal
 * attributes.
 */
export type AutostopUrls = (cluster: ClusterName, array: ArrayName) => string;

export interface NodeAttributesToSend {
  /** Undefined if there are none. */
  readonly nodeAttributes: NodeAttributes | undefined;
  /** The parts that come from the template: they may hold secrets. */
  readonly fromTemplate: NodeAttributes;
}

/**
 * The nodeAttributes of a create. The autostop URL is put into Configuration under both names that nodes read (architecture.md, Autostop),
 * overriding the demand and the template.
 *
 * How deep CycleCloud merges Configuration into the array's is not documented (cyclecloud-wire.md C.2). So each member of Configuration is
 * sent completely: the array's template with ours merged over it. Whether CycleCloud merges it member by member or replaces it, the node
 * gets the same.
 */
export function nodeAttributesOf(
  demanded: NodeAttributes | undefined,
  template: NodeAttributes | undefined,
  autostopUrl: string | undefined,
): NodeAttributesToSend {
  const name = Object.keys(demanded ?? {}).find((key) => key.toLowerCase() === "configuration");
  const said = name === undefined ? undefined : demanded?.[name];
  const ours = withAutostopUrl(isObject(said) ? said : undefined, autostopUrl);
  if (ours === undefined) return { nodeAttributes: demanded, fromTemplate: {} };
  const members = Object.keys(ours).filter((member) => Object.hasOwn(template ?? {}, member));
  const fromTemplate = Object.fromEntries(members.map((member) => [member, template?.[member]]));
  const configuration = mergeAttributes(fromTemplate, ours);
  return { nodeAttributes: { ...demanded, [name ?? "Configuration"]: configuration }, fromTemplate };
}

function withAutostopUrl(
  configuration: NodeAttributes | undefined,
  url: string | undefined,
): NodeAttributes | undefined {
  if (url === undefined) return configuration;
  return mergeAttributes(configuration ?? {}, {
    cyclecloud: { cluster: { autoscale: { stop_callback: url } } },
    autoscale: { stop_callback: url },
  });
}
