import type { Node } from "../../domain/cluster.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { JobDemand, SchedulerNode, SetDemand } from "../../domain/demand.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { MovedNode } from "../../domain/virtual-fleet.ts";
import { entryOfNode, hostKey } from "../../domain/hosts.ts";
import type { HostFact } from "../senders/host-facts.ts";

/** The real nodes of the observed arrays, and the virtual nodes that replace them. */
export interface Fleets {
  readonly real: readonly Node[];
  /** Those that are not on their way down. */
  readonly virtual: readonly Node[];
}

/** Array, VM size, placement group and spot. Nodes of one kind are equal for a job. */
const kindOf = ({ array, machineType, placementGroup, spot = false }: Node): string =>
  [array, machineType.toLowerCase(), placementGroup, spot].join("/");

/**
 * Assigns each real node with a job to the virtual node that has its jobs: the one that had them before, else the copy of the real node, else
 * a free node of the same kind, preferably one that is up. If there is none, the plan places these jobs.
 */
export function moveJobs(
  before: readonly MovedNode[],
  { real, virtual }: Fleets,
  facts: ReadonlyMap<string, HostFact>,
): readonly MovedNode[] {
  const busy = real.filter((node) => (entryOfNode(facts, node)?.jobs.length ?? 0) > 0);
  if (busy.length === 0) return [];
  const there = new Set(virtual.map(({ nodeId }) => nodeId));
  const places = new Map(before.flatMap(({ real: id, to }) => (there.has(to) ? [[id, to] as const] : [])));
  const moved = new Map<NodeId, NodeId>();
  const taken = new Set<NodeId>();
  const take = (id: NodeId, to: NodeId | undefined): void => {
    if (to === undefined || taken.has(to) || moved.has(id)) return;
    moved.set(id, to);
    taken.add(to);
  };
  for (const { nodeId } of busy) take(nodeId, places.get(nodeId));
  for (const { nodeId } of busy) take(nodeId, there.has(nodeId) ? nodeId : undefined);
  const free = Map.groupBy(
    virtual.filter(({ nodeId, phase }) => !taken.has(nodeId) && (phase === "ready" || phase === "coming")),
    kindOf,
  );
  const next = new Map([...free].map(([kind, nodes]) => [kind, upFirst(nodes).values()]));
  for (const node of busy)
    if (!moved.has(node.nodeId)) take(node.nodeId, next.get(kindOf(node))?.next().value?.nodeId);
  return busy.flatMap(({ nodeId }) => {
    const to = moved.get(nodeId);
    return to === undefined ? [] : [{ real: nodeId, to }];
  });
}

const upFirst = (nodes: readonly Node[]): readonly Node[] =>
  nodes.toSorted((a, b) => Number(b.phase === "ready") - Number(a.phase === "ready"));

/** By each name of a real node, the host name of the virtual node that has its jobs. Undefined if none has. */
type NewHosts = ReadonlyMap<string, string | undefined>;

/** The new hosts of the jobs on real nodes. */
export function newHosts({ real, virtual }: Fleets, moved: readonly MovedNode[]): NewHosts {
  const hostOf = new Map(virtual.map(({ nodeId, hostname, name }) => [nodeId, hostname ?? name]));
  const to = new Map(moved.map((one) => [one.real, hostOf.get(one.to)]));
  const hosts = new Map<string, string | undefined>();
  for (const { nodeId, hostname, name } of real) {
    const host = to.get(nodeId);
    hosts.set(hostKey(name), host);
    if (hostname !== undefined) hosts.set(hostKey(hostname), host);
  }
  return hosts;
}

/** Demand and reports as the schedulers would state them if the jobs ran on the virtual nodes. Unchanged parts stay the same objects. */
export function withNewHosts(
  { demands, reports }: Pick<Bodies, "demands" | "reports">,
  hosts: NewHosts,
): Pick<Bodies, "demands" | "reports"> {
  return {
    demands: new Map([...demands].map(([digest, demand]) => [digest, moveDemand(demand, hosts)])),
    reports: new Map([...reports].map(([digest, report]) => [digest, moveReport(report, hosts)])),
  };
}

function moveDemand(set: SetDemand, hosts: NewHosts): SetDemand {
  let changed = false;
  const demands = set.demands.map((demand) => {
    if (demand.kind !== "job" || demand.placed.length === 0) return demand;
    const placed = movePlaced(demand.placed, hosts);
    if (placed === demand.placed) return demand;
    changed = true;
    return { ...demand, placed };
  });
  return changed ? { ...set, demands } : set;
}

function movePlaced(placed: JobDemand["placed"], hosts: NewHosts): JobDemand["placed"] {
  const isMoved = ({ hostname }: { readonly hostname: string }): boolean => {
    const key = hostKey(hostname);
    return hosts.has(key) && hosts.get(key) !== hostname;
  };
  if (!placed.some(isMoved)) return placed;
  return placed.flatMap((slots) => {
    const key = hostKey(slots.hostname);
    if (!hosts.has(key)) return [slots];
    const hostname = hosts.get(key);
    return hostname === undefined ? [] : [{ ...slots, hostname }];
  });
}

/** The report for virtual nodes. Entries of real nodes without a job are removed, because they say nothing about virtual nodes. */
function moveReport(report: readonly SchedulerNode[], hosts: NewHosts): readonly SchedulerNode[] {
  if (!report.some(({ hostname }) => hosts.has(hostKey(hostname)))) return report;
  return report.flatMap((host) => {
    const key = hostKey(host.hostname);
    if (!hosts.has(key)) return [host];
    const hostname = hosts.get(key);
    return hostname === undefined ? [] : [{ ...host, hostname }];
  });
}

/** The report that names every virtual node that is up and has no job of a real node as idle. */
export function idleReport(
  fleets: Fleets,
  moved: readonly MovedNode[],
  reports: Bodies["reports"],
): readonly SchedulerNode[] {
  const taken = new Set(moved.map(({ to }) => to));
  const resources = resourcesByKind(fleets.real, reports);
  return fleets.virtual
    .filter(({ nodeId, phase }) => phase === "ready" && !taken.has(nodeId))
    .map((node) => {
      const has = resources.get(kindOf(node));
      const amounts = has === undefined ? {} : { resources: has, available: has };
      return { hostname: node.hostname ?? node.name, jobs: [], ...amounts };
    });
}

/** By kind of node, the resources that schedulers report of real nodes. */
function resourcesByKind(
  real: readonly Node[],
  reports: Bodies["reports"],
): ReadonlyMap<string, NonNullable<SchedulerNode["resources"]>> {
  const byHost = new Map<string, NonNullable<SchedulerNode["resources"]>>();
  for (const report of reports.values())
    for (const { hostname, resources } of report)
      if (resources !== undefined) byHost.set(hostKey(hostname), resources);
  const byKind = new Map<string, NonNullable<SchedulerNode["resources"]>>();
  if (byHost.size === 0) return byKind;
  for (const node of real) {
    const resources = entryOfNode(byHost, node);
    if (resources !== undefined) byKind.set(kindOf(node), resources);
  }
  return byKind;
}
