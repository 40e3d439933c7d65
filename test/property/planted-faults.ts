import { expect } from "vitest";
import type { Allocation, NodeLoad } from "../../src/domain/allocation.ts";
import type { World, BucketOffer, SupplyNode } from "../../src/domain/world.ts";
import type { BucketKey } from "../../src/domain/bucket.ts";
import type { Constraint } from "../../src/domain/constraint.ts";
import type { JobDemand, RankedDemand } from "../../src/domain/demand.ts";
import { arrayName, machineType, nodeId, placementGroup, setName } from "../../src/domain/ids.ts";
import type { Reason } from "../../src/domain/reason.ts";
import { EXCLUSIVE, needing } from "../support/build-constraints.ts";
import { findFaults } from "./naive-checker.ts";
import { NOW } from "./small-shapes.ts";

/*
 * A world, its right allocation, and small changes that make a fault of it.
 */

export const ALPHA = arrayName("alpha");
export const GANG = placementGroup("pg-alpha-A4-1");
export const GROUP = placementGroup("pg-alpha-2n-1");

export const at = (type: string, group?: typeof GANG): BucketKey => ({
  array: ALPHA,
  machineType: machineType(type),
  ...(group === undefined ? {} : { placementGroup: group }),
});

export const REASON: Reason = { code: "no-bucket", array: "alpha" };

export const nodeOf = (id: string, more: Partial<SupplyNode> = {}): SupplyNode => ({
  nodeId: nodeId(id),
  hostname: `host-${id}`,
  bucket: at("A4"),
  purpose: { kind: "array" },
  resources: { ncpus: 4 },
  cores: 4,
  order: 1,
  ready: true,
  ...more,
});

export const offerOf = (type: string, cores: number): BucketOffer => ({
  bucket: at(type),
  resources: { ncpus: cores },
  cores,
  charges: [{ limit: 0, amount: 1 }],
  groupSizes: new Map(),
  maxPlacementGroupSize: 3,
});

/** Two nodes that are up, one that is deallocated, one in flight, and room for five. */
export const WORLD: World = {
  nodes: [nodeOf("n1"), nodeOf("n2", { ready: false, deallocated: true, order: 9 }), nodeOf("n3")],
  inFlight: [{ bucket: at("B8"), purpose: { kind: "array" }, resources: { ncpus: 8 }, cores: 8, count: 1 }],
  buckets: [offerOf("A4", 4), offerOf("B8", 8)],
  limits: [{ id: { kind: "cluster", name: "", unit: "nodes" }, used: 4, max: 9, left: 5 }],
  arrays: new Map([[ALPHA, "managed"]]),
  pools: [{ name: "licence", total: 3, used: 2 }],
};

export const job = (
  id: string,
  constraints: readonly Constraint[],
  iterations: number,
  more: Partial<JobDemand> = {},
) => ({
  set: setName("s"),
  demand: {
    kind: "job" as const,
    id,
    name: id,
    priority: 0,
    position: 0,
    constraints,
    iterations,
    colocated: false,
    placed: [],
    ...more,
  },
});

export const PACKED = job("packed", needing({ ncpus: 1 }), 7, {
  placed: [{ hostname: "HOST-n3.example", iterations: 1 }],
  spot: "never",
});

export const LICENSED = job(
  "licensed",
  [...needing({ ncpus: 1 }), { kind: "pool", pool: "licence", amount: 1 }],
  1,
);
export const SHORT = job("short", needing({ ncpus: 16 }), 1);

export const target = (count: number): RankedDemand => ({
  set: setName("s"),
  demand: {
    kind: "target",
    id: "floor",
    priority: 0,
    position: 0,
    array: ALPHA,
    amount: { unit: "nodes", count },
  },
});

export const GROUPS: RankedDemand = {
  set: setName("s"),
  demand: {
    kind: "groups",
    id: "groups",
    priority: 0,
    position: 0,
    array: ALPHA,
    groups: 1,
    size: { unit: "nodes", count: 2 },
  },
};

export const DEMANDS: readonly RankedDemand[] = [
  PACKED,
  job("alone", [...needing({ ncpus: 1 }), EXCLUSIVE], 1),
  job("gang", needing({ ncpus: 1 }), 2, { nodeCount: 2, colocated: true }),
  job("late", needing({ ncpus: 2 }), 2, { user: "ann" }),
  LICENSED,
  SHORT,
  GROUPS,
  target(8),
];

