import type { SupplyNode } from "./allocation.ts";
import { compareText } from "./text.ts";

const address = /^\d+(?:\.\d+){3}$/;

/** Hosts are compared by this: a hostname's first label, in lower case; an IP address whole. Schedulers and CycleCloud differ in both. */
export function hostKey(hostname: string): string {
  const name = hostname.toLowerCase();
  const dot = name.indexOf(".");
  return dot < 0 || address.test(name) ? name : name.slice(0, dot);
}

/** What a map by {@link hostKey} has for a node, under any name that CycleCloud has for it. */
export function entryOfNode<T>(
  byHost: ReadonlyMap<string, T>,
  { hostname, name }: { readonly hostname?: string; readonly name: string },
): T | undefined {
  const byHostname = hostname === undefined ? undefined : byHost.get(hostKey(hostname));
  return byHostname ?? byHost.get(hostKey(name));
}

/**
 * Finds nodes by the names that schedulers use for them: without regard to case, with or without a domain. Of several nodes that a name
 * could mean, one with exactly that name is taken, then one that is up, then the one with the lowest NodeId.
 */
export function hostFinder(nodes: readonly SupplyNode[]): (hostname: string) => number | undefined {
  const better = (a: number, b: number): number => (comparePlausible(nodes[a], nodes[b]) <= 0 ? a : b);
  const spelled = indexNames(nodes, (name) => name, better);
  // Most names are spelled as CycleCloud spells them: the rest of the work is left until one is not.
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
