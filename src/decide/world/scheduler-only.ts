import type { SetName, ArrayName, NodeId } from "../../domain/ids.ts";
import type { PlacedSlots, RankedDemand } from "../../domain/demand.ts";
import type { Node, Snapshot } from "../../domain/cluster.ts";
import type { Ledger } from "../../domain/ledger.ts";
import { entryOfNode, hostKey } from "../../domain/hosts.ts";
import type { ReportedHost, ReportedHosts } from "./reported-hosts.ts";

/** The reports in a plan. Plain data, because plans are remembered by it. */
export interface Reports {
  /** Hosts that are nodes of the cluster and up. */
  readonly nodes: ReadonlyMap<NodeId, ReportedHost>;
  /** Hosts that only the scheduler knows and that take jobs. */
  readonly others: readonly ReportedHost[];
}

/** The parts of a cluster that show which hosts are its own. */
interface Cluster {
  readonly snapshot: Pick<Snapshot, "nodes" | "arrays">;
  readonly ledger: Ledger;
  /** Dynamic node arrays. */
  readonly dynamics: Iterable<ArrayName>;
}

/** Collects the reports for a plan. `demands`: as they were sent. Undefined if no report has amounts. */
export function readReports(
  reported: ReportedHosts,
  cluster: Cluster,
  demands: readonly RankedDemand[],
): Reports | undefined {
  if (reported.size === 0) return undefined;
  const { nodes, others } = judgeHosts(reported, cluster, demands);
  const capacity = others.flatMap(({ host, standing }) => (standing === "capacity" ? [host] : []));
  return { nodes, others: capacity };
}

/** Whether a host without a node in the status is capacity, or why it is not. */
export type HostStanding =
  | "capacity"
  /** Its scheduler says that it takes no jobs. */
  | "closed"
  /** The ledger has a node of this name, or the status has one that is not up. */
  | "former-node"
  | "named-as-a-node"
  /** It has jobs, and neither its report nor the jobs say how much they take. */
  | "load-unknown";

/** A reported host, and whether it is capacity. */
export interface JudgedHost {
  readonly host: ReportedHost;
  readonly standing: HostStanding;
}

/** The reported hosts, divided by whether they are nodes of the cluster. */
export interface JudgedHosts {
  /** Hosts of nodes that are up. */
  readonly nodes: ReadonlyMap<NodeId, ReportedHost>;
  /** Hosts that the status does not show. */
  readonly others: readonly JudgedHost[];
}

/** Separates the hosts of nodes from those that only a scheduler knows. */
export function judgeHosts(
  reported: ReportedHosts,
  cluster: Cluster,
  demands: readonly RankedDemand[],
): JudgedHosts {
  const nodes = new Map<NodeId, ReportedHost>();
  const found = new Set<ReportedHost>();
  cluster.snapshot.nodes.forEach((node) => {
    const host = entryOfNode(reported, node);
    if (host === undefined) return;
    found.add(host);
    if (node.phase === "ready") nodes.set(node.nodeId, host);
  });
  if (found.size === reported.size) return { nodes, others: [] };
  const whyOurs = lazily(() => judgeNames(cluster));
  const placedAt = lazily(() => indexPlaced(demands));
  const others = [...reported]
    .filter(([, host]) => !found.has(host))
    .flatMap(([key, host]) => (host.bySet ?? [host]).map((one) => ({ key, host: one })))
    .map(({ key, host }) => {
      const standing = host.open
        ? (whyOurs()(key) ?? hostStanding(key, host, placedAt))
        : ("closed" as const);
      return { host, standing };
    });
  return { nodes, others };
}

/**
 * Recognises hosts of the cluster by name. Schedulers list hosts whose nodes are gone or do not exist yet. Jobs that are placed on such a host
 * would wait for ever, and a node too many costs little in comparison. So a host never counts as the scheduler's own if the ledger has a node
 * of its name, or if its name looks like those that CycleCloud gives. The second rule holds even if the ledger is lost.
 */
