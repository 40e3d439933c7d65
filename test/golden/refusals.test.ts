import { describe, test } from "vitest";
import { placementGroup } from "../../src/domain/ids.ts";
import type { Cap } from "../../src/domain/world.ts";
import { instant } from "../../src/domain/units.ts";
import { needing } from "../support/build-constraints.ts";
import { bucket, groups, job, limit, node, NOW, offer, target, world } from "./small-world.ts";
import type { Golden } from "./refusal-scenario.ts";
import { asking, check } from "./refusal-scenario.ts";

describe("golden refusals", () => {
  test.each<Golden>([
    {
      // 20 slots need 5 nodes of 4 cores. 2 nodes are left, so 12 slots and 3 nodes are missing.
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
      // Two groups of two nodes, and one node exists. Three more are needed and one is possible: it completes the first group.
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
      // Two more than three is a smaller raise in proportion than two more than one.
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
        "execute/D4, execute/D8, execute/D16: at least 5 nodes in one placement group asked, at most 4 possible",
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
      // There are 4 licences for 6 slots, and one node has room for 4 slots: 2 licences and one node are missing.
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
  ])("$name", check);
});

/** Our own caps on a set or user count in addition to the limits of the cluster. */
describe("golden refusals of our own ceilings", () => {
  const D4 = offer("execute/D4", 4, [1]);
  // Jobs of higher rank take 8 nodes, of 11 that the cluster has left.
  const limits = [limit("cluster", "", "nodes", 2, 13)];
  const capped = (cap: Omit<Cap, "name">, name: string) => world([D4], limits, { caps: [{ ...cap, name }] });

  test.each<Golden>([
    {
      // 2 more nodes are in the cap, and 5 are needed. Then the cluster has one left.
      name: "the cap of a request set, and with it the cluster's limit",
      world: capped({ kind: "request-set", unit: "nodes", max: 10 }, "standard"),
      others: [job({ id: "b", name: "b", priority: 1, iterations: 32 })],
      demand: job({ iterations: 20 }),
      placed: "8 of 20",
      reasons: ["cap of request set standard: 10 of 10 nodes used, 3 more needed, 0 left"],
      binding:
        "2 more nodes of the cluster and 3 more nodes in the cap of request set standard would place all of it",
    },
    {
      name: "the cap of a user, in cores",
      world: capped({ kind: "user", unit: "cores", max: 36 }, "ann"),
      others: [job({ id: "b", name: "b", user: "ann", priority: 1, iterations: 32 })],
      demand: job({ user: "ann", iterations: 8 }),
      placed: "4 of 8",
      reasons: ["cap of user ann: 36 of 36 cores used, 4 more needed, 0 left"],
      binding: "4 more cores in the cap of user ann would place all of it",
    },
    {
      name: "what a cap allows is no reason",
      world: capped({ kind: "user", unit: "nodes", max: 10 }, "ann"),
      demand: job({ user: "ann", iterations: 8 }),
      placed: "8 of 8",
      reasons: [],
    },
  ])("$name", check);
});
