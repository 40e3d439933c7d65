import type { BucketOffer, SharedLimit, SupplyNode, World } from "../../src/domain/world.ts";
import type { BucketKey } from "../../src/domain/bucket.ts";
import type { GroupDemand, JobDemand, RankedDemand, TargetDemand } from "../../src/domain/demand.ts";
import { arrayName, machineType, nodeId, placementGroup, setName } from "../../src/domain/ids.ts";
import type { LimitKind } from "../../src/domain/limit.ts";
import { instant } from "../../src/domain/units.ts";
import { needing } from "../support/build-constraints.ts";

/** 2025-11-20T11:00:00Z. */
export const NOW = instant(1_763_636_400_000);

/** "execute/D4" or "execute/D4/group". */
export function bucket(at: string): BucketKey {
  const [array = "", type = "", group] = at.split("/");
  const key = { array: arrayName(array), machineType: machineType(type) };
  return group === undefined ? key : { ...key, placementGroup: placementGroup(group) };
}

/** A bucket. `charges` is what one node takes from each limit, by position. */
export function offer(
  at: string,
  cores: number,
  charges: readonly number[],
  more: Partial<BucketOffer> = {},
): BucketOffer {
  return {
    bucket: bucket(at),
    resources: { ncpus: cores },
    cores,
    charges: charges.map((amount, limit) => ({ limit, amount })).filter(({ amount }) => amount > 0),
    groupSizes: new Map(),
    ...more,
  };
}

export function limit(
  kind: LimitKind,
  name: string,
  unit: "nodes" | "cores",
  used: number,
  max: number,
): SharedLimit {
  return { id: { kind, name, unit }, used, max, left: max - used };
}

/** An existing node of four cores. */
export function node(id: string, hostname: string): SupplyNode {
  return {
    nodeId: nodeId(id),
    hostname,
    bucket: bucket("execute/D4"),
    purpose: { kind: "array" },
    resources: { ncpus: 4 },
    cores: 4,
    order: 0,
    ready: true,
  };
}

/** A world with the managed array "execute". Parts that are not given are empty. */
export function world(
  buckets: readonly BucketOffer[],
  limits: readonly SharedLimit[] = [],
  more: Partial<World> = {},
): World {
  return {
    nodes: [],
    inFlight: [],
    buckets,
    limits,
    arrays: new Map([[arrayName("execute"), "managed"]]),
    ...more,
  };
}

const common = { priority: 0, position: 0 };

/** A job with slots of one core by default. */
export function job(more: Partial<JobDemand> = {}): RankedDemand {
  const demand: JobDemand = {
    ...common,
    kind: "job",
    id: "a",
    name: "a",
    constraints: needing({ ncpus: 1 }),
    iterations: 1,
    colocated: false,
    placed: [],
    ...more,
  };
  return { set: setName("standard"), demand };
}

export function target(count: number, more: Partial<TargetDemand> = {}): RankedDemand {
  const demand: TargetDemand = {
    ...common,
    kind: "target",
    id: "t",
    array: arrayName("execute"),
    amount: { unit: "nodes", count },
    ...more,
  };
  return { set: setName("standard"), demand };
}

export function groups(count: number, size: number, more: Partial<GroupDemand> = {}): RankedDemand {
  const demand: GroupDemand = {
    ...common,
    kind: "groups",
    id: "g",
    array: arrayName("execute"),
    groups: count,
    size: { unit: "nodes", count: size },
    ...more,
  };
  return { set: setName("standard"), demand };
}
