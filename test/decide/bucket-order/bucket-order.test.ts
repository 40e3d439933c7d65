import { test } from "vitest";
import type { Scenario } from "./scenario.ts";
import { check, grouped, jobs, node, twoArrays, world } from "./scenario.ts";

/** Three nodes with a GPU and six cores, one of which is there, and two of four cores. */
const gpu = { resources: { ncpus: 6, ngpus: 1 } };

const gpus = world([
  { at: "a/G6", room: 2, more: gpu },
  { at: "b/D4", room: 2, more: { resources: { ncpus: 4, ngpus: 0 } } },
]);

const gpuNode = node("n1", "a/G6", gpu);
const gpuOrTwo = { or: [{ ngpus: 1 }, { ncpus: 2 }] };

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
])("$name", check);
