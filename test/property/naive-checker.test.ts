/** The checker of the properties can fail: one right allocation, worked out by hand, and each kind of fault planted into it. */
import { expect, test } from "vitest";
import type { Allocation, NodeLoad } from "../../src/domain/allocation.ts";
import type { BucketOffer, SupplyNode, World } from "../../src/domain/world.ts";
import type { BucketKey } from "../../src/domain/bucket.ts";
import type { Constraint } from "../../src/domain/constraint.ts";
import type { JobDemand, RankedDemand } from "../../src/domain/demand.ts";
import { arrayName, machineType, nodeId, placementGroup, setName } from "../../src/domain/ids.ts";
import type { Reason } from "../../src/domain/reason.ts";
import { plusSeconds } from "../../src/domain/units.ts";
import { EXCLUSIVE, inArrays, needing } from "../support/build-constraints.ts";
import { findFaults } from "./naive-checker.ts";
import { NOW } from "./random-world.ts";

const ALPHA = arrayName("alpha");
const GANG = placementGroup("pg-alpha-A4-1");
const GROUP = placementGroup("pg-alpha-2n-1");
const at = (type: string, group?: typeof GANG): BucketKey => ({
  array: ALPHA,
  machineType: machineType(type),
  ...(group === undefined ? {} : { placementGroup: group }),
});
const REASON: Reason = { code: "no-bucket", array: "alpha" };
const FULL: Reason = {
  code: "limit-reached",
  limit: { kind: "cluster", name: "", unit: "nodes" },
  used: 1,
  max: 1,
  left: 0,
  asked: 1,
};

