import type { SupplyNode } from "./world.ts";
import { compareText } from "./text.ts";
import type { NodeId, SetName } from "./ids.ts";
import { nodeId } from "./ids.ts";

const address = /^\d+(?:\.\d+){3}$/;

/**
 * The key for comparing hosts: the first label of a hostname in lower case, or a whole IP address. Schedulers and CycleCloud spell both
 * differently.
 */
export function hostKey(hostname: string): string {
  const name = hostname.toLowerCase();
  const dot = name.indexOf(".");
  return dot < 0 || address.test(name) ? name : name.slice(0, dot);
}

/** The entry for a node in a map by {@link hostKey}, under any of the node's names in CycleCloud. */
export function entryOfNode<T>(
  byHost: ReadonlyMap<string, T>,
  { hostname, name }: { readonly hostname?: string; readonly name: string },
): T | undefined {
  const byHostname = hostname === undefined ? undefined : byHost.get(hostKey(hostname));
  return byHostname ?? byHost.get(hostKey(name));
}

/**
 * Finds nodes by the names that schedulers use: case-insensitive, with or without a domain. If several nodes match, an exact match comes
 * first, then a node that is up, then the lowest NodeId.
 */
export function hostFinder(nodes: readonly SupplyNode[]): (hostname: string) => number | undefined {
  const better = (a: number, b: number): number => (comparePlausible(nodes[a], nodes[b]) <= 0 ? a : b);
  const spelled = indexNames(nodes, (name) => name, better);
  // Most names are spelled as in CycleCloud. The lower-case map is made only when one is not.
  let lower: ReadonlyMap<string, number> | undefined;
  let labels: ReadonlyMap<string, number> | undefined;
  return (hostname) => {
    const exact = spelled.get(hostname);
    if (exact !== undefined) return exact;
    lower ??= indexNames(nodes, (name) => name.toLowerCase(), better);
    labels ??= indexNames(nodes, hostKey, better);
    return lower.get(hostname.toLowerCase()) ?? labels.get(hostKey(hostname));
  };
}

function indexNames(
  nodes: readonly SupplyNode[],
  keyOf: (hostname: string) => string,
  better: (a: number, b: number) => number,
): ReadonlyMap<string, number> {
  const index = new Map<string, number>();
  nodes.forEach((node, at) => {
    if (node.hostname === undefined || node.hostname === "") return;
    const key = keyOf(node.hostname);
    const other = index.get(key);
    index.set(key, other === undefined ? at : better(other, at));
  });
  return index;
}

function comparePlausible(a: SupplyNode | undefined, b: SupplyNode | undefined): number {
  if (a === undefined || b === undefined) return 0;
  return Number(b.ready) - Number(a.ready) || compareText(a.nodeId, b.nodeId);
}

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
