import type { NodeId } from "./ids.ts";
import { nodeId } from "./ids.ts";

/** CycleCloud's own ids are UUIDs. */
const PREFIX = "scheduler-host:";

/** Stands for a host that only a scheduler knows wherever a node is named by its id. */
export function schedulerHostId(hostname: string): NodeId {
  return nodeId(`${PREFIX}${hostname}`);
}

/** The hostname in such an id; undefined: it is the id of a node of the cluster. */
export function schedulerHostname(id: NodeId): string | undefined {
  return id.startsWith(PREFIX) ? id.slice(PREFIX.length) : undefined;
}
