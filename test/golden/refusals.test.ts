import { describe, expect, test } from "vitest";
import { allocate } from "../../src/decide/search/allocate.ts";
import { gatherReasons } from "../../src/decide/why/fold-reasons.ts";
import { Capacity } from "../../src/decide/draft/capacity.ts";
import { Budget } from "../../src/decide/constraints/budget.ts";
import { smallestRaise } from "../../src/decide/why/smallest-raise.ts";
import type { World } from "../../src/domain/world.ts";
import { renderRemedy } from "../../src/domain/remedy.ts";
import type { JobDemand, RankedDemand } from "../../src/domain/demand.ts";
import { arrayName, placementGroup } from "../../src/domain/ids.ts";
import type { Reason } from "../../src/domain/reason.ts";
import { renderReason } from "../../src/domain/reason-text.ts";
import { instant } from "../../src/domain/units.ts";
import { readConstraints } from "../../src/wire/constraint.ts";
import { EXCLUSIVE, inArrays, needing } from "../support/build-constraints.ts";
import { bucket, groups, job, limit, node, NOW, offer, target, world } from "./small-world.ts";
import { newNotes } from "../../src/wire/notes.ts";
import type { OwnCeiling } from "../../src/decide/draft/caps.ts";
import { capRefusal, spanRefusal, spotRefusal, startRefusal } from "../../src/decide/draft/refusals.ts";

/** What an operator reads when something cannot be had, worked out by hand: which limit, its numbers, and the smallest change that helps. */

const policy = {
  groupPrefix: "pg-",
  groupFillSeconds: 600,
  preference: "existing-first",
  among: "priority",
} as const;

interface Golden {
  readonly name: string;
  readonly world: World;
  readonly demand: RankedDemand;
  readonly others?: readonly RankedDemand[];
  /** "placed of asked". */
  readonly placed: string;
  readonly reasons: readonly string[];
  readonly binding?: string;
}

/** Constraints as a job's JSON has them. */
function asking(...json: readonly object[]): Partial<JobDemand> {
  return { constraints: readConstraints(json, "", newNotes()) };
}

const gib = (amount: number) => ({ resources: { ncpus: 8, mem: { amount, unit: "g" as const } } });
const sized = (at: string, amount: number) => offer(at, 8, [], gib(amount));
const withDisk = (at: string, disk: string) => offer(at, 8, [], { resources: { ncpus: 8, disk } });

