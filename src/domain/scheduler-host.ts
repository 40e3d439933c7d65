import type { NodeId, SetName } from "./ids.ts";
import { nodeId } from "./ids.ts";

/** CycleCloud's own ids are UUIDs. */
const PREFIX = "scheduler-host:";
/** No name of a request set has control characters. */
const OF_SET = "\n";

/** Identifies a host that only a scheduler reports, where a NodeId is needed. `set`: several sets report a host of this name. */
export function schedulerHostId(hostname: string, set?: SetName): NodeId {
  return nodeId(`${PREFIX}${hostname}${set === undefined ? "" : OF_SET + set}`);
}

/** The hostname in such an id. Undefined for the id of a node of the cluster. */
export function schedulerHostname(id: NodeId): string | undefined {
  if (!id.startsWith(PREFIX)) return undefined;
  const end = id.lastIndexOf(OF_SET);
  return id.slice(PREFIX.length, end < 0 ? undefined : end);
}
