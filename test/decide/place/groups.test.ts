import { describe, test } from "vitest";
import { machineType, placementGroup } from "../../../src/domain/ids.ts";
import { bucket, groups, job, limit, node, offer, target, world } from "../../support/build-world.ts";
import type { Scenario } from "../search/scenario.ts";
import { check, cpus, inAGroup } from "../search/scenario.ts";
import { exec, member } from "./group-scenario.ts";

describe("groups", () => {
  test.each<Scenario>([
    {
      name: "each in a placement group of its own",
      world: world({ buckets: [exec()] }),
      demands: [groups("g", 2, 3)],
      creates: ["3 x execute/D4/pg-execute-3n-1", "3 x execute/D4/pg-execute-3n-2"],
      placed: ["g 2/2 (2 pending)"],
    },
    {
      name: "64 cores on nodes of 4 are 16 nodes",
      world: world({ buckets: [exec()] }),
      demands: [groups("g", 1, 0, { size: { unit: "cores", count: 64 } })],
      creates: ["16 x execute/D4/pg-execute-64-1"],
      placed: ["g 1/1 (1 pending)"],
    },
    {
      name: "larger than a placement group may be",
      world: world({ buckets: [exec()] }),
      demands: [groups("g", 1, 17)],
      placed: ["g 0/1 (0 pending)"],
      reasons: ["execute/D4: 17 nodes in one placement group asked, at most 16 possible"],
    },
    {
      name: "a group that does not fit takes nothing, and a smaller demand gets the room",
      world: world({ buckets: [exec()], limits: [limit("cluster", "", "nodes", 0, 5)] }),
      demands: [groups("g", 2, 3), job("a", { iterations: 13 })],
      creates: ["3 x execute/D4/pg-execute-3n-1", "1 x execute/D4"],
      placed: ["g 1/2 (1 pending)", "a 13/13 (13 pending)"],
      reasons: ["cluster: 3 of 5 nodes used, 3 more needed, 2 left"],
    },
    {
      name: "whole groups count, incomplete ones are completed in place, then new ones get free names",
      world: world({
        nodes: [
          member("n1", "pg-execute-2n-1"),
          member("n2", "pg-execute-2n-1"),
          member("n3", "pg-execute-2n-2"),
        ],
        buckets: [exec({ groupSizes: new Map([[placementGroup("pg-execute-2n-3"), 1]]) })],
      }),
      demands: [groups("g", 3, 2)],
      creates: ["1 x execute/D4/pg-execute-2n-2", "2 x execute/D4/pg-execute-2n-4"],
      needed: ["n1: standard/g", "n2: standard/g", "n3: standard/g"],
      placed: ["g 3/3 (2 pending)"],
    },
    {
      name: "a group in flight is a group",
      world: world({
        buckets: [exec()],
        inFlight: [
          {
            bucket: bucket("execute/D4/pg-execute-2n-1"),
            purpose: { kind: "group", key: "execute:2n", group: "pg-execute-2n-1" },
            resources: { ncpus: 4 },
            cores: 4,
            count: 2,
          },
        ],
      }),
      demands: [groups("g", 1, 2)],
      placed: ["g 1/1 (1 pending)"],
    },
    {
      name: "a node whose purpose was forgotten is known by its placement group's name",
      world: world({
        nodes: [
          node({ id: "n1", at: "execute/D4/pg-execute-2n-7" }),
          node({ id: "n2", at: "execute/D4/pg-execute-2n-7" }),
        ],
        buckets: [exec()],
      }),
      demands: [groups("g", 1, 2)],
      needed: ["n1: standard/g", "n2: standard/g"],
      placed: ["g 1/1 (0 pending)"],
    },
    {
      name: "the groups of two sets are floors, too",
      world: world({ buckets: [exec()] }),
      demands: [groups("g", 1, 2, {}, "one"), groups("g", 2, 2, {}, "two"), target("t", 4)],
      creates: ["2 x execute/D4/pg-execute-2n-1", "2 x execute/D4/pg-execute-2n-2"],
      placed: ["g 1/1 (1 pending)", "g 2/2 (2 pending)", "t 4/4 (4 pending)"],
    },
    {
      name: "the groups of two sets are floors, also where only the later one names a size",
      world: world({ buckets: [exec(), offer("execute/D8", 8, { 0: 1 }, { maxPlacementGroupSize: 16 })] }),
      demands: [
        groups("g", 2, 2, {}, "one"),
        groups("g", 1, 2, { machineTypes: [machineType("D8")] }, "two"),
      ],
      creates: ["2 x execute/D8/pg-execute-2n-1", "2 x execute/D4/pg-execute-2n-2"],
      placed: ["g 2/2 (2 pending)", "g 1/1 (1 pending)"],
    },
    {
      name: "names of groups that are gone are not used again",
      world: world({ buckets: [exec()], formerGroups: new Set(["pg-execute-2n-1", "PG-execute-2n-2"]) }),
      demands: [groups("g", 1, 2)],
      creates: ["2 x execute/D4/pg-execute-2n-3"],
      placed: ["g 1/1 (1 pending)"],
    },
    {
      name: "without placement groups: as many nodes as the groups have, first those that are there",
      world: world({
        nodes: [node({ id: "n1" }), node({ id: "n2", coming: true, order: 5 }), node({ id: "n3" })],
      }),
      demands: [groups("g", 3, 2)],
      creates: ["3 x execute/D4"],
      needed: ["n1: standard/g", "n2: standard/g", "n3: standard/g"],
      placed: ["g 3/3 (2 pending)"],
    },
    {
      name: "without placement groups: groups of two sizes are made of different nodes",
      world: world({ nodes: [node({ id: "n1" }), node({ id: "n2" })] }),
      demands: [groups("g", 1, 2), groups("h", 1, 3)],
      creates: ["3 x execute/D4"],
      needed: ["n1: standard/g", "n2: standard/g"],
      placed: ["g 1/1 (0 pending)", "h 1/1 (1 pending)"],
    },
    {
      name: "an array pinned to one group has one group at most",
      world: world({ buckets: [exec({ pinnedGroup: placementGroup("rack") })] }),
      demands: [groups("g", 2, 2)],
      creates: ["2 x execute/D4/rack"],
      placed: ["g 1/2 (1 pending)"],
      reasons: ["execute/D4: this VM size has no placement groups here"],
    },
    {
      name: "what is left over of full nodes in a placement group gets one more node there",
      world: world({ buckets: [offer("execute/D4", 4, { 0: 1 }, { maxPlacementGroupSize: 3, price: 1 })] }),
      among: "cheapest",
      demands: [job("a", { iterations: 5, constraints: [cpus(1), inAGroup] })],
      creates: ["2 x execute/D4/pg-execute-D4-1"],
      placed: ["a 5/5 (5 pending)"],
    },
    {
      name: "slots that must be in a placement group keep their own nodes, though slots of more weight fill them first",
      world: world({
        buckets: [],
        nodes: [
          node({ id: "n1", at: "execute/D4/g", coming: true }),
          node({ id: "n2", at: "execute/D4/g", coming: true, order: 1 }),
          node({ id: "n3", cores: 2, at: "execute/D2", coming: true, order: 2 }),
        ],
      }),
      demands: [
        job("any", { priority: 1, iterations: 4 }),
        job("grouped", { iterations: 5, constraints: [cpus(1), inAGroup] }),
      ],
      needed: ["n1: standard/grouped", "n2: standard/grouped standard/any", "n3: standard/any"],
      placed: ["any 4/4 (4 pending)", "grouped 5/5 (5 pending)"],
    },
  ])("$name", check);
});
