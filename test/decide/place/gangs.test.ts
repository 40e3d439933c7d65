import { describe, test } from "vitest";
import { placementGroup } from "../../../src/domain/ids.ts";
import { bucket, job, limit, node, offer, plenty, world } from "../../support/build-world.ts";
import type { Scenario } from "../search/scenario.ts";
import { check, hb, inMpi, mpi } from "../search/scenario.ts";

describe("gangs", () => {
  test.each<Scenario>([
    {
      name: "so many distinct nodes, with the iterations on each",
      world: mpi(),
      demands: [job("a", { ...inMpi, nodeCount: 3, iterations: 2 })],
      creates: ["3 x mpi/HB120"],
      placed: ["a 6/6 (6 pending)"],
    },
    {
      name: "existing nodes first, in the bucket that needs the fewest new ones",
      world: world({
        buckets: [offer("execute/D4", 4, { 0: 1 }), offer("execute/D8", 8, { 0: 1 })],
        nodes: [node({ id: "n1", at: "execute/D8", cores: 8 })],
      }),
      demands: [job("a", { nodeCount: 2 })],
      creates: ["1 x execute/D8"],
      needed: ["n1: standard/a"],
      placed: ["a 2/2 (1 pending)"],
    },
    {
      name: "whole or not at all",
      world: mpi({ limits: [plenty, limit("family-quota", "standardHBv3Family", "cores", 960, 1200)] }),
      demands: [job("a", { ...inMpi, nodeCount: 3 }), job("b", { ...inMpi, nodeCount: 2 })],
      creates: ["2 x mpi/HB120"],
      placed: ["a 0/3 (0 pending)", "b 2/2 (2 pending)"],
      reasons: ["family quota standardHBv3Family: 960 of 1200 cores used, 360 more needed, 240 left"],
    },
    {
      name: "a running gang takes its hosts",
      world: world({ nodes: [node({ id: "n1", host: "h1" }), node({ id: "n2", host: "h2" })] }),
      demands: [
        job("a", {
          nodeCount: 2,
          iterations: 4,
          placed: [
            { hostname: "h1", iterations: 4 },
            { hostname: "h2", iterations: 4 },
          ],
        }),
        job("b"),
      ],
      creates: ["1 x execute/D4"],
      needed: ["n1: standard/a", "n2: standard/a"],
      placed: ["a 8/8 (0 pending)", "b 1/1 (1 pending)"],
    },
    {
      name: "colocated: a new placement group",
      world: mpi(),
      demands: [job("a", { ...inMpi, colocated: true, iterations: 361 })],
      creates: ["4 x mpi/HB120/pg-mpi-HB120-1"],
      placed: ["a 361/361 (361 pending)"],
    },
    {
      name: "colocated, too large for a placement group",
      world: mpi(),
      demands: [job("a", { ...inMpi, colocated: true, iterations: 481 })],
      placed: ["a 0/481 (0 pending)"],
      reasons: ["mpi/HB120: 5 nodes in one placement group asked, at most 4 possible"],
    },
    {
      name: "colocated in an existing group that has room",
      world: mpi({
        nodes: ["n1", "n2"].map((id) => node({ id, at: "mpi/HB120/g7", cores: 120 })),
      }),
      demands: [job("a", { ...inMpi, colocated: true, iterations: 240 })],
      needed: ["n1: standard/a", "n2: standard/a"],
      placed: ["a 240/240 (0 pending)"],
    },
    {
      name: "colocated: a group that came out short is completed rather than left",
      world: mpi({
        nodes: ["n1", "n2"].map((id) => node({ id, at: "mpi/HB120/g7", cores: 120 })),
        buckets: [hb({ groupSizes: new Map([[placementGroup("g7"), 2]]) })],
      }),
      demands: [job("a", { ...inMpi, colocated: true, nodeCount: 3 })],
      creates: ["1 x mpi/HB120/g7"],
      needed: ["n1: standard/a", "n2: standard/a"],
      placed: ["a 3/3 (1 pending)"],
    },
    {
      name: "colocated: nodes outside placement groups, or in two of them, do not do",
      world: mpi({
        nodes: [
          node({ id: "n1", at: "mpi/HB120", cores: 120 }),
          node({ id: "n2", at: "mpi/HB120/g1", cores: 120 }),
          node({ id: "n3", at: "mpi/HB120/g2", cores: 120 }),
        ],
        buckets: [
          hb({ refusal: { code: "bucket-invalid", bucket: bucket("mpi/HB120"), why: "NotActivated" } }),
        ],
      }),
      demands: [job("a", { ...inMpi, colocated: true, nodeCount: 2 })],
      placed: ["a 0/2 (0 pending)"],
      reasons: ["mpi/HB120: CycleCloud offers no new nodes here (NotActivated)"],
    },
    {
      name: "colocated: what is left of a running job goes to its own group",
      world: mpi({
        nodes: [
          node({ id: "n1", at: "mpi/HB120/g1", cores: 120 }),
          node({ id: "n2", at: "mpi/HB120/g2", cores: 120, host: "h2" }),
        ],
        buckets: [hb({ groupSizes: new Map([[placementGroup("g2"), 1]]) })],
      }),
      demands: [
        job("a", {
          ...inMpi,
          colocated: true,
          iterations: 240,
          placed: [{ hostname: "h2", iterations: 120 }],
        }),
      ],
      creates: ["1 x mpi/HB120/g2"],
      needed: ["n2: standard/a"],
      placed: ["a 240/240 (120 pending)"],
    },
    {
      name: "colocated where the VM size has no placement groups",
      world: world(),
      demands: [job("a", { colocated: true })],
      placed: ["a 0/1 (0 pending)"],
      reasons: ["execute/D4: this VM size has no placement groups here"],
    },
  ])("$name", check);
});

/** Constraints in the JSON form of a job. */
