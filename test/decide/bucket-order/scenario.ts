import { expect } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import type { Allocation } from "../../../src/domain/allocation.ts";
import type { World, BucketOffer, SharedLimit } from "../../../src/domain/world.ts";
import { bucketText } from "../../../src/domain/bucket.ts";
import type { JobDemand, RankedDemand } from "../../../src/domain/demand.ts";
import { arrayName, machineType, nodeId, placementGroup, setName } from "../../../src/domain/ids.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import { instant } from "../../../src/domain/units.ts";
import { readConstraints } from "../../../src/wire/constraint/constraint.ts";
import { newNotes } from "../../../src/wire/json/problems.ts";

/*
 * A world, the jobs in it, and what they use under the preference bucket-order.
 */

export const policy = {
  groupPrefix: "pg-",
  groupFillSeconds: 600,
  preference: "bucket-order",
  among: "priority",
} as const;

/** "execute/D4" or "execute/D4/group". */
export function bucket(at: string) {
  const [array = "", type = "", group] = at.split("/");
  const key = { array: arrayName(array), machineType: machineType(type) };
  return group === undefined ? key : { ...key, placementGroup: placementGroup(group) };
}

/** Each bucket has a limit of its own: limit i is that of bucket i, in nodes. */
export function world(
  buckets: readonly { readonly at: string; readonly room: number; readonly more?: Partial<BucketOffer> }[],
  more: Partial<World> = {},
): World {
  const limits = buckets.map(({ at, room }): SharedLimit => {
    return { id: { kind: "bucket", name: at, unit: "nodes" }, used: 0, max: room, left: room };
  });
  const arrays = new Map(buckets.map(({ at }) => [bucket(at).array, "managed"] as const));
  const offers = buckets.map(({ at, more: own }, limit): BucketOffer => ({
    bucket: bucket(at),
    resources: { ncpus: 4 },
    cores: 4,
    charges: [{ limit, amount: 1 }],
    groupSizes: new Map(),
    ...own,
  }));
  return { nodes: [], inFlight: [], buckets: offers, limits, arrays, ...more };
}

export function node(
  id: string,
  at: string,
  more: Partial<World["nodes"][number]> = {},
): World["nodes"][number] {
  return {
    nodeId: nodeId(id),
    bucket: bucket(at),
    purpose: { kind: "array" },
    resources: { ncpus: 4 },
    cores: 4,
    order: 0,
    ready: true,
    ...more,
  };
}

export type Written = Partial<JobDemand> & { readonly asks?: unknown };

/** Jobs in the order of rank; `asks` is written as in a message. */
export function jobs(...written: readonly Written[]): readonly RankedDemand[] {
  return written.map(({ asks = { ncpus: 1 }, ...more }, position) => {
    const id = `j${position}`;
    const demand: JobDemand = {
      kind: "job",
      id,
      name: id,
      priority: 0,
      position,
      constraints: readConstraints(asks, "constraints", newNotes()),
      iterations: 1,
      colocated: false,
      placed: [],
      ...more,
    };
    return { set: setName("s"), demand };
  });
}

/** Where each job went, in the order of use: nodes x slots on each; "new" for those made for it. */
export function uses({ orders = [] }: Allocation): readonly string[] {
  return orders.flatMap(({ by, uses: list }) => {
    let fresh = -1;
    return list.map(({ nodes, slots, bucket: at, nodeId: id, made, run, rest }) => {
      if (made > 0) fresh = run;
      const isNew = run === fresh;
      if (isNew && rest !== undefined) fresh = rest;
      return `${by.slice(2)}: ${nodes}x${slots} ${id ?? (isNew ? "new" : "planned")} ${bucketText(at)}`;
    });
  });
}

export interface Scenario {
  readonly name: string;
  readonly world: World;
  readonly jobs: readonly RankedDemand[];
  readonly uses: readonly string[];
  readonly reasons?: readonly string[];
  readonly starts?: readonly string[];
}

export const twoArrays = world([
  { at: "a/D4", room: 2 },
  { at: "b/D4", room: 5 },
]);

export const grouped = (
  groups: readonly string[],
  more: Partial<BucketOffer> = {},
): Partial<BucketOffer> => ({
  groupSizes: new Map(groups.map((group) => [placementGroup(group), 0])),
  maxPlacementGroupSize: 3,
  ...more,
});

/** What is used, started and said of the scenario's jobs is what it expects. */
export function check(scenario: Scenario): void {
  const answer = allocate(scenario.world, scenario.jobs, policy, instant(0));
  expect(uses(answer)).toEqual(scenario.uses);
  expect(answer.starts).toEqual(scenario.starts ?? []);
  const reasons = answer.outcomes.flatMap(({ id, reasons: why }) =>
    why.map((one) => `${id}: ${renderReason(one)}`),
  );
  expect(reasons).toEqual(scenario.reasons ?? []);
}
