import { describe, test } from "vitest";
import { machineType } from "../../../src/domain/ids.ts";
import { bucket, job, limit, node, offer, plenty, target, world } from "../../support/build-world.ts";
import type { Scenario } from "../search/scenario.ts";
import { check } from "../search/scenario.ts";

describe("targets are floors", () => {
  test.each<Scenario>([
    {
      name: "two sets that name one array get the larger, not the sum",
      world: world(),
      demands: [target("t", 3, {}, "one"), target("t", 5, {}, "two")],
      creates: ["5 x execute/D4"],
      placed: ["t 3/3 (3 pending)", "t 5/5 (5 pending)"],
    },
    {
      name: "two sets that name one array get the larger, not the sum, also where only the later one names a size",
      world: world({ buckets: [offer("execute/D4", 4, { 0: 1 }), offer("execute/D8", 8, { 0: 1 })] }),
      demands: [target("t", 5, {}, "one"), target("t", 3, { machineTypes: [machineType("D8")] }, "two")],
      creates: ["3 x execute/D8", "2 x execute/D4"],
      placed: ["t 5/5 (5 pending)", "t 3/3 (3 pending)"],
    },
    {
      name: "nodes that jobs need count towards a target",
      world: world({ nodes: [node({ id: "n1" }), node({ id: "n2" }), node({ id: "n3" })] }),
      demands: [job("a", { iterations: 8 }), target("t", 2)],
      needed: ["n1: standard/a", "n2: standard/a"],
      placed: ["a 8/8 (0 pending)", "t 2/2 (0 pending)"],
    },
    {
      name: "jobs use the nodes that a target needs already",
      world: world({ nodes: [node({ id: "n1" }), node({ id: "n2" }), node({ id: "n3" })] }),
      demands: [target("t", 2), job("a", { iterations: 8 })],
      needed: ["n1: standard/t standard/a", "n2: standard/t standard/a"],
      placed: ["t 2/2 (0 pending)", "a 8/8 (0 pending)"],
    },
    {
      name: "cores are rounded up to whole nodes",
      world: world(),
      demands: [target("t", 0, { amount: { unit: "cores", count: 10 } })],
      creates: ["3 x execute/D4"],
      placed: ["t 10/10 (10 pending)"],
    },
    {
      name: "cores of existing nodes count first",
      world: world({ nodes: [node({ id: "n1", at: "execute/D8", cores: 8 })] }),
      demands: [target("t", 0, { amount: { unit: "cores", count: 10 } })],
      creates: ["1 x execute/D4"],
      needed: ["n1: standard/t"],
      placed: ["t 10/10 (2 pending)"],
    },
    {
      name: "nodes in flight count once",
      world: world({
        inFlight: [
          {
            bucket: bucket("execute/D4"),
            purpose: { kind: "array" },
            resources: { ncpus: 4 },
            cores: 4,
            count: 4,
          },
        ],
      }),
      demands: [target("t", 3), target("u", 5)],
      creates: ["1 x execute/D4"],
      placed: ["t 3/3 (3 pending)", "u 5/5 (5 pending)"],
    },
    {
      name: "listed sizes are taken in the order of the list, and others do not count",
      world: world({
        nodes: [node({ id: "n1" })],
        buckets: [
          offer("execute/D4", 4, { 0: 1 }),
          offer("execute/D8", 8, { 0: 1 }),
          offer("execute/D16", 16, { 0: 1, 1: 1 }),
        ],
        limits: [plenty, limit("bucket", "execute/D16", "nodes", 0, 1)],
      }),
      demands: [target("t", 3, { machineTypes: [machineType("d16"), machineType("D8")] })],
      creates: ["1 x execute/D16", "2 x execute/D8"],
      placed: ["t 3/3 (3 pending)"],
    },
    {
      name: "a lower target needs fewer nodes; the last in the order of use are spare",
      world: world({
        nodes: [node({ id: "n1", order: 3 }), node({ id: "n2", order: 1 }), node({ id: "n3", order: 2 })],
      }),
      demands: [target("t", 2)],
      needed: ["n2: standard/t", "n3: standard/t"],
      placed: ["t 2/2 (0 pending)"],
    },
    {
      name: "different attributes make different creates",
      world: world(),
      demands: [target("t", 1, { attributes: { KeepAlive: true } }), job("a", { iterations: 5 })],
      creates: ["1 x execute/D4", "1 x execute/D4"],
      placed: ["t 1/1 (1 pending)", "a 5/5 (5 pending)"],
    },
  ])("$name", check);
});
