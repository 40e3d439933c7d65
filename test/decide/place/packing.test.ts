import { describe, expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import { propertiesOf } from "../../../src/decide/bins/empty-node-fit.ts";
import type { Constraint } from "../../../src/domain/constraint.ts";
import { EXCLUSIVE, needing } from "../../support/build-constraints.ts";
import { bucket, job, limit, node, now, offer, policy, world } from "../../support/build-world.ts";
import type { Scenario } from "../search/scenario.ts";
import { check, shown } from "../search/scenario.ts";

describe("packing jobs", () => {
  test.each<Scenario>([
    {
      name: "slots fill new nodes, the last one partly",
      world: world(),
      demands: [job("a", { iterations: 10 })],
      creates: ["3 x execute/D4"],
      placed: ["a 10/10 (10 pending)"],
    },
    {
      name: "two jobs share what the first one opened",
      world: world(),
      demands: [job("a", { iterations: 6 }), job("b", { iterations: 2 })],
      creates: ["2 x execute/D4"],
      placed: ["a 6/6 (6 pending)", "b 2/2 (2 pending)"],
    },
    {
      // A node of four cores has room for three jobs of a little more than one core, so four jobs need two nodes.
      name: "jobs share new nodes beside a job that asks for a resource that no node has",
      world: world(),
      demands: [
        ...[1.01, 1.02, 1.03, 1.04].map((ncpus, i) => job(`a${i}`, { constraints: needing({ ncpus }) })),
        job("g", { constraints: needing({ gpus: 1 }) }),
      ],
      creates: ["2 x execute/D4"],
      placed: [
        "a0 1/1 (1 pending)",
        "a1 1/1 (1 pending)",
        "a2 1/1 (1 pending)",
        "a3 1/1 (1 pending)",
        "g 0/1 (0 pending)",
      ],
      reasons: ["execute/D4: has no resource gpus"],
    },
    {
      name: "a set whose cap is used up fills the nodes that it has, and takes no other",
      world: world({
        nodes: [node({ id: "n1" }), node({ id: "n2" }), node({ id: "n3" })],
        caps: [{ kind: "request-set", name: "standard", unit: "nodes", max: 2 }],
      }),
      demands: [
        job("a", { iterations: 5 }),
        job("b", { iterations: 1, constraints: needing({ ncpus: 2 }) }),
        job("c", { iterations: 2 }),
      ],
      needed: ["n1: standard/a", "n2: standard/a standard/b standard/c"],
      placed: ["a 5/5 (0 pending)", "b 1/1 (0 pending)", "c 1/2 (0 pending)"],
      reasons: ["cap of request set standard: 2 of 2 nodes used, 1 more needed, 0 left"],
    },
    {
      name: "existing nodes by order, then in flight, then new",
      world: world({
        nodes: [node({ id: "n1", order: 2, coming: true }), node({ id: "n2", order: 1 })],
        inFlight: [
          {
            bucket: bucket("execute/D4"),
            purpose: { kind: "array" },
            resources: { ncpus: 4 },
            cores: 4,
            count: 1,
          },
        ],
      }),
      demands: [job("a", { iterations: 14 })],
      creates: ["1 x execute/D4"],
      needed: ["n1: standard/a", "n2: standard/a"],
      placed: ["a 14/14 (10 pending)"],
    },
    {
      name: "a node in use is filled before another one is opened, so that the other can stop",
      world: world({ nodes: [node({ id: "n1" }), node({ id: "n2", host: "ip-2" })] }),
      demands: [
        job("runs", { placed: [{ hostname: "ip-2", iterations: 1 }] }),
        job("waits", { iterations: 3 }),
      ],
      needed: ["n2: standard/runs standard/waits"],
      placed: ["runs 1/1 (0 pending)", "waits 3/3 (0 pending)"],
    },
    {
      name: "bound tasks occupy their host first, even for a job of lower rank, and even beyond what is free",
      world: world({ nodes: [node({ id: "n1", host: "IP-0A000004.internal.net" })] }),
      demands: [
        job("high", { priority: 9, iterations: 4 }),
        job("runs", { iterations: 6, placed: [{ hostname: "ip-0a000004", iterations: 6 }] }),
      ],
      creates: ["1 x execute/D4"],
      needed: ["n1: standard/runs"],
      placed: ["high 4/4 (4 pending)", "runs 6/6 (0 pending)"],
    },
    {
      name: "tasks on a host that we do not know are placed and take nothing",
      world: world({ nodes: [node({ id: "n1", host: "ip-1" })] }),
      demands: [job("a", { iterations: 3, placed: [{ hostname: "login", iterations: 2 }] })],
      needed: ["n1: standard/a"],
      placed: ["a 3/3 (0 pending)"],
    },
    {
      name: "a job that fits nowhere says what it lacks, in each bucket",
      world: world({ buckets: [offer("execute/D4", 4, { 0: 1 }), offer("execute/D8", 8, { 0: 1 })] }),
      demands: [job("a", { constraints: needing({ ncpus: 16 }) })],
      placed: ["a 0/1 (0 pending)"],
      reasons: [
        "execute/D4: ncpus 16 asked of one node, 4 offered",
        "execute/D8: ncpus 16 asked of one node, 8 offered",
      ],
    },
    {
      name: "a job that fits only the second bucket goes there",
      world: world({ buckets: [offer("execute/D4", 4, { 0: 1 }), offer("execute/D8", 8, { 0: 1 })] }),
      demands: [job("a", { constraints: needing({ ncpus: 6 }), iterations: 2 })],
      creates: ["2 x execute/D8"],
      placed: ["a 2/2 (2 pending)"],
    },
    {
      name: "exclusive: one slot a node, and nobody else there",
      world: world({ nodes: [node({ id: "n1" })] }),
      demands: [
        job("alone", { iterations: 2, constraints: [...needing({ ncpus: 1 }), EXCLUSIVE] }),
        job("other"),
      ],
      creates: ["2 x execute/D4"],
      needed: ["n1: standard/alone"],
      placed: ["alone 2/2 (1 pending)", "other 1/1 (1 pending)"],
    },
    {
      name: "exclusive does not go where somebody is",
      world: world({ nodes: [node({ id: "n1" })] }),
      demands: [job("other"), job("alone", { constraints: [...needing({ ncpus: 1 }), EXCLUSIVE] })],
      creates: ["1 x execute/D4"],
      needed: ["n1: standard/other"],
      placed: ["other 1/1 (0 pending)", "alone 1/1 (1 pending)"],
    },
    {
      name: "0.1 of a GPU ten times on one node, not eleven",
      world: world({ buckets: [offer("execute/D4", 4, { 0: 1 }, { resources: { ngpus: 1 } })] }),
      demands: [job("a", { constraints: needing({ ngpus: 0.1 }), iterations: 11 })],
      creates: ["2 x execute/D4"],
      placed: ["a 11/11 (11 pending)"],
    },
    {
      name: "priority wins scarce capacity, whatever the position",
      world: world({ limits: [limit("cluster", "", "nodes", 9, 10)] }),
      demands: [
        job("low", { iterations: 4, position: 1 }),
        job("high", { iterations: 3, position: 2, priority: 5 }),
      ],
      creates: ["1 x execute/D4"],
      placed: ["high 3/3 (3 pending)", "low 1/4 (1 pending)"],
      reasons: ["cluster: 10 of 10 nodes used, 1 more needed, 0 left"],
    },
    {
      name: "77,248 slots need no loop over slots",
      world: world({
        limits: [limit("cluster", "", "nodes", 0, 5832)],
        buckets: [offer("execute/D4", 16, { 0: 1 })],
      }),
      demands: [job("a", { iterations: 77_248 })],
      creates: ["4828 x execute/D4"],
      placed: ["a 77248/77248 (77248 pending)"],
    },
  ])("$name", check);
});

test("at most five names for a node", () => {
  const demands = Array.from({ length: 7 }, (_, i) => job(`j${i}`, { constraints: needing({ ncpus: 0.5 }) }));
  const { needed } = allocate(world({ nodes: [node({ id: "n1" })] }), demands, policy, now);
  expect([...needed.values()]).toEqual([
    ["standard/j0", "standard/j1", "standard/j2", "standard/j3", "standard/j4"],
  ]);
});

test.each([
  { name: "told of with the same object as the bucket's new ones", isShared: true },
  { name: "told of by themselves, as they come back from a store", isShared: false },
])(
  "a job that bars a host gets a new node of its bucket; what existing nodes offer is $name",
  ({ isShared }) => {
    const fresh = offer("execute/D4", 4, { 0: 1 });
    const host = { ...node({ id: "n1", host: "h1" }), ...(isShared ? { resources: fresh.resources } : {}) };
    const notThere: Constraint = {
      kind: "not",
      of: { kind: "property-choice", property: "hostname", choices: ["h1"] },
    };
    const named = (hostname: string | null) => ({
      properties: () => ({ ...propertiesOf(bucket("execute/D4")), hostname }),
    });
    const answer = allocate(
      world({ nodes: [{ ...host, ...named("h1") }], buckets: [{ ...fresh, ...named(null) }] }),
      [job("a", { constraints: [...needing({ ncpus: 1 }), notThere] })],
      policy,
      now,
    );
    expect(shown(answer)).toEqual({
      creates: ["1 x execute/D4"],
      needed: [],
      placed: ["a 1/1 (1 pending)"],
      reasons: [],
    });
  },
);
