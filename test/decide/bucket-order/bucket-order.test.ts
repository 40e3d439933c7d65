import { expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import type { Allocation } from "../../../src/domain/allocation.ts";
import type { BucketOffer, SharedLimit, World } from "../../../src/domain/world.ts";
import { bucketText } from "../../../src/domain/bucket.ts";
import type { JobDemand, RankedDemand } from "../../../src/domain/demand.ts";
import { arrayName, machineType, nodeId, placementGroup, setName } from "../../../src/domain/ids.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import { instant } from "../../../src/domain/units.ts";
import { readConstraints } from "../../../src/wire/constraint.ts";
import { newNotes } from "../../../src/wire/notes.ts";

const policy = {
  groupPrefix: "pg-",
  groupFillSeconds: 600,
  preference: "bucket-order",
  among: "priority",
} as const;

/** "execute/D4" or "execute/D4/group". */
function bucket(at: string) {
  const [array = "", type = "", group] = at.split("/");
  const key = { array: arrayName(array), machineType: machineType(type) };
  return group === undefined ? key : { ...key, placementGroup: placementGroup(group) };
}

/** Each bucket has a limit of its own: limit i is that of bucket i, in nodes. */
function world(
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

function node(id: string, at: string, more: Partial<World["nodes"][number]> = {}): World["nodes"][number] {
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

/** All cores of a node, and a licence, as the only alternative that can hold. */
const fourAndLicence: JobDemand["constraints"] = [
  { kind: "amount", resource: "ncpus", amount: 4 },
  {
    kind: "or",
    of: [
      { kind: "never", message: "no" },
      { kind: "pool", pool: "lic", amount: 1 },
    ],
  },
];

type Written = Partial<JobDemand> & { readonly asks?: unknown };

/** Jobs in the order of rank; `asks` is written as in a message. */
function jobs(...written: readonly Written[]): readonly RankedDemand[] {
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
function uses({ orders = [] }: Allocation): readonly string[] {
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

interface Scenario {
  readonly name: string;
  readonly world: World;
  readonly jobs: readonly RankedDemand[];
  readonly uses: readonly string[];
  readonly reasons?: readonly string[];
  readonly starts?: readonly string[];
}

const twoArrays = world([
  { at: "a/D4", room: 2 },
  { at: "b/D4", room: 5 },
]);
/** Three nodes with a GPU and six cores, one of which is there, and two of four cores. */
const gpu = { resources: { ncpus: 6, ngpus: 1 } };
const gpus = world([
  { at: "a/G6", room: 2, more: gpu },
  { at: "b/D4", room: 2, more: { resources: { ncpus: 4, ngpus: 0 } } },
]);
const gpuNode = node("n1", "a/G6", gpu);
const gpuOrTwo = { or: [{ ngpus: 1 }, { ncpus: 2 }] };
const grouped = (groups: readonly string[], more: Partial<BucketOffer> = {}): Partial<BucketOffer> => ({
  groupSizes: new Map(groups.map((group) => [placementGroup(group), 0])),
  maxPlacementGroupSize: 3,
  ...more,
});

test.each<Scenario>([
  {
    name: "a new node of an earlier bucket goes before an idle one of a later",
    world: { ...twoArrays, nodes: [node("n1", "b/D4")] },
    jobs: jobs({ iterations: 9 }),
    uses: ["j0: 2x4 new a/D4", "j0: 1x1 n1 b/D4"],
  },
  {
    name: "arrays stand as the status lists them, whatever the order of the offers",
    world: { ...twoArrays, buckets: twoArrays.buckets.toReversed() },
    jobs: jobs({}),
    uses: ["j0: 1x1 new a/D4"],
  },
  {
    name: "inside a bucket nodes by number, then what the plan makes there, then new ones",
    world: world([{ at: "a/D4", room: 5 }], { nodes: [node("a-10", "a/D4"), node("a-9", "a/D4")] }),
    jobs: jobs({ iterations: 9 }, { iterations: 8 }),
    uses: [
      "j0: 1x4 a-9 a/D4",
      "j0: 1x4 a-10 a/D4",
      "j0: 1x1 new a/D4",
      "j1: 1x3 planned a/D4",
      "j1: 1x4 new a/D4",
      "j1: 1x1 new a/D4",
    ],
  },
  {
    name: "a list of sizes is an order of preference, and so is an or",
    world: world([
      { at: "a/D4", room: 1 },
      { at: "a/D8", room: 1 },
      { at: "a/F4", room: 1 },
    ]),
    jobs: jobs(
      { asks: [{ "node.vm_size": ["F4", "D8"] }, { ncpus: 4 }], iterations: 3 },
      { asks: [{ or: [{ "node.vm_size": "D8" }, { "node.vm_size": "D4" }] }, { ncpus: 4 }] },
    ),
    uses: ["j0: 1x1 new a/F4", "j0: 1x1 new a/D8", "j1: 1x1 new a/D4"],
    reasons: [
      "j0: bucket a/F4: 1 of 1 nodes used, 1 more needed, 0 left",
      "j0: bucket a/D8: 1 of 1 nodes used, 1 more needed, 0 left",
      "j0: a/D4: node.vm_size is D4, asked is F4 or D8",
    ],
  },
  {
    name: "groups that the status lists come before no group",
    world: world([
      { at: "a/D4", room: 9, more: grouped(["listed"]) },
      { at: "b/D4", room: 9, more: { maxPlacementGroupSize: 3 } },
    ]),
    jobs: jobs({ iterations: 100 }),
    uses: ["j0: 3x4 new a/D4/listed", "j0: 6x4 new a/D4", "j0: 9x4 new b/D4"],
    reasons: [
      "j0: bucket a/D4: 9 of 9 nodes used, 7 more needed, 0 left",
      "j0: bucket b/D4: 9 of 9 nodes used, 7 more needed, 0 left",
    ],
  },
  {
    name: "a job that must be in a group gets a generated one where there is no other",
    world: world([{ at: "a/D4", room: 9, more: { maxPlacementGroupSize: 3 } }]),
    jobs: jobs(
      { asks: [{ ncpus: 4 }, { "in-a-placement-group": true }], nodeCount: 3, colocated: true },
      { asks: [{ ncpus: 4 }, { "in-a-placement-group": true }], nodeCount: 2, colocated: true },
    ),
    uses: ["j0: 3x1 new a/D4/D4_pg0", "j1: 2x1 new a/D4/D4_pg1"],
  },
  {
    name: "the groups of one size share what is available (defect 10)",
    world: world([{ at: "a/D4", room: 4, more: grouped(["g", "h"]) }]),
    jobs: jobs({ nodeCount: 3, asks: { ncpus: 4 } }, { nodeCount: 2, asks: { ncpus: 4 } }),
    uses: ["j0: 3x1 new a/D4/g"],
    reasons: [
      "j1: placement group a/D4/g: 3 of 3 nodes used, 2 more needed, 0 left",
      "j1: bucket a/D4: 3 of 4 nodes used, 2 more needed, 1 left",
    ],
  },
  {
    name: "what goes whole or not at all leaves no trace where it does not fit (defects 15 and 16)",
    world: { ...twoArrays, nodes: [node("n1", "a/D4")] },
    jobs: jobs({ nodeCount: 4, asks: { ncpus: 4, exclusive: true } }, { iterations: 12 }),
    uses: ["j0: 4x1 new b/D4", "j1: 1x4 n1 a/D4", "j1: 2x4 new a/D4"],
  },
  {
    name: "nodes of a full bucket are used while they have room (defect 9)",
    world: world([{ at: "a/D4", room: 1 }]),
    jobs: jobs({}, { iterations: 2 }),
    uses: ["j0: 1x1 new a/D4", "j1: 1x2 planned a/D4"],
  },
  {
    name: "of alternatives each node is filled by the one that holds first there, new ones too",
    world: { ...gpus, nodes: [gpuNode] },
    jobs: jobs({ asks: gpuOrTwo, iterations: 3 }),
    uses: ["j0: 1x1 n1 a/G6", "j0: 2x1 new a/G6"],
  },
  {
    name: "where that does not do, also in later buckets, nodes are used while another alternative has room (defect 9)",
    world: { ...gpus, nodes: [gpuNode] },
    jobs: jobs({ asks: gpuOrTwo, iterations: 9 }),
    uses: ["j0: 1x1 n1 a/G6", "j0: 2x1 new a/G6", "j0: 2x2 new b/D4", "j0: 1x2 n1 a/G6"],
  },
  {
    name: "a colocated job is in the first bucket where the alternative that holds first suffices, else in the first where any does",
    world: { ...gpus, nodes: [gpuNode] },
    jobs: jobs(
      { asks: gpuOrTwo, iterations: 4, colocated: true },
      { asks: gpuOrTwo, iterations: 4, colocated: true },
    ),
    uses: ["j0: 2x2 new b/D4", "j1: 1x4 n1 a/G6"],
  },
  {
    name: "an exclusive job has one slot a node (defect 11), a job that asks for nothing too",
    world: world([{ at: "a/D4", room: 9 }]),
    jobs: jobs({ asks: { exclusive: true }, iterations: 2 }, { asks: [], iterations: 2 }, { asks: [] }),
    uses: ["j0: 2x1 new a/D4", "j1: 2x1 new a/D4", "j2: 1x1 planned a/D4"],
  },
  {
    name: "starting a deallocated node takes from the limits what a new one would",
    world: world([{ at: "a/D4", room: 2 }], {
      nodes: [node("n1", "a/D4", { deallocated: true, ready: false })],
    }),
    jobs: jobs({ iterations: 12 }, { asks: { ncpus: 4 } }),
    uses: ["j0: 1x4 n1 a/D4", "j0: 1x4 new a/D4"],
    reasons: [
      "j0: bucket a/D4: 2 of 2 nodes used, 1 more needed, 0 left",
      "j1: bucket a/D4: 2 of 2 nodes used, 1 more needed, 0 left",
    ],
    starts: ["n1"],
  },
  {
    name: "of some nodes as many as can be had, in any buckets",
    world: twoArrays,
    jobs: jobs({ nodeCount: 8, partial: true, asks: { ncpus: 4 } }),
    uses: ["j0: 2x1 new a/D4", "j0: 5x1 new b/D4"],
    reasons: [
      "j0: bucket a/D4: 2 of 2 nodes used, 1 more needed, 0 left",
      "j0: bucket b/D4: 5 of 5 nodes used, 1 more needed, 0 left",
    ],
  },
  {
    name: "a node task is not put once more on a host that it runs on",
    world: world([{ at: "a/D4", room: 9 }], { nodes: [node("n1", "a/D4", { hostname: "h1" })] }),
    jobs: jobs({ nodeCount: 2, partial: true, placed: [{ hostname: "h1", iterations: 1 }] }),
    uses: ["j0: 1x1 new a/D4"],
  },
  {
    name: "a host that only the scheduler knows comes first, and nothing is made there",
    world: world(
      [
        { at: "a/D4", room: 9 },
        { at: "own/unknown", room: 9, more: { onlyFor: [setName("s")] } },
      ],
      { nodes: [node("h1", "own/unknown", { onlyFor: [setName("s")] })] },
    ),
    jobs: jobs({ iterations: 6 }),
    uses: ["j0: 1x4 h1 own/unknown", "j0: 1x2 new a/D4"],
  },
  {
    name: "a node task with alternatives fills its own node by all of them",
    world: world([{ at: "a/D4", room: 1, more: { resources: { ncpus: 4, mem: 8 } } }]),
    jobs: jobs({ asks: [{ or: [{ mem: 4 }, { ncpus: 1 }] }, { "exclusive-task": true }], iterations: 6 }),
    uses: ["j0: 1x2 new a/D4", "j0: 1x4 new a/D4"],
  },
  {
    name: "and nobody else joins it there",
    world: world([{ at: "a/D4", room: 1, more: { resources: { ncpus: 4, mem: 8 } } }]),
    jobs: jobs(
      { asks: [{ or: [{ mem: 4 }, { ncpus: 1 }] }, { "exclusive-task": true }], iterations: 3 },
      { asks: [{ or: [{ mem: 4 }, { ncpus: 1 }] }, { "exclusive-task": true }] },
    ),
    uses: ["j0: 1x2 new a/D4", "j0: 1x1 new a/D4"],
    reasons: ["j1: bucket a/D4: 1 of 1 nodes used, 1 more needed, 0 left"],
  },
  {
    name: "a pool: by slot, and once for a job",
    world: world([{ at: "a/D4", room: 9 }], {
      pools: [
        { name: "lic", total: 5, used: 0 },
        { name: "seat", total: 1, used: 0 },
      ],
    }),
    jobs: jobs(
      { constraints: [{ kind: "pool", pool: "lic", amount: 2 }], iterations: 4 },
      { constraints: [{ kind: "pool", pool: "seat", amount: 1, once: true }], iterations: 4 },
      { constraints: [{ kind: "pool", pool: "seat", amount: 1, once: true }] },
    ),
    uses: ["j0: 2x1 new a/D4", "j1: 2x1 planned a/D4", "j1: 2x1 new a/D4"],
    reasons: [
      "j0: pool lic: 8 more needed, 5 left",
      "j2: pool seat: 1 more needed, 0 left",
      "j2: a/D4: pool seat: 1 asked, 0 left",
    ],
  },
  {
    name: "pools that alternatives take from are never overdrawn; what goes whole needs them for all its units",
    world: world([{ at: "a/D4", room: 9 }], { pools: [{ name: "lic", total: 3, used: 0 }] }),
    jobs: jobs(
      { constraints: fourAndLicence, iterations: 4, colocated: true },
      { constraints: fourAndLicence, iterations: 2, colocated: true },
      { constraints: fourAndLicence, iterations: 4 },
    ),
    uses: ["j1: 1x1 new a/D4", "j1: 1x1 new a/D4", "j2: 1x1 new a/D4"],
    reasons: [
      "j0: pool lic: 0 of 3 used, 4 more needed, 3 left",
      "j2: pool lic: 3 of 3 used, 3 more needed, 0 left",
    ],
  },
  {
    name: "a node that was split off counts against a cap once",
    world: world([{ at: "a/G6", room: 9, more: { resources: { ncpus: 6 } } }], {
      caps: [{ kind: "request-set", name: "s", unit: "nodes", max: 3 }],
    }),
    jobs: jobs(
      { asks: { ncpus: 4 }, iterations: 2 },
      { asks: { ncpus: 1 } },
      { asks: { ncpus: 1 }, iterations: 2 },
      { asks: { ncpus: 6 } },
    ),
    uses: [
      "j0: 2x1 new a/G6",
      "j1: 1x1 planned a/G6",
      "j2: 1x1 planned a/G6",
      "j2: 1x1 planned a/G6",
      "j3: 1x1 new a/G6",
    ],
  },
  {
    name: "a gang that runs in a placement group already gets the rest there",
    world: world([{ at: "a/D4", room: 9, more: grouped(["g", "h"]) }], {
      nodes: [node("n1", "a/D4/h", { hostname: "host1" })],
    }),
    jobs: jobs({
      nodeCount: 2,
      colocated: true,
      asks: [{ ncpus: 4 }, { "in-a-placement-group": true }],
      placed: [{ hostname: "host1", iterations: 1 }],
    }),
    uses: ["j0: 1x1 new a/D4/h"],
  },
  {
    name: "a bucket that is not valid gets nothing new; a job that fits nowhere says why",
    world: world([
      {
        at: "a/D4",
        room: 9,
        more: { refusal: { code: "bucket-invalid", bucket: bucket("a/D4"), why: "gone" } },
      },
      { at: "a/D8", room: 9 },
    ]),
    jobs: jobs({ asks: { ncpus: 5 } }),
    uses: [],
    reasons: [
      "j0: a/D4: ncpus: 5 asked of one node, 4 offered",
      "j0: a/D8: ncpus: 5 asked of one node, 4 offered",
    ],
  },
])("$name", (scenario) => {
  const answer = allocate(scenario.world, scenario.jobs, policy, instant(0));
  expect(uses(answer)).toEqual(scenario.uses);
  expect(answer.starts).toEqual(scenario.starts ?? []);
  const reasons = answer.outcomes.flatMap(({ id, reasons: why }) =>
    why.map((one) => `${id}: ${renderReason(one)}`),
  );
  expect(reasons).toEqual(scenario.reasons ?? []);
});
