import type { SimulatedNode } from "./node.ts";
import type { Seconds } from "../domain/units.ts";

const windowMs = 60_000;
const hourMs = 3_600_000;

/** Hours of VMs of one machine type. `cost` is undefined if the type has no price. */
type MachineHours = { readonly nodeHours: number; readonly coreHours: number; readonly cost?: number };

export type Summary = {
  readonly at: number;
  /** All nodes of all clusters by Status, also those that are not listed yet. */
  readonly nodesByStatus: Readonly<Record<string, number>>;
  readonly nodesCreated: number;
  /** Billed time: from the VM's start (Preparing) until it is gone (cyclecloud-wire.md A.5). Without head nodes. */
  readonly nodeHours: number;
  readonly coreHours: number;
  readonly cost: number;
  readonly byMachineType: Readonly<Record<string, MachineHours>>;
  readonly statusCalls: number;
  /** The most status calls for one cluster in any 60 s of the simulator's clock, both ends included. */
  readonly mostStatusCallsIn60Seconds: Seconds;
};

type Hours = { nodeHours: number; coreHours: number; pricePerHour: number | undefined };

/** Counts status calls, and adds up the cost of nodes that are gone. Keeps the calls of the last minute. */
export class Accounts {
  readonly #hours = new Map<string, Hours>();
  readonly #recentCalls = new Map<string, number[]>();
  #statusCalls = 0;
  #mostCalls = 0;
  #nodesCreated = 0;

  countStatusCall(cluster: string, now: number): void {
    this.#statusCalls += 1;
    const recent = (this.#recentCalls.get(cluster) ?? []).filter((at) => at >= now - windowMs);
    recent.push(now);
    this.#recentCalls.set(cluster, recent);
    this.#mostCalls = Math.max(this.#mostCalls, recent.length);
  }

  countCreated(): void {
    this.#nodesCreated += 1;
  }

  /** Adds the billed time of a node whose VM is gone. */
  book(node: SimulatedNode, now: number): void {
    addHours(this.#hours, node, now);
  }

  summarize(nodes: Iterable<SimulatedNode>, now: number): Summary {
    const hours = new Map([...this.#hours].map(([name, value]) => [name, { ...value }]));
    const nodesByStatus: Record<string, number> = {};
    for (const node of nodes) {
      nodesByStatus[node.status] = (nodesByStatus[node.status] ?? 0) + 1;
      if (node.holdsQuota) addHours(hours, node, now);
    }
    const rows = [...hours].map(([name, { nodeHours, coreHours, pricePerHour }]) => {
      const cost = pricePerHour === undefined ? {} : { cost: nodeHours * pricePerHour };
      return [name, { nodeHours, coreHours, ...cost }] as const;
    });
    const add = (pick: (row: MachineHours) => number): number =>
      rows.reduce((sum, [, row]) => sum + pick(row), 0);
    return {
      at: now,
      nodesByStatus,
      nodesCreated: this.#nodesCreated,
      nodeHours: add((row) => row.nodeHours),
      coreHours: add((row) => row.coreHours),
      cost: add((row) => row.cost ?? 0),
      byMachineType: Object.fromEntries(rows),
      statusCalls: this.#statusCalls,
      mostStatusCallsIn60Seconds: this.#mostCalls,
    };
  }
}

function addHours(hours: Map<string, Hours>, node: SimulatedNode, now: number): void {
  if (node.upAt === undefined || node.array === undefined) return;
  const { name, vcpuCount, pricePerHour } = node.machine;
  const known = hours.get(name) ?? { nodeHours: 0, coreHours: 0, pricePerHour };
  const nodeHours = (now - node.upAt) / hourMs;
  known.nodeHours += nodeHours;
  known.coreHours += nodeHours * vcpuCount;
  hours.set(name, known);
}
