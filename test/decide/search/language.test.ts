import { describe, test } from "vitest";
import type { World } from "../../../src/domain/world.ts";
import type { JobDemand } from "../../../src/domain/demand.ts";
import { readConstraints } from "../../../src/wire/constraint/constraint.ts";
import { job, offer, world } from "../../support/build-world.ts";
import type { Scenario } from "./scenario.ts";
import { check } from "./scenario.ts";
import { newNotes } from "../../../src/wire/json/problems.ts";

function asking(...json: readonly object[]): Partial<JobDemand> {
  return { constraints: readConstraints(json, "", newNotes()) };
}

const sized = (gib: number) => ({ resources: { ncpus: 8, mem: { amount: gib, unit: "g" as const } } });
const twoSizes = (more: Partial<World> = {}): World =>
  world({
    buckets: [
      offer("execute/D8", 8, { 0: 1 }, { ...sized(16), capacityFailureSeconds: 60 }),
      offer("execute/E8", 8, { 0: 1 }, sized(64)),
    ],
    ...more,
  });

describe("the whole language", () => {
  test.each<Scenario>([
    {
      name: "sizes in any unit are counted",
      world: twoSizes(),
      demands: [job("a", { iterations: 5, ...asking({ ncpus: 1, mem: "memory::8192m" }) })],
      creates: ["3 x execute/D8"],
      placed: ["a 5/5 (5 pending)"],
    },
    {
      name: "more memory than the first bucket has",
      world: twoSizes(),
      demands: [job("a", { iterations: 3, ...asking({ mem: "memory::32g" }) })],
      creates: ["2 x execute/E8"],
      placed: ["a 3/3 (3 pending)"],
    },
    {
      name: "more memory than any bucket has says so, with units",
      world: twoSizes(),
      demands: [job("a", asking({ mem: "memory::65g" }))],
      placed: ["a 0/1 (0 pending)"],
      reasons: [
        "execute/D8: mem 65.0 GiB asked of one node, 16.0 GiB offered",
        "execute/E8: mem 65.0 GiB asked of one node, 64.0 GiB offered",
      ],
    },
    {
      name: "new nodes are of the bucket where the first of two alternatives holds",
      world: twoSizes(),
      demands: [job("a", { iterations: 4, ...asking({ or: [{ mem: "memory::40g" }, { ncpus: 4 }] }) })],
      creates: ["2 x execute/E8"],
      placed: ["a 4/4 (4 pending)"],
    },
    {
      name: "of two alternatives the first that holds in a bucket is charged there",
      world: twoSizes({ buckets: [offer("execute/D8", 8, { 0: 1 })] }),
      demands: [job("a", { iterations: 4, ...asking({ or: [{ mem: "memory::40g" }, { ncpus: 4 }] }) })],
      creates: ["2 x execute/D8"],
      placed: ["a 4/4 (4 pending)"],
    },
    {
      name: "a pattern, and what must not be",
      world: twoSizes(),
      demands: [
        job("a", asking({ ncpus: 1, "node.vm_size": "E*" })),
        job("b", asking({ ncpus: 1, not: { "node.vm_size": "D*" } })),
      ],
      creates: ["1 x execute/E8"],
      placed: ["a 1/1 (1 pending)", "b 1/1 (1 pending)"],
    },
    {
      name: "no bucket that lacked capacity lately",
      world: twoSizes(),
      demands: [job("a", asking({ ncpus: 1, "capacity-failure-backoff": 300 }))],
      creates: ["1 x execute/E8"],
      placed: ["a 1/1 (1 pending)"],
    },
    {
      name: "never",
      world: twoSizes({ buckets: [offer("execute/D8", 8, { 0: 1 })] }),
      demands: [job("a", asking({ never: "closed on Sundays" }))],
      placed: ["a 0/1 (0 pending)"],
      reasons: ["execute/D8: closed on Sundays"],
    },
    {
      name: "tasks of one job share exclusive nodes, with nobody else",
      world: twoSizes(),
      demands: [
        job("a", { iterations: 4, ...asking({ ncpus: 2, "exclusive-task": true }) }),
        job("b", asking({ ncpus: 1 })),
      ],
      creates: ["2 x execute/D8"],
      placed: ["a 4/4 (4 pending)", "b 1/1 (1 pending)"],
    },
    {
      name: "a pool bounds all jobs together, by rank",
      world: twoSizes({ pools: [{ name: "lic", total: 10, used: 5 }] }),
      demands: [
        job("a", { iterations: 2, ...asking({ ncpus: 1, pool: { lic: 2 } }) }),
        job("b", { iterations: 3, ...asking({ ncpus: 1, pool: { lic: 1 } }) }),
      ],
      creates: ["1 x execute/D8"],
      placed: ["a 2/2 (2 pending)", "b 1/3 (1 pending)"],
      reasons: ["pool lic: 9 of 10 used, 3 more needed, 1 left"],
    },
    {
      name: "a gang that a pool cannot serve whole gets nothing",
      world: twoSizes({ pools: [{ name: "lic", total: 3, used: 0 }] }),
      demands: [job("a", { nodeCount: 4, ...asking({ ncpus: 8, pool: { lic: 1 } }) })],
      placed: ["a 0/4 (0 pending)"],
      reasons: ["pool lic: 0 of 3 used, 4 more needed, 3 left"],
    },
    {
      name: "jobs that name one shared consumable share it",
      world: twoSizes(),
      demands: ["a", "b"].map((name) =>
        job(name, {
          iterations: 2,
          ...asking(
            { ncpus: 1 },
            {
              "shared-consumable-constraint": {
                "resource-name": "lic",
                source: ["queue"],
                "initial-value": [3],
                "current-value": [3],
                requested: 1,
              },
            },
          ),
        }),
      ),
      creates: ["1 x execute/D8"],
      placed: ["a 2/2 (2 pending)", "b 1/2 (1 pending)"],
      reasons: ["pool lic@queue: 2 more needed, 1 left"],
    },
  ])("$name", check);
});