describe("golden refusals", () => {
  test.each<Golden>([
    {
      // 20 slots need 5 nodes of 4; 2 nodes are left, so 12 slots and 3 nodes are missing.
      name: "nodes of the cluster",
      world: world([offer("execute/D4", 4, [1])], [limit("cluster", "", "nodes", 10, 12)]),
      demand: job({ iterations: 20 }),
      placed: "8 of 20",
      reasons: ["cluster: 12 of 12 nodes used, 3 more needed, 0 left"],
      binding: "3 more nodes of the cluster would place all of it",
    },
    {
      name: "cores of the cluster",
      world: world([offer("execute/D4", 4, [4])], [limit("cluster", "", "cores", 40, 50)]),
      demand: target(4),
      placed: "2 of 4",
      reasons: ["cluster: 48 of 50 cores used, 8 more needed, 2 left"],
      binding: "6 more cores of the cluster would place all of it",
    },
    {
      name: "nodes of a node array",
      world: world([offer("execute/D4", 4, [1])], [limit("nodearray", "execute", "nodes", 5, 5)]),
      demand: target(1),
      placed: "0 of 1",
      reasons: ["node array execute: 5 of 5 nodes used, 1 more needed, 0 left"],
      binding: "1 more node of node array execute would place all of it",
    },
    {
      name: "cores of a node array, for a gang: all or nothing",
      world: world([offer("execute/D4", 4, [4])], [limit("nodearray", "execute", "cores", 100, 110)]),
      demand: job({ nodeCount: 3 }),
      placed: "0 of 3",
      reasons: ["node array execute: 100 of 110 cores used, 12 more needed, 10 left"],
      binding: "2 more cores of node array execute would place all of it",
    },
    {
      name: "a family quota and the array's nodes bind together: both are named",
      world: world(
        [offer("execute/HB120", 120, [120, 1])],
        [
          limit("family-quota", "standardHBv3Family", "cores", 480, 600),
          limit("nodearray", "execute", "nodes", 4, 5),
        ],
      ),
      demand: target(4),
      placed: "1 of 4",
      reasons: ["family quota standardHBv3Family: 600 of 600 cores used, 360 more needed, 0 left"],
      binding:
        "360 more cores of family quota standardHBv3Family and 3 more nodes of node array execute would place all of it",
    },
    {
      name: "groups, where no VM size has placement groups: as many ordinary nodes do not come either",
      world: world(
        [offer("execute/HB120", 120, [120, 1])],
        [
          limit("family-quota", "standardHBv3Family", "cores", 0, 120),
          limit("nodearray", "execute", "nodes", 0, 5),
        ],
      ),
      demand: groups(1, 2),
      placed: "0 of 1",
      reasons: ["family quota standardHBv3Family: 0 of 120 cores used, 240 more needed, 120 left"],
      binding: "120 more cores of family quota standardHBv3Family would place all of it",
    },
    {
      // Of two groups of two nodes one has a node already: three are needed, one can be had, and makes the first group whole.
      name: "groups outside of placement groups, one of which an ordinary node belongs to",
      world: world([offer("execute/D4", 4, [1])], [limit("nodearray", "execute", "nodes", 1, 2)], {
        nodes: [node("n1", "execute/D4")],
      }),
      demand: groups(2, 2),
      placed: "1 of 2",
      reasons: ["node array execute: 2 of 2 nodes used, 2 more needed, 0 left"],
      binding: "2 more nodes of node array execute would place all of it",
    },
    {
      name: "groups, where one of two VM sizes has no placement groups",
      world: world(
        [offer("execute/D4", 4, [0, 1]), offer("execute/HB120", 120, [120, 1], { maxPlacementGroupSize: 4 })],
        [
          limit("family-quota", "standardHBv3Family", "cores", 0, 120),
          limit("nodearray", "execute", "nodes", 0, 5),
        ],
      ),
      demand: groups(1, 2),
      placed: "0 of 1",
      reasons: [
        "family quota standardHBv3Family: 0 of 120 cores used, 240 more needed, 120 left",
        "execute/D4: this VM size has no placement groups here",
      ],
      binding: "120 more cores of family quota standardHBv3Family would place all of it",
    },
    {
      name: "a regional quota",
      world: world(
        [offer("execute/D16", 16, [16])],
        [limit("regional-quota", "westeurope", "cores", 90, 100)],
      ),
      demand: job({ constraints: needing({ ncpus: 16 }) }),
      placed: "0 of 1",
      reasons: ["regional quota westeurope: 90 of 100 cores used, 16 more needed, 10 left"],
      binding: "6 more cores of regional quota westeurope would place all of it",
    },
    {
      name: "a regional spot quota",
      world: world(
        [offer("execute/D16", 16, [16], { spot: true })],
        [limit("regional-spot-quota", "westeurope", "cores", 0, 8)],
      ),
      demand: target(2),
      placed: "0 of 2",
      reasons: ["regional spot quota westeurope: 0 of 8 cores used, 32 more needed, 8 left"],
      binding: "24 more cores of regional spot quota westeurope would place all of it",
    },
    {
      name: "a bucket's availability, shared by no other",
      world: world(
        [offer("execute/D4", 4, [1]), offer("execute/D8", 8, [0, 1])],
        [limit("bucket", "execute/D4", "nodes", 2, 3), limit("bucket", "execute/D8", "nodes", 0, 1)],
      ),
      demand: target(4),
      placed: "2 of 4",
      reasons: [
        "bucket execute/D4: 3 of 3 nodes used, 2 more needed, 0 left",
        "bucket execute/D8: 1 of 1 nodes used, 2 more needed, 0 left",
      ],
      // Two more of three is less than two more of one.
      binding: "2 more nodes of bucket execute/D4 would place all of it",
    },
    {
      name: "the one placement group of an array",
      world: world([
        offer("execute/D4", 4, [], {
          maxPlacementGroupSize: 4,
          pinnedGroup: placementGroup("rack"),
          groupSizes: new Map([[placementGroup("rack"), 3]]),
        }),
      ]),
      demand: target(2),
      placed: "1 of 2",
      reasons: ["placement group execute/D4/rack: 4 of 4 nodes used, 1 more needed, 0 left"],
      binding: "1 more node in one placement group of execute/D4 would place all of it",
    },
    {
      name: "a colocated job larger than any placement group",
      world: world([
        offer("execute/D4", 4, [], { maxPlacementGroupSize: 4 }),
        offer("execute/D8", 8, [], { maxPlacementGroupSize: 4 }),
        offer("execute/D16", 16, [], { maxPlacementGroupSize: 4 }),
      ]),
      demand: job({ colocated: true, iterations: 80 }),
      placed: "0 of 80",
      reasons: [
        "execute/D4, execute/D8, execute/D16: 5 to 20 nodes in one placement group asked, at most 4 possible",
      ],
      binding: "1 more node in one placement group of execute/D16 would place all of it",
    },
    {
      name: "a pool of licences",
      world: world([offer("execute/D4", 4, [])], [], { pools: [{ name: "lic", total: 10, used: 8 }] }),
      demand: job({ iterations: 5, ...asking({ ncpus: 1, pool: { lic: 1 } }) }),
      placed: "2 of 5",
      reasons: ["pool lic: 8 of 10 used, 5 more needed, 2 left"],
      binding: "3 more of pool lic would place all of it",
    },
    {
      // 6 slots have 4 licences, and one node has room for 4 of them: 2 licences and a node are missing.
      name: "a pool and a limit bind together",
      world: world([offer("execute/D4", 4, [1])], [limit("cluster", "", "nodes", 0, 1)], {
        pools: [{ name: "lic", total: 4, used: 0 }],
      }),
      demand: job({ iterations: 6, ...asking({ ncpus: 1, pool: { lic: 1 } }) }),
      placed: "4 of 6",
      reasons: ["pool lic: 0 of 4 used, 6 more needed, 4 left"],
      binding: "2 more of pool lic and 1 more node of the cluster would place all of it",
    },
    {
      name: "every bucket that would do is pausing",
      world: world([
        offer("execute/D4", 4, [], {
          refusal: {
            code: "backing-off",
            bucket: bucket("execute/D4"),
            until: instant(NOW + 120_000),
            message: "SkuNotAvailable",
          },
        }),
        offer("execute/D8", 8, [], {
          refusal: {
            code: "backing-off",
            bucket: bucket("execute/D8"),
            until: instant(NOW + 60_000),
            message: "ZonalAllocationFailed",
          },
        }),
      ]),
      demand: job(),
      placed: "0 of 1",
      reasons: [
        "execute/D4: pausing until 2025-11-20T11:02:00.000Z after: SkuNotAvailable",
        "execute/D8: pausing until 2025-11-20T11:01:00.000Z after: ZonalAllocationFailed",
      ],
      binding: "execute/D8 is tried again at 2025-11-20T11:01:00.000Z",
    },
    {
      name: "CycleCloud calls the bucket invalid",
      world: world([
        offer("execute/D4", 4, [], {
          refusal: { code: "bucket-invalid", bucket: bucket("execute/D4"), why: "DisabledMachineType" },
        }),
      ]),
      demand: target(1),
      placed: "0 of 1",
      reasons: ["execute/D4: CycleCloud offers no new nodes here (DisabledMachineType)"],
      binding:
        "no raise of a limit helps: execute/D4: CycleCloud offers no new nodes here (DisabledMachineType)",
    },
    {
      name: "more cores than any of twelve VM sizes has",
      world: world(
        [2, 4, 8, 12, 16, 20, 24, 32, 36, 48, 60, 64].map((cores) => offer(`execute/F${cores}`, cores, [])),
      ),
      demand: job({ constraints: needing({ ncpus: 128 }) }),
      placed: "0 of 1",
      reasons: ["12 VM sizes of execute: ncpus 128 asked of one node, at most 64 offered"],
      binding:
        "no raise of a limit helps: needs 128 ncpus on one node; the largest offered is 64 (execute/F64)",
    },
    {
      name: "more memory than any node has, in units that people read",
      world: world([sized("execute/D8", 16), sized("execute/E8", 64)]),
      demand: job(asking({ mem: "memory::65g" })),
      placed: "0 of 1",
      reasons: [
        "execute/D8: mem 65.0 GiB asked of one node, 16.0 GiB offered",
        "execute/E8: mem 65.0 GiB asked of one node, 64.0 GiB offered",
      ],
      binding:
        "no raise of a limit helps: needs 65.0 GiB mem on one node; the largest offered is 64.0 GiB (execute/E8)",
    },
    {
      name: "a hundredth of a GiB too much is not told as equal",
      world: world([sized("execute/E8", 64)]),
      demand: job(asking({ mem: "memory::65546m" })),
      placed: "0 of 1",
      reasons: ["execute/E8: mem 64.010 GiB asked of one node, 64.000 GiB offered"],
      binding:
        "no raise of a limit helps: needs 64.010 GiB mem on one node; the largest offered is 64.000 GiB (execute/E8)",
    },
    {
      name: "a choice that no bucket has, with the nearest",
      world: world([
        withDisk("execute/A", "hdd"),
        withDisk("execute/B", "nvme2"),
        withDisk("execute/C", "ssd"),
      ]),
      demand: job(asking({ ncpus: 1, disk: ["nvme"] })),
      placed: "0 of 1",
      reasons: ["execute/A, execute/B, execute/C: disk is hdd, nvme2, ssd, asked is nvme (nearest: nvme2)"],
      binding: "no raise of a limit helps: execute/A: disk is hdd, asked is nvme",
    },
    {
      name: "a VM size that is not offered, with the nearest",
      world: world([offer("execute/Standard_F8s_v2", 8, [])]),
      demand: job(asking({ ncpus: 1, "node.vm_size": "Standard_F8_v2" })),
      placed: "0 of 1",
      reasons: ['node array "execute" offers none of Standard_F8_v2 (nearest: Standard_F8s_v2)'],
      binding:
        'no raise of a limit helps: node array "execute" offers none of Standard_F8_v2 (nearest: Standard_F8s_v2)',
    },
    {
      name: "exclusive, where every node is shared and no other can be had",
      world: world([offer("execute/D4", 4, [1])], [limit("cluster", "", "nodes", 2, 2)], {
        nodes: [node("n1", "ip-1"), node("n2", "ip-2")],
      }),
      demand: job({ constraints: [...needing({ ncpus: 1 }), EXCLUSIVE] }),
      others: [
        job({
          id: "b",
          iterations: 2,
          placed: [
            { hostname: "ip-1", iterations: 1 },
            { hostname: "ip-2", iterations: 1 },
          ],
        }),
      ],
      placed: "0 of 1",
      reasons: [
        "cluster: 2 of 2 nodes used, 1 more needed, 0 left",
        "2 nodes have other jobs, and the job wants nodes to itself",
      ],
      binding: "1 more node of the cluster would place all of it",
    },
    {
      name: "no such node array, with the nearest",
      world: world([offer("execute/D4", 4, [])], [], {
        arrays: new Map([
          [arrayName("execute"), "managed"],
          [arrayName("login"), "not-managed"],
        ]),
      }),
      demand: job({ constraints: [...needing({ ncpus: 1 }), inArrays("exceute")] }),
      placed: "0 of 1",
      reasons: [
        'node array "exceute" does not exist in the cluster (nearest: execute; known: execute, login)',
      ],
      binding:
        'no raise of a limit helps: node array "exceute" does not exist in the cluster (nearest: execute; known: execute, login)',
    },
    {
      name: "a job that names no array could have meant one that is not ours",
      world: world([offer("execute/D4", 4, [1])], [limit("cluster", "", "nodes", 2, 2)], {
        arrays: new Map([
          [arrayName("execute"), "managed"],
          [arrayName("login"), "not-managed"],
        ]),
      }),
      demand: job(),
      placed: "0 of 1",
      reasons: [
        "cluster: 2 of 2 nodes used, 1 more needed, 0 left",
        'node array "login" is not autoscaled (Configuration.autoscale.enabled is false, or it is not in the configured nodearrays)',
      ],
      binding: "1 more node of the cluster would place all of it",
    },
    {
      name: "a cluster that is not started",
      world: world([offer("execute/D4", 4, [])], [], {
        closed: { code: "cluster-not-started", state: "Terminated", targetState: "Started" },
      }),
      demand: target(1),
      placed: "0 of 1",
      reasons: ["the cluster is not started (state Terminated, target state Started)"],
      binding:
        "no raise of a limit helps: the cluster is not started (state Terminated, target state Started)",
    },
    {
      name: "spot only, and no bucket is spot",
      world: world([offer("execute/D4", 4, [])]),
      demand: job({ nodeCount: 2, spot: "only" }),
      placed: "0 of 2",
      reasons: ["execute/D4: nodes are not spot, and the job asks for spot only"],
      binding: "no raise of a limit helps: execute/D4: nodes are not spot, and the job asks for spot only",
    },
    {
      name: "spot never, and every bucket is spot",
      world: world([offer("execute/D4", 4, [], { spot: true })]),
      demand: job({ nodeCount: 2, spot: "never" }),
      placed: "0 of 2",
      reasons: ["execute/D4: nodes may be evicted (spot), which the job does not allow"],
      binding:
        "no raise of a limit helps: execute/D4: nodes may be evicted (spot), which the job does not allow",
    },
    {
      // Eight more of eighty is less than eight more of eight.
      name: "of two buckets the one that lacks less",
      world: world(
        [offer("execute/D4", 4, [4]), offer("execute/E4", 4, [0, 4])],
        [
          limit("family-quota", "standardDFamily", "cores", 8, 8),
          limit("family-quota", "standardEFamily", "cores", 80, 80),
        ],
      ),
      demand: job({ iterations: 8 }),
      placed: "0 of 8",
      reasons: [
        "family quota standardDFamily: 8 of 8 cores used, 8 more needed, 0 left",
        "family quota standardEFamily: 80 of 80 cores used, 8 more needed, 0 left",
      ],
      binding: "8 more cores of family quota standardEFamily would place all of it",
    },
  ])("$name", (golden) => {
    const { demand, others = [] } = golden;
    const answer = allocate(golden.world, [demand, ...others], policy, NOW);
    const outcome = answer.outcomes.find(({ id }) => id === demand.demand.id);
    expect({
      placed: `${outcome?.placed} of ${outcome?.asked}`,
      reasons: outcome?.reasons.map(renderReason),
      binding: outcome?.binding === undefined ? undefined : renderRemedy(outcome.binding),
    }).toEqual({ placed: golden.placed, reasons: golden.reasons, binding: golden.binding });
  });
});

