import { describe, test } from "vitest";
import type { Constraint } from "../../../src/domain/constraint.ts";
import { EXCLUSIVE, needing } from "../../support/build-constraints.ts";
import { job, limit, node, offer, plenty, world } from "../../support/build-world.ts";
import type { Scenario } from "../search/scenario.ts";
import { check, hb, inAGroup, inMpi, mpi } from "../search/scenario.ts";

/** Two buckets, each with fewer than four nodes. */
const small = world({
  buckets: [offer("execute/D4", 4, { 0: 1, 1: 1 }), offer("execute/D8", 8, { 0: 1, 2: 1 })],
  limits: [
    plenty,
    limit("bucket", "execute/D4", "nodes", 0, 2),
    limit("bucket", "execute/D8", "nodes", 0, 1),
  ],
});
const either: Constraint = { kind: "or", of: [...needing({ ncpus: 1 }), ...needing({ mem: 1 })] };
const partly = (nodeCount: number) => ({ nodeCount, partial: true }) as const;

describe("of some nodes as many as can be had (packing-strategy pack with a node-count)", () => {
  test.each<Scenario>([
    {
      name: "in any buckets, and the others stay unmet with the reason",
      world: small,
      demands: [job("a", partly(4))],
      creates: ["2 x execute/D4", "1 x execute/D8"],
      placed: ["a 3/4 (3 pending)"],
      reasons: [
        "bucket execute/D4: 2 of 2 nodes used, 1 more needed, 0 left",
        "bucket execute/D8: 1 of 1 nodes used, 1 more needed, 0 left",
      ],
    },
    {
      name: "by price too",
      world: world({
        ...small,
        buckets: [
          offer("execute/D4", 4, { 0: 1, 1: 1 }, { price: 2 }),
          offer("execute/D8", 8, { 0: 1, 2: 1 }, { price: 1 }),
        ],
      }),
      among: "cheapest",
      demands: [job("a", partly(2))],
      creates: ["1 x execute/D8", "1 x execute/D4"],
      placed: ["a 2/2 (2 pending)"],
    },
    {
      name: "distinct nodes: those that are there first, each once, though they have room for all",
      world: world({ nodes: [node({ id: "n1" }), node({ id: "n2", coming: true })] }),
      demands: [job("a", partly(3))],
      creates: ["1 x execute/D4"],
      needed: ["n1: standard/a", "n2: standard/a"],
      placed: ["a 3/3 (2 pending)"],
    },
    {
      name: "beside the hosts that it runs on, and not once more on them",
      world: world({ nodes: [node({ id: "n1", host: "h1" }), node({ id: "n2" })] }),
      demands: [job("a", { ...partly(3), placed: [{ hostname: "h1", iterations: 1 }] })],
      creates: ["1 x execute/D4"],
      needed: ["n1: standard/a", "n2: standard/a"],
      placed: ["a 3/3 (1 pending)"],
    },
    {
      name: "one node that is left is not the one where the job before ended and this one runs",
      world: world({ nodes: [node({ id: "n1", host: "h1" })] }),
      demands: [
        job("a", { placed: [], iterations: 1 }),
        job("b", { ...partly(2), placed: [{ hostname: "h1", iterations: 1 }] }),
      ],
      creates: ["1 x execute/D4"],
      needed: ["n1: standard/b standard/a"],
      placed: ["a 1/1 (0 pending)", "b 2/2 (1 pending)"],
    },
    {
      name: "slots of another job share the nodes, and do not get nodes of their own for it",
      world: world(),
      demands: [job("a", partly(3)), job("b", { iterations: 9 })],
      creates: ["3 x execute/D4"],
      placed: ["a 3/3 (3 pending)", "b 9/9 (9 pending)"],
    },
    {
      name: "what was opened last for so many nodes is not opened again for so many slots",
      world: world(),
      // Nodes of four cores: the nodes of the first job have room for 12 slots, and the other four need one more node.
      demands: [job("a", partly(4)), job("b", { iterations: 16 })],
      creates: ["5 x execute/D4"],
      placed: ["a 4/4 (4 pending)", "b 16/16 (16 pending)"],
    },
    {
      name: "no more of them than a cap of the set allows, those that are there included",
      world: world({
        nodes: [node({ id: "n1" })],
        caps: [{ kind: "request-set", name: "standard", unit: "nodes", max: 2 }],
      }),
      demands: [job("a", partly(4))],
      creates: ["1 x execute/D4"],
      needed: ["n1: standard/a"],
      placed: ["a 2/4 (1 pending)"],
      reasons: ["cap of request set standard: 2 of 2 nodes used, 2 more needed, 0 left"],
    },
    {
      name: "exclusive nodes",
      world: world({ nodes: [node({ id: "n1" })] }),
      demands: [job("b"), job("a", { ...partly(2), constraints: [EXCLUSIVE, ...needing({ ncpus: 1 })] })],
      creates: ["2 x execute/D4"],
      needed: ["n1: standard/b"],
      placed: ["b 1/1 (0 pending)", "a 2/2 (2 pending)"],
    },
    {
      name: "with alternatives",
      world: world({ nodes: [node({ id: "n1" })] }),
      demands: [job("a", { ...partly(3), constraints: [either] })],
      creates: ["2 x execute/D4"],
      needed: ["n1: standard/a"],
      placed: ["a 3/3 (2 pending)"],
    },
    {
      name: "in placement groups, as many of them as it takes",
      world: mpi(),
      demands: [job("a", { ...partly(6), constraints: [...inMpi.constraints, inAGroup] })],
      creates: ["4 x mpi/HB120/pg-mpi-HB120-1", "2 x mpi/HB120/pg-mpi-HB120-2"],
      placed: ["a 6/6 (6 pending)"],
    },
    {
      name: "what belongs together is placed whole or not at all",
      world: mpi({ buckets: [hb({ maxPlacementGroupSize: 2 })] }),
      demands: [job("a", { ...partly(3), ...inMpi, colocated: true })],
      placed: ["a 0/3 (0 pending)"],
      reasons: ["mpi/HB120: 3 nodes in one placement group asked, at most 2 possible"],
    },
    {
      name: "no more of them than a pool has for",
      world: world({ pools: [{ name: "lic", total: 2, used: 0 }] }),
      demands: [
        job("a", {
          ...partly(3),
          constraints: [{ kind: "pool", pool: "lic", amount: 1 }, ...needing({ ncpus: 1 })],
        }),
      ],
      creates: ["2 x execute/D4"],
      placed: ["a 2/3 (2 pending)"],
      reasons: ["pool lic: 0 of 2 used, 3 more needed, 2 left"],
    },
    {
      name: "nothing is asked of a job of which nothing remains",
      world: world(),
      demands: [job("a", { iterations: 0 }), job("b")],
      creates: ["1 x execute/D4"],
      placed: ["a 0/0 (0 pending)", "b 1/1 (1 pending)"],
    },
  ])("$name", check);
});
