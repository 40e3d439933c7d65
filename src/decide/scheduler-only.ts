import type { Node, Snapshot } from "../domain/cluster.ts";
import type { RankedDemand } from "../domain/demand.ts";
import type { ArrayName, NodeId } from "../domain/ids.ts";
import type { Ledger } from "../domain/record.ts";
import { hostKey } from "./hosts.ts";
import type { ReportedHost, ReportedHosts } from "./reported-hosts.ts";

/** What a plan reads of the reports. Plain data, as plans are recalled by it. */
export interface Reports {
  readonly all: ReportedHosts;
  /** Those that are nodes of the cluster, and up. */
  readonly nodes: ReadonlyMap<NodeId, ReportedHost>;
  /** Those that only the scheduler knows, and that take jobs. */
  readonly others: readonly ReportedHost[];
}

/** The cluster as far as it says which hosts are its own. */
interface Cluster {
  readonly snapshot: Pick<Snapshot, "nodes" | "arrays">;
  readonly ledger: Ledger;
  /** Dynamic node arrays. */
  readonly dynamics: Iterable<ArrayName>;
}

/** What a plan reads of the reports, beside these demands as they were sent; undefined: no report says anything of amounts. */
export function readReports(
  reported: ReportedHosts,
  cluster: Cluster,
  demands: readonly RankedDemand[],
): Reports | undefined {
  if (reported.size === 0) return undefined;
  const nodes = new Map<NodeId, ReportedHost>();
  const found = new Set<ReportedHost>();
  cluster.snapshot.nodes.forEach((node) => {
    const host = hostOfNode(reported, node);
    if (host === undefined) return;
    found.add(host);
    if (node.phase === "ready") nodes.set(node.nodeId, host);
  });
  if (found.size === reported.size) return { all: reported, nodes, others: [] };
  const unknown = [...reported].filter(([, host]) => !found.has(host) && host.open);
  const judge = unknown.length === 0 ? undefined : judgeOf(cluster);
  const placedAt = indexPlaced(demands);
  const others = unknown.filter(([key, host]) => judge?.(key) === undefined && isTold(host, placedAt));
  return { all: reported, nodes, others: others.map(([, host]) => host) };
}

function hostOfNode(reported: ReportedHosts, { hostname, name }: Node): ReportedHost | undefined {
  return (
    (hostname === undefined ? undefined : reported.get(hostKey(hostname))) ?? reported.get(hostKey(name))
  );
}

/** Why a host without a node in the status is not one that only the scheduler knows. */
type WhyOurs = "former-node" | "named-as-a-node";

/**
 * Schedulers go on listing hosts whose nodes are gone, and list hosts whose nodes are still to be made: jobs would wait for ever for such a
 * host, where a node too many costs little. So a host that had a node of the cluster, as far as we remember, or that is called as CycleCloud
 * calls nodes and their hosts is never taken for one of the scheduler's own. This also holds when our memory is lost.
 */
function judgeOf({ snapshot, ledger, dynamics }: Cluster): (key: string) => WhyOurs | undefined {
  const known = new Set<string>();
  const note = ({ hostname, name, privateIp }: Pick<Node, "hostname" | "name" | "privateIp">): void => {
    known.add(hostKey(name));
    if (hostname !== undefined) known.add(hostKey(hostname));
    if (privateIp !== undefined) known.add(privateIp);
  };
  snapshot.nodes.forEach(note);
  ledger.forEach(note);
  const arrays = new Set(
    [...snapshot.arrays.map(({ name }) => name), ...dynamics].map((name) => name.toLowerCase()),
  );
  return (key) => {
    if (known.has(key)) return "former-node";
    return isNamedAsNode(key, arrays) ? "named-as-a-node" : undefined;
  };
}

/** "ip-0a000404", as CycleCloud calls hosts; or "execute-17", as it calls nodes, maybe with a prefix: "lab-execute-17". */
function isNamedAsNode(key: string, arrays: ReadonlySet<string>): boolean {
  if (/^ip-[0-9a-f]{8}$/.test(key)) return true;
  const array = /^(.+)-\d+$/.exec(key)?.[1];
  if (array === undefined) return false;
  if (arrays.has(array)) return true;
  return [...arrays].some((name) => array.endsWith(`-${name}`));
}

/** Whether it is known what the jobs there take: by what is left, or as each says itself how much of it runs there. */
function isTold(
  { hostname, available, by }: ReportedHost,
  placedAt: () => ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  if (Object.keys(available).length > 0 || by.every(({ jobs }) => jobs.length === 0)) return true;
  const placed = placedAt().get(hostKey(hostname));
  return by.every(({ jobs }) => jobs.every((job) => placed?.has(job) === true));
}

/** By host the names of the jobs that say that they run there. Worked out when it is asked for. */
function indexPlaced(demands: readonly RankedDemand[]): () => ReadonlyMap<string, ReadonlySet<string>> {
  let index: Map<string, Set<string>> | undefined;
  return () => {
    if (index !== undefined) return index;
    index = new Map();
    for (const { demand } of demands) {
      if (demand.kind !== "job") continue;
      for (const { hostname } of demand.placed) {
        const key = hostKey(hostname);
        index.set(key, (index.get(key) ?? new Set()).add(demand.name));
      }
    }
    return index;
  };
}