/** What one set or user may hold is a ceiling of ours, which stands beside the cluster's limits. */
describe("golden refusals of our own ceilings", () => {
  const D4 = offer("execute/D4", 4, [1]);
  const limits = [limit("cluster", "", "nodes", 10, 13)];
  const search = (ceiling: OwnCeiling, nodes: number) =>
    smallestRaise({
      budget: new Budget(1_000_000, 1),
      capacity: new Capacity(limits),
      limits,
      ceilings: [ceiling],
      expansions: [{ offer: D4, group: undefined, lot: 1, serves: 1, most: Number.POSITIVE_INFINITY }],
      wanted: nodes,
      given: [],
    }) ?? [];

  test.each<{
    readonly name: string;
    readonly ceiling: OwnCeiling;
    readonly nodes: number;
    readonly reason: string;
    readonly binding: string;
  }>([
    {
      name: "the cap of a request set, and with it the cluster's limit",
      ceiling: { ...limit("request-set-cap", "standard", "nodes", 8, 10), amount: () => 1 },
      nodes: 5,
      reason: "cap of request set standard: 8 of 10 nodes used, 5 more needed, 2 left",
      binding:
        "2 more nodes of the cluster and 3 more nodes in the cap of request set standard would place all of it",
    },
    {
      name: "the cap of a user, in cores",
      ceiling: { ...limit("user-cap", "ann", "cores", 96, 100), amount: ({ cores }) => cores },
      nodes: 2,
      reason: "cap of user ann: 96 of 100 cores used, 8 more needed, 4 left",
      binding: "4 more cores in the cap of user ann would place all of it",
    },
  ])("$name", ({ ceiling, nodes, reason, binding }) => {
    expect([capRefusal(ceiling, D4, nodes)].map((one) => one && renderReason(one))).toEqual([reason]);
    expect(renderRemedy({ kind: "raise", raises: search(ceiling, nodes) })).toBe(binding);
  });

  test("what a cap allows is no reason", () => {
    const ceiling = { ...limit("user-cap", "ann", "nodes", 8, 10), amount: () => 1 };
    expect(capRefusal(ceiling, D4, 2)).toBeUndefined();
  });
});