const nodeOf = (id: string, more: Partial<SupplyNode> = {}): SupplyNode => ({
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
const offerOf = (type: string, cores: number): BucketOffer => ({
  bucket: at(type),
  resources: { ncpus: cores },
  cores,
  charges: [{ limit: 0, amount: 1 }],
  groupSizes: new Map(),
  maxPlacementGroupSize: 3,
});

/** Two nodes that are up, one that is deallocated, one in flight, and room for five. */
const WORLD: World = {
  nodes: [nodeOf("n1"), nodeOf("n2", { ready: false, deallocated: true, order: 9 }), nodeOf("n3")],
  inFlight: [{ bucket: at("B8"), purpose: { kind: "array" }, resources: { ncpus: 8 }, cores: 8, count: 1 }],
  buckets: [offerOf("A4", 4), offerOf("B8", 8)],
  limits: [{ id: { kind: "cluster", name: "", unit: "nodes" }, used: 4, max: 9, left: 5 }],
  arrays: new Map([[ALPHA, "managed"]]),
  pools: [{ name: "licence", total: 3, used: 2 }],
};
const CAPPED: World = { ...WORLD, caps: [{ kind: "user", name: "ann", unit: "nodes", max: 0 }] };

const job = (
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
const PACKED = job("packed", needing({ ncpus: 1 }), 7, {
  placed: [{ hostname: "HOST-n3.example", iterations: 1 }],
  spot: "never",
});
const LICENSED = job("licensed", [...needing({ ncpus: 1 }), { kind: "pool", pool: "licence", amount: 1 }], 1);
const SHORT = job("short", needing({ ncpus: 16 }), 1);
const target = (count: number): RankedDemand => ({
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
const GROUPS: RankedDemand = {
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
const DEMANDS: readonly RankedDemand[] = [
  PACKED,
  job("alone", [...needing({ ncpus: 1 }), EXCLUSIVE], 1),
  job("gang", needing({ ncpus: 1 }), 2, { nodeCount: 2, colocated: true }),
  job("late", needing({ ncpus: 2 }), 2, { user: "ann" }),
  LICENSED,
  SHORT,
  GROUPS,
  target(8),
];

const part = (id: string, slots: number, bound = false) => ({ by: `s/${id}`, slots, bound });
const on = (id: string, ...jobs: NodeLoad["jobs"]): NodeLoad => ({
  origin: "existing",
  bucket: at("A4"),
  nodeId: nodeId(id),
  count: 1,
  jobs,
});
const FLYING: NodeLoad = { origin: "in-flight", bucket: at("B8"), count: 1, jobs: [part("alone", 1)] };
const GANGS: NodeLoad = { origin: "planned", bucket: at("A4", GANG), count: 2, jobs: [part("gang", 2)] };
const N1 = on("n1", part("packed", 3), part("licensed", 1));
const N2 = on("n2", part("late", 2));
const N3 = on("n3", part("packed", 1, true), part("packed", 3));
const FOR_GANG = { kind: "create", bucket: at("A4", GANG), count: 2, purpose: { kind: "array" } } as const;
const FOR_GROUP = {
  kind: "create",
  bucket: at("B8", GROUP),
  count: 2,
  purpose: { kind: "group", key: "alpha:2n", group: GROUP },
} as const;

type Outcome = Allocation["outcomes"][number];
const outcome = (
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
const UNMET: Partial<Outcome> = {
  placed: 0,
  reasons: [REASON],
  binding: { kind: "no-raise", reason: REASON },
};
const ANSWER: Allocation = {
  creates: [FOR_GANG, FOR_GROUP],
  starts: [nodeId("n2")],
  loads: [N1, N2, N3, FLYING, GANGS],
  needed: new Map([
    [nodeId("n1"), ["s/packed", "s/licensed"]],
    [nodeId("n2"), ["s/late"]],
    [nodeId("n3"), ["s/packed"]],
  ]),
  settledBy: "rank",
  leftOut: [],
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

test("the right allocation has no fault", () => {
  expect(findFaults(WORLD, DEMANDS, ANSWER, NOW)).toEqual([]);
});

const loads = (...others: readonly NodeLoad[]): Allocation => ({
  ...ANSWER,
  loads: [...ANSWER.loads.filter((load) => !others.some((one) => isSameNode(one, load))), ...others],
});
const isSameNode = (a: NodeLoad, b: NodeLoad): boolean => a.origin === b.origin && a.nodeId === b.nodeId;
const creates = (...all: Allocation["creates"]): Allocation => ({ ...ANSWER, creates: all });
const outcomes = (id: string, change: Partial<Outcome>): Allocation => ({
  ...ANSWER,
  outcomes: ANSWER.outcomes.map((one) => (one.id === id ? { ...one, ...change } : one)),
});
const gangs = (...all: readonly (readonly [number, number, BucketKey])[]): Allocation => ({
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
const offers = (change: Partial<BucketOffer>): World => ({
  ...WORLD,
  buckets: WORLD.buckets.map((offer) => ({ ...offer, ...change })),
});
const instead = (old: RankedDemand, other: RankedDemand): readonly RankedDemand[] =>
  DEMANDS.map((one) => (one === old ? other : one));
const PAUSE: Reason = {
  code: "backing-off",
  bucket: at("A4"),
  until: plusSeconds(NOW, 60),
  message: "",
};
const OTHER = placementGroup("pg-other-1");
const needs = (id: string, ncpus: number): RankedDemand => job(id, needing({ ncpus }), 1);

const EMPTY: Outcome["binding"] = { kind: "raise", raises: [] };

interface Planted {
  readonly name: string;
  readonly expected: string;
  readonly world?: World;
  readonly demands?: readonly RankedDemand[];
  readonly answer?: Allocation;
}

const PLANTED: readonly Planted[] = [
  {
    name: "a slot moved to a full node",
    answer: loads(
      on("n1", part("packed", 2), part("licensed", 1)),
      on("n3", part("packed", 1, true), part("packed", 4)),
    ),
    expected: "n3: 4 ncpus taken, 3 free",
  },
  {
    name: "a slot lost",
    answer: loads(on("n1", part("packed", 2), part("licensed", 1))),
    expected: "s/packed: 7 promised, 5 put and 1 bound",
  },
  {
    name: "half a slot",
    answer: loads(on("n1", part("packed", 2.5), part("licensed", 1))),
    expected: "2.5 slots of s/packed",
  },
  {
    name: "slots of nobody",
    answer: loads(on("n1", part("packed", 3), part("ghost", 1))),
    expected: "slots of s/ghost, which is no job",
  },
  {
    name: "a task that runs forgotten",
    answer: loads(on("n3", part("packed", 4))),
    expected: "s/packed: 1 run on host-n3, and 0 are bound",
  },
  {
    name: "a task bound where it does not run",
    answer: loads(on("n1", part("packed", 1, true), part("licensed", 1))),
    expected: "s/packed: 0 run on host-n1, and 1 are bound",
  },
  {
    name: "one node too many",
    answer: creates({ ...FOR_GANG, count: 3 }, FOR_GROUP),
    expected: "cluster : 6 nodes taken, 5 left",
  },
  {
    name: "a create of nothing",
    answer: creates(FOR_GANG, FOR_GROUP, { ...FOR_GANG, count: 0 }),
    expected: "0 created in alpha/a4/pg-alpha-A4-1",
  },
  {
    name: "a node of no bucket",
    answer: creates(FOR_GANG, FOR_GROUP, { ...FOR_GANG, bucket: at("C1") }),
    expected: "created in alpha/c1/, which is no bucket",
  },
  {
    name: "loads on nodes that nobody makes",
    answer: loads({ ...GANGS, count: 3 }),
    expected: "3 loads at planned alpha/a4/pg-alpha-A4-1 , 2 nodes",
  },
  {
    name: "a group split",
    answer: creates(
      FOR_GANG,
      { ...FOR_GROUP, count: 1 },
      { ...FOR_GROUP, count: 1, bucket: at("B8", OTHER) },
    ),
    expected: "alpha/b8/pg-alpha-2n-1 is made and not whole",
  },
  {
    name: "a group's node elsewhere",
    answer: creates(FOR_GANG, { ...FOR_GROUP, bucket: at("B8", OTHER) }),
    expected: "a node of pg-alpha-2n-1 lies elsewhere",
  },
  {
    name: "a group promised and not made",
    answer: creates(FOR_GANG),
    expected: "s/groups: 1 groups promised, 0 whole",
  },
  { name: "a floor that is not there", answer: creates(FOR_GANG), expected: "s/floor: 8 promised, 6 held" },
  {
    name: "a gang in two groups",
    answer: gangs([1, 2, at("A4", GANG)], [1, 2, at("A4", OTHER)]),
    expected: "s/gang is split over placement groups",
  },
  {
    name: "a gang in two buckets",
    answer: gangs([1, 2, at("A4", GANG)], [1, 2, at("B8", GANG)]),
    expected: "s/gang is split over buckets",
  },
  {
    name: "a colocated gang in no group",
    answer: gangs([2, 2, at("A4")]),
    expected: "s/gang is in no placement group",
  },
  {
    name: "a gang on one node",
    answer: gangs([1, 4, at("A4", GANG)]),
    expected: "s/gang has 4 slots of 2 on a node",
  },
  {
    name: "a gang in part",
    answer: {
      ...gangs([1, 2, at("A4", GANG)]),
      outcomes: outcomes("gang", { placed: 2, pending: 2, reasons: [REASON] }).outcomes,
    },
    expected: "s/gang is placed in part",
  },
  {
    name: "company for one who wants none",
    answer: loads({ ...FLYING, jobs: [part("alone", 1), part("licensed", 1)] }, on("n1", part("packed", 3))),
    expected: "s/alone is not alone on alpha/b8/",
  },
  {
    name: "two exclusive slots on a node",
    answer: loads({ ...FLYING, jobs: [part("alone", 2)] }),
    expected: "s/alone has 2 slots on alpha/b8/",
  },
  {
    name: "a node with slots that nobody needs",
    answer: { ...ANSWER, needed: new Map([...ANSWER.needed].slice(1)) },
    expected: "n1 carries s/packed and is not needed",
  },
  {
    name: "a node needed by somebody else",
    answer: { ...ANSWER, needed: new Map([...ANSWER.needed, [nodeId("n1"), ["s/packed"]]]) },
    expected: "n1 carries s/licensed, which is not named",
  },
  {
    name: "a need of what is not there",
    answer: { ...ANSWER, needed: new Map([...ANSWER.needed, [nodeId("n9"), []]]) },
    expected: "n9 is needed and not there",
  },
  {
    name: "no reason",
    answer: outcomes("short", { reasons: [] }),
    expected: "s/short: 0 placed of 1 with 0 reasons",
  },
  {
    name: "a reason for nothing",
    answer: outcomes("alone", { reasons: [REASON] }),
    expected: "s/alone: 1 placed of 1 with 1 reasons",
  },
  {
    name: "another demand's number",
    answer: outcomes("gang", { asked: 2 }),
    expected: "s/gang asked 4, not 2",
  },
  {
    name: "more than was asked",
    answer: outcomes("alone", { placed: 2 }),
    expected: "s/alone: 2 placed of 1",
  },
  {
    name: "no outcome",
    answer: { ...ANSWER, outcomes: ANSWER.outcomes.slice(1) },
    expected: "s/packed has no outcome",
  },
  {
    name: "pending that is up",
    answer: outcomes("packed", { pending: 1 }),
    expected: "s/packed: 1 pending, 0 on nodes that are not up",
  },
  {
    name: "new nodes in a bucket that backs off",
    world: offers({ refusal: PAUSE }),
    expected: "created in alpha/a4/pg-alpha-A4-1, which is refused",
  },
  {
    name: "a start in a bucket that backs off",
    world: offers({ refusal: PAUSE }),
    expected: "started in alpha/a4/, which is refused",
  },
  {
    name: "new nodes in a group that backs off",
    world: offers({ groupRefusals: new Map([[GANG, PAUSE]]) }),
    expected: "created in alpha/a4/pg-alpha-A4-1, a group that is paused",
  },
  {
    name: "a fresh group while another backs off",
    world: offers({ groupRefusals: new Map([[OTHER, PAUSE]]) }),
    expected: "created in alpha/a4/pg-alpha-A4-1, which evades a pause",
  },
  {
    name: "new nodes in a cluster that is off",
    world: { ...WORLD, closed: REASON },
    expected: "created in alpha/a4/pg-alpha-A4-1, and the cluster is closed",
  },
  {
    name: "a group outside the array's own",
    world: offers({ pinnedGroup: OTHER }),
    expected: "created in alpha/a4/pg-alpha-A4-1, and all nodes go to pg-other-1",
  },
  {
    name: "a group of a size that has none",
    world: { ...WORLD, buckets: WORLD.buckets.map(({ maxPlacementGroupSize: _size, ...offer }) => offer) },
    expected: "created in alpha/a4/pg-alpha-A4-1, and that size has no groups",
  },
  {
    name: "a placement group too large",
    world: offers({ maxPlacementGroupSize: 1 }),
    expected: "alpha/a4/pg-alpha-A4-1 has 2 nodes of at most 1",
  },
  {
    name: "a fresh name used twice",
    answer: gangs([1, 2, at("A4", GROUP)], [1, 2, at("A4", GANG)]),
    expected: "pg-alpha-2n-1 is the name of alpha/a4, alpha/b8",
  },
  {
    name: "spot for a job that refuses it",
    world: offers({ spot: true }),
    expected: "s/packed is on n1, which does not meet its constraints",
  },
  {
    name: "the wrong array",
    demands: instead(
      PACKED,
      job("packed", [...needing({ ncpus: 1 }), inArrays("beta")], 7, { placed: PACKED.demand.placed }),
    ),
    expected: "s/packed is on n1, which does not meet its constraints",
  },
  {
    name: "a node that is up started",
    answer: { ...ANSWER, starts: [nodeId("n2"), nodeId("n1")] },
    expected: "n1 is started and is not deallocated",
  },
  {
    name: "a node started twice",
    answer: { ...ANSWER, starts: [nodeId("n2"), nodeId("n2")] },
    expected: "started twice",
  },
  {
    name: "a node used and not started",
    answer: { ...ANSWER, starts: [] },
    expected: "n2 is needed and stays deallocated",
  },
  {
    name: "a new node where one could be started",
    answer: {
      ...loads({ ...N2, origin: "planned" }),
      starts: [],
      creates: [FOR_GANG, FOR_GROUP, { ...FOR_GANG, count: 1, bucket: at("A4") }],
    },
    expected: "n2 stays deallocated, and a new one is made in its place",
  },
  {
    name: "a pool drained",
    world: { ...WORLD, pools: [{ name: "licence", total: 2, used: 2 }] },
    expected: "s/licensed is on n1, which does not meet its constraints",
  },
  {
    name: "a pool overdrawn",
    demands: instead(LICENSED, { ...LICENSED, demand: { ...LICENSED.demand, iterations: 2 } }),
    answer: loads(on("n1", part("packed", 3), part("licensed", 2))),
    expected: "pool licence: 2 taken, 1 left",
  },
  {
    name: "two slots that take nothing on one node",
    demands: instead(PACKED, { ...PACKED, demand: { ...PACKED.demand, constraints: [] } }),
    expected: "s/packed asks for no amount, and has 3 slots on n1",
  },
  ...[{}, { binding: EMPTY }, { binding: { kind: "no-raise" as const, reason: FULL } }].map((told) => ({
    name: `what is unmet without a remedy: ${JSON.stringify(told)}`,
    answer: {
      ...ANSWER,
      outcomes: ANSWER.outcomes.map((one) =>
        one.id === "short" ? outcome("short", "slots", 1, 0, { placed: 0, reasons: [REASON], ...told }) : one,
      ),
    },
    expected: "s/short: nobody says what would place it, or what stands",
  })),
  { name: "a cap exceeded", world: CAPPED, expected: "user ann: 1 nodes held of 0" },
  {
    name: "a node left over",
    world: { ...WORLD, nodes: [...WORLD.nodes, nodeOf("n4")] },
    demands: instead(SHORT, needs("short", 4)),
    expected: "n4 is left over, and s/short is short",
  },
  {
    name: "room left",
    world: { ...WORLD, limits: WORLD.limits.map((limit) => ({ ...limit, left: 6 })) },
    demands: instead(SHORT, needs("short", 4)),
    expected: "alpha/A4 has room, and s/short is short",
  },
];

test.each(PLANTED)("finds $name", ({ world = WORLD, demands = DEMANDS, answer = ANSWER, expected }) => {
  expect(findFaults(world, demands, answer, NOW)).toContain(expected);
});
