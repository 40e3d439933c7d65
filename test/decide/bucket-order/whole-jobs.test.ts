import { test } from "vitest";
import type { JobDemand } from "../../../src/domain/demand.ts";
import { setName } from "../../../src/domain/ids.ts";
import type { Scenario } from "./scenario.ts";
import { bucket, check, grouped, jobs, node, twoArrays, world } from "./scenario.ts";

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

test.each<Scenario>([
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
    reasons: ["j0: pool lic: 8 more needed, 5 left", "j2: pool seat: 1 more needed, 0 left"],
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
])("$name", check);