describe("golden refusals one by one", () => {
  const D4 = offer("execute/D4", 4, [1]);
  const capacity = new Capacity([limit("cluster", "", "nodes", 10, 11)]);
  test.each<{ readonly name: string; readonly reason: Reason | undefined; readonly text?: string }>([
    {
      name: "deallocated nodes that a limit keeps from starting",
      reason: startRefusal(capacity, D4, 3),
      text: "cluster: 10 of 11 nodes used, 3 more needed to start deallocated nodes, 1 left",
    },
    { name: "one may start", reason: startRefusal(capacity, D4, 1) },
    {
      name: "a gang over several buckets that all of them together cannot hold",
      reason: spanRefusal(8, 6),
      text: "8 nodes asked for at once, 6 possible in all buckets together",
    },
    { name: "all of them together can", reason: spanRefusal(6, 6) },
    { name: "spot is welcome", reason: spotRefusal("allow", { ...D4, spot: true }) },
    { name: "nothing was said of spot", reason: spotRefusal(undefined, { ...D4, spot: true }) },
    { name: "no spot, and none is", reason: spotRefusal("never", D4) },
  ])("$name", ({ reason, text }) => {
    expect(reason && renderReason(reason)).toBe(text);
  });
});

describe("alike reasons are one", () => {
  const misfit = (at: string, offered: number): Reason => ({
    code: "does-not-fit",
    bucket: bucket(at),
    resource: "ncpus",
    asked: 128,
    offered,
  });
  const texts = (reasons: readonly Reason[]) => gatherReasons(reasons).reasons.map(renderReason);

  test("two stay two, three of one array are named, four are counted", () => {
    const four = [
      misfit("execute/A", 4),
      misfit("execute/B", 64),
      misfit("execute/C", 8),
      misfit("gpu/A", 16),
    ];
    expect(texts(four.slice(0, 2))).toEqual([
      "execute/A: ncpus 128 asked of one node, 4 offered",
      "execute/B: ncpus 128 asked of one node, 64 offered",
    ]);
    expect(texts(four.slice(0, 3))).toEqual([
      "execute/A, execute/B, execute/C: ncpus 128 asked of one node, at most 64 offered",
    ]);
    expect(texts(four)).toEqual([
      "3 VM sizes of execute, 1 of gpu: ncpus 128 asked of one node, at most 64 offered",
    ]);
  });

  test("a limit is named once, with the least and the most that is asked of it", () => {
    const full = (at: string, asked: number): Reason => ({
      code: "limit-reached",
      limit: { kind: "family-quota", name: "standardFFamily", unit: "cores" },
      used: 64,
      max: 64,
      left: 0,
      asked,
      bucket: bucket(at),
    });
    expect(texts([full("execute/F8", 40), full("execute/F4", 36)])).toEqual([
      "family quota standardFFamily: 64 of 64 cores used, 36 to 40 more needed, 0 left (execute/F8, execute/F4)",
    ]);
  });

  test("twelve are kept, and the others are counted", () => {
    const many = Array.from({ length: 15 }, (_, i): Reason => ({ code: "no-bucket", array: `a${i}` }));
    const { reasons, moreReasons } = gatherReasons(many);
    expect(reasons.map(renderReason).slice(-1)).toEqual(['node array "a11" offers no VM size']);
    expect(moreReasons).toBe(3);
  });
});