function judgeNames({ snapshot, ledger, dynamics }: Cluster): (key: string) => HostStanding | undefined {
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

/** Names that CycleCloud gives to hosts ("ip-0a000404") and nodes ("execute-17", or with a prefix "lab-execute-17"). */
function isNamedAsNode(key: string, arrays: ReadonlySet<string>): boolean {
  if (/^ip-[0-9a-f]{8}$/.test(key)) return true;
  const array = /^(.+)-\d+$/.exec(key)?.[1];
  if (array === undefined) return false;
  if (arrays.has(array)) return true;
  return [...arrays].some((name) => array.endsWith(`-${name}`));
}

/** Whether such a host is capacity. It is if the report says what is left, or if each job there says how much of it runs there. */
function hostStanding(
  key: string,
  { available, by }: ReportedHost,
  placedAt: () => ReadonlyMap<string, ReadonlySet<string>>,
): HostStanding {
  if (Object.keys(available).length > 0 || by.every(({ jobs }) => jobs.length === 0)) return "capacity";
  const placed = placedAt().get(key);
  return by.every(({ jobs }) => jobs.every((job) => placed?.has(job) === true)) ? "capacity" : "load-unknown";
}

/** By host, the names of the jobs that name it as the host on which they run. */
function indexPlaced(demands: readonly RankedDemand[]): ReadonlyMap<string, ReadonlySet<string>> {
  const index = new Map<string, Set<string>>();
  for (const { demand } of demands) {
    if (demand.kind !== "job") continue;
    for (const { hostname } of demand.placed) {
      const key = hostKey(hostname);
      index.set(key, (index.get(key) ?? new Set()).add(demand.name));
    }
  }
  return index;
}

/** Computes a value when it is first needed, and only once. */
function lazily<T extends object>(work: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= work());
}

/**
 * The demands with the hosts on which they run according to reports. A job that names no host itself gets one slot, or one node of its gang,
 * on each host on which its own scheduler reports it. The amounts left there are reported without that slot, so it must not be placed again.
 * Hosts that are no capacity are left out, because a scheduler may list the jobs of a dead host for a while.
 */
export function bindReported(
  demands: readonly RankedDemand[],
  reports: Reports | undefined,
): readonly RankedDemand[] {
  if (reports === undefined) return demands;
  const hostsOf = hostsOfJobs([...reports.nodes.values(), ...reports.others]);
  if (hostsOf.size === 0) return demands;
  return demands.map((ranked) => {
    const { set, demand } = ranked;
    if (demand.kind !== "job" || demand.placed.length > 0) return ranked;
    const ofSet = hostsOf.get(set);
    const hosts = ofSet?.get(demand.name);
    if (hosts === undefined) return ranked;
    // If several jobs have the same name, the first one counts as running there.
    ofSet?.delete(demand.name);
    const { nodeCount, iterations } = demand;
    const placed: readonly PlacedSlots[] = hosts
      .slice(0, nodeCount ?? iterations)
      .map((hostname) => ({ hostname, iterations: nodeCount === undefined ? 1 : iterations }));
    return { set, demand: { ...demand, placed } };
  });
}

/** Hosts by set and name of the job. */
function hostsOfJobs(reported: readonly ReportedHost[]): ReadonlyMap<SetName, Map<string, string[]>> {
  const hostsOf = new Map<SetName, Map<string, string[]>>();
  for (const { hostname, by } of reported)
    for (const { set, jobs } of by) {
      if (jobs.length === 0) continue;
      const ofSet = hostsOf.get(set) ?? new Map<string, string[]>();
      hostsOf.set(set, ofSet);
      for (const job of jobs) {
        const hosts = ofSet.get(job);
        if (hosts === undefined) ofSet.set(job, [hostname]);
        else if (!hosts.includes(hostname)) hosts.push(hostname);
      }
    }
  return hostsOf;
}
