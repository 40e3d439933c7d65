import type { BucketOffer, SharedLimit, World } from "../../src/domain/world.ts";
import type { GroupDemand, JobDemand, RankedDemand, TargetDemand } from "../../src/domain/demand.ts";
import { arrayName, machineType, nodeId, placementGroup, setName } from "../../src/domain/ids.ts";
import { instant } from "../../src/domain/units.ts";
import { needing } from "./build-constraints.ts";
import { MODES } from "./modes.ts";

/*
 * Builds small worlds for the allocator. Default: one array "execute" of the VM size "D4", with four cores and 16 GiB.
 */

export const now = instant(1_763_636_400_000);
export const policy = {
  groupPrefix: "pg-",
  groupFillSeconds: 600,
  preference: "existing-first",
  among: "priority",
} as const;

/** All modes of choosing nodes, on top of {@link policy}. */
export const namedModes = MODES.map((mode) => ({
  mode: { ...policy, ...mode },
  name: `${mode.preference}, ${mode.among}`,
}));

/** A node by its place: "execute/D4" or "execute/D4/group". Default: four cores and 16 GiB. */
export interface ShortNode {
  readonly id: string;
  readonly at?: string;
  readonly cores?: number;
  readonly order?: number;
  readonly coming?: boolean;
  readonly host?: string;
  readonly group?: { readonly key: string };
}

export function bucket(at: string) {
  const [array = "", type = "", group] = at.split("/");
  const key = { array: arrayName(array), machineType: machineType(type) };
  return group === undefined ? key : { ...key, placementGroup: placementGroup(group) };
}

export function node({
  id,
  at = "execute/D4",
  cores = 4,
  order = 0,
  coming = false,
  host,
  group,
}: ShortNode): World["nodes"][number] {
  const where = bucket(at);
  return {
    nodeId: nodeId(id),
    bucket: where,
    purpose:
      group === undefined
        ? { kind: "array" }
        : { kind: "group", key: group.key, group: at.split("/")[2] ?? "" },
    resources: { ncpus: cores, mem: cores * 4 },
    cores,
    order,
    ready: !coming,
    ...(host === undefined ? {} : { hostname: host }),
  };
}

/** A bucket by its place. Charges: by limit, the amount. */
export function offer(
  at: string,
  cores: number,
  charges: Record<number, number>,
  more: Partial<BucketOffer> = {},
): BucketOffer {
  return {
    bucket: bucket(at),
    resources: { ncpus: cores, mem: cores * 4 },
    cores,
    charges: Object.entries(charges).map(([limit, amount]) => ({ limit: Number(limit), amount })),
    groupSizes: new Map(),
    ...more,
  };
}

export function limit(
  kind: SharedLimit["id"]["kind"],
  name: string,
  unit: "nodes" | "cores",
  used: number,
  max: number,
): SharedLimit {
  return { id: { kind, name, unit }, used, max, left: Math.max(0, max - used) };
}

export const plenty = limit("cluster", "", "nodes", 0, 1000);

export function world(more: Partial<World> = {}): World {
  return {
    nodes: [],
    inFlight: [],
    buckets: [offer("execute/D4", 4, { 0: 1 })],
    limits: [plenty],
    arrays: new Map([[arrayName("execute"), "managed"]]),
    ...more,
  };
}

let position = 0;
export function ranked(demand: RankedDemand["demand"], set = "standard"): RankedDemand {
  return { set: setName(set), demand };
}

export function job(id: string, more: Partial<JobDemand> = {}): RankedDemand {
  position += 1;
  return ranked({
    kind: "job",
    id,
    name: id,
    priority: 0,
    position,
    constraints: needing({ ncpus: 1 }),
    iterations: 1,
    colocated: false,
    placed: [],
    ...more,
  });
}

export function target(
  id: string,
  count: number,
  more: Partial<TargetDemand> = {},
  set = "standard",
): RankedDemand {
  position += 1;
  const amount = { unit: "nodes", count } as const;
  return ranked(
    { kind: "target", id, priority: 0, position, array: arrayName("execute"), amount, ...more },
    set,
  );
}

export function groups(
  id: string,
  count: number,
  size: number,
  more: Partial<GroupDemand> = {},
  set = "standard",
): RankedDemand {
  position += 1;
  const amount = { unit: "nodes", count: size } as const;
  return ranked(
    {
      kind: "groups",
      id,
      priority: 0,
      position,
      array: arrayName("execute"),
      groups: count,
      size: amount,
      ...more,
    },
    set,
  );
}