export const part = (id: string, slots: number, bound = false) => ({ by: `s/${id}`, slots, bound });

export const on = (id: string, ...jobs: NodeLoad["jobs"]): NodeLoad => ({
  origin: "existing",
  bucket: at("A4"),
  nodeId: nodeId(id),
  count: 1,
  jobs,
});

export const FLYING: NodeLoad = { origin: "in-flight", bucket: at("B8"), count: 1, jobs: [part("alone", 1)] };
export const GANGS: NodeLoad = {
  origin: "planned",
  bucket: at("A4", GANG),
  count: 2,
  jobs: [part("gang", 2)],
};
export const N1 = on("n1", part("packed", 3), part("licensed", 1));
export const N2 = on("n2", part("late", 2));
export const N3 = on("n3", part("packed", 1, true), part("packed", 3));
export const FOR_GANG = {
  kind: "create",
  bucket: at("A4", GANG),
  count: 2,
  purpose: { kind: "array" },
} as const;

export const FOR_GROUP = {
  kind: "create",
  bucket: at("B8", GROUP),
  count: 2,
  purpose: { kind: "group", key: "alpha:2n", group: GROUP },
} as const;

export type Outcome = Allocation["outcomes"][number];

export const outcome = (
  id: string,
  unit: Outcome["unit"],
  asked: number,
  pending: number,
  more: Partial<Outcome> = {},
): Outcome => ({
  set: setName("s"),
  id,
  kind: unit === "slots" ? "job" : unit === "groups" ? "groups" : "target",
  unit,
  asked,
  placed: asked,
  pending,
  reasons: [],
  ...more,
});

export const UNMET: Partial<Outcome> = {
  placed: 0,
  reasons: [REASON],
  binding: { kind: "no-raise", reason: REASON },
};

export const ANSWER: Allocation = {
  bound: undefined,
  creates: [FOR_GANG, FOR_GROUP],
  starts: [nodeId("n2")],
  loads: [N1, N2, N3, FLYING, GANGS],
  needed: new Map([
    [nodeId("n1"), ["s/packed", "s/licensed"]],
    [nodeId("n2"), ["s/late"]],
    [nodeId("n3"), ["s/packed"]],
  ]),
  placedBy: "rank",
  names: new Map(),
  leftOut: [],
  stepsBySet: new Map(),
  steps: 0,
  groups: [],
  outcomes: [
    outcome("packed", "slots", 7, 0),
    outcome("alone", "slots", 1, 1),
    outcome("gang", "slots", 4, 4),
    outcome("late", "slots", 2, 2),
    outcome("licensed", "slots", 1, 0),
    outcome("short", "slots", 1, 0, UNMET),
    outcome("groups", "groups", 1, 1),
    outcome("floor", "nodes", 8, 6),
  ],
};

export const loads = (...others: readonly NodeLoad[]): Allocation => ({
  ...ANSWER,
  loads: [...ANSWER.loads.filter((load) => !others.some((one) => isSameNode(one, load))), ...others],
});

export const isSameNode = (a: NodeLoad, b: NodeLoad): boolean =>
  a.origin === b.origin && a.nodeId === b.nodeId;

export const outcomes = (id: string, change: Partial<Outcome>): Allocation => ({
  ...ANSWER,
  outcomes: ANSWER.outcomes.map((one) => (one.id === id ? { ...one, ...change } : one)),
});

export const gangs = (...all: readonly (readonly [number, number, BucketKey])[]): Allocation => ({
  ...ANSWER,
  creates: [...all.map(([count, , bucket]) => ({ ...FOR_GANG, count, bucket })), FOR_GROUP],
  loads: [
    N1,
    N2,
    N3,
    FLYING,
    ...all.map(([count, slots, bucket]) => ({ ...GANGS, count, bucket, jobs: [part("gang", slots)] })),
  ],
});

export const OTHER = placementGroup("pg-other-1");

export interface Planted {
  readonly name: string;
  readonly expected: string;
  readonly world?: World;
  readonly demands?: readonly RankedDemand[];
  readonly answer?: Allocation;
}

/** The checker finds the planted fault. */
export function check({ world = WORLD, demands = DEMANDS, answer = ANSWER, expected }: Planted): void {
  expect(findFaults(world, demands, answer, NOW)).toContain(expected);
}
