import { describe, expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import type { BucketOffer } from "../../../src/domain/world.ts";
import type { Constraint } from "../../../src/domain/constraint.ts";
import { arrayName, placementGroup } from "../../../src/domain/ids.ts";
import { EXCLUSIVE, inArrays } from "../../support/build-constraints.ts";
import { bucket, job, limit, node, now, offer, policy, target, world } from "../../support/build-world.ts";
import type { Scenario } from "./scenario.ts";
import { check, cpus, hb, inAGroup, mpi, shown } from "./scenario.ts";

const inRackOnly: Constraint = { kind: "property-choice", property: "placement_group", choices: ["rack"] };
const inRack = (more: Partial<BucketOffer> = {}) =>
  offer(
    "execute/D4",
    4,
    { 0: 1 },
    { maxPlacementGroupSize: 3, configuredGroups: [placementGroup("rack")], ...more },
  );

describe("what random worlds have shown", () => {
  test.each<Scenario>([
    {
      name: "a bucket with room that knows no placement groups says so to a job that asks for one",
      world: world(),
      demands: [job("a", { constraints: [cpus(1), inAGroup] })],
      placed: ["a 0/1 (0 pending)"],
      reasons: ["execute/D4: this VM size has no placement groups here"],
    },
    {
      name: "what runs on a node that is not spot takes its alternative there, though the job asks for spot by now",
      world: world({
        nodes: [node({ id: "n1", host: "h1" })],
        limits: [limit("cluster", "", "nodes", 1, 1)],
      }),
      demands: [
        job("a", {
          constraints: [cpus(1), { kind: "or", of: [cpus(3), inArrays("other")] }],
          spot: "only",
          placed: [{ hostname: "h1", iterations: 1 }],
        }),
        job("b"),
      ],
      needed: ["n1: standard/a"],
      placed: ["a 1/1 (0 pending)", "b 0/1 (0 pending)"],
      reasons: ["cluster: 1 of 1 nodes used, 1 more needed, 0 left"],
    },
    {
      name: "what runs takes its alternative also where a slot of it would not fit any more",
      world: world({
        nodes: [node({ id: "n1", host: "h1" })],
        limits: [limit("cluster", "", "nodes", 1, 1)],
      }),
      demands: [
        job("a", {
          iterations: 2,
          constraints: [cpus(0.25), { kind: "or", of: [cpus(3), inArrays("other")] }],
          placed: [{ hostname: "h1", iterations: 2 }],
        }),
        job("b", { constraints: [cpus(0.5)] }),
      ],
      needed: ["n1: standard/a"],
      placed: ["a 2/2 (0 pending)", "b 0/1 (0 pending)"],
      reasons: ["cluster: 1 of 1 nodes used, 1 more needed, 0 left"],
    },
    {
      name: "a node that a target counts on does not become a cheaper one of another array",
      world: world({
        buckets: [
          offer("execute/D8", 8, { 0: 1 }, { price: 10 }),
          offer("other/D2", 2, { 0: 1 }, { price: 3 }),
        ],
        arrays: new Map([
          [arrayName("execute"), "managed"],
          [arrayName("other"), "managed"],
        ]),
      }),
      among: "cheapest",
      demands: [job("a"), target("t", 1)],
      creates: ["1 x execute/D8"],
      placed: ["a 1/1 (1 pending)", "t 1/1 (1 pending)"],
    },
    {
      name: "jobs that differ in what they take have reasons of their own",
      world: world({ limits: [limit("cluster", "", "nodes", 3, 3)] }),
      demands: [16, 32, 2].map((amount) => job(`of${amount}`, { constraints: [cpus(amount)] })),
      placed: ["of16 0/1 (0 pending)", "of32 0/1 (0 pending)", "of2 0/1 (0 pending)"],
      reasons: [
        "execute/D4: ncpus 16 asked of one node, 4 offered",
        "execute/D4: ncpus 32 asked of one node, 4 offered",
        "cluster: 3 of 3 nodes used, 1 more needed, 0 left",
      ],
    },
    {
      name: "a node that starts is used before one that was asked for by the same plan",
      world: world({
        nodes: [{ ...node({ id: "n1", coming: true, order: 5 }), starting: true }],
        inFlight: [
          {
            bucket: bucket("execute/D4"),
            purpose: { kind: "array" },
            count: 1,
            order: 5,
            resources: { ncpus: 4, mem: 16 },
            cores: 4,
          },
        ],
      }),
      demands: [job("a")],
      needed: ["n1: standard/a"],
      placed: ["a 1/1 (1 pending)"],
    },
    {
      name: "a capped user's node does not become a cheaper one with more cores",
      world: world({
        buckets: [
          offer("execute/D2", 2, { 0: 1 }, { price: 3, resources: { mem: 8 } }),
          offer("execute/D8", 8, { 0: 1 }, { price: 2, resources: { mem: 8 } }),
          offer("execute/D1", 1, { 0: 1 }, { price: 9, resources: { mem: 8 } }),
        ],
        caps: [{ kind: "user", name: "ann", unit: "cores", max: 2 }],
      }),
      among: "cheapest",
      demands: [
        job("a", { user: "ann", constraints: [{ kind: "amount", resource: "mem", amount: 3 }] }),
        job("b", { user: "ann", constraints: [{ kind: "amount", resource: "mem", amount: 4 }] }),
      ],
      creates: ["1 x execute/D2"],
      placed: ["a 1/1 (1 pending)", "b 1/1 (1 pending)"],
    },
    {
      name: "what ranks higher is served, though what ranks lower must give way as somebody else has to move",
      world: world({
        buckets: [offer("execute/D4", 4, { 0: 1 }), offer("viz/D4", 4, { 1: 1 })],
        limits: [limit("nodearray", "execute", "nodes", 0, 1), limit("nodearray", "viz", "nodes", 0, 1)],
        arrays: new Map([
          [arrayName("execute"), "managed"],
          [arrayName("viz"), "managed"],
        ]),
      }),
      demands: [
        job("any", { priority: 2, constraints: [cpus(4)] }),
        job("high", { priority: 1, constraints: [cpus(4), inArrays("execute")] }),
        job("low", { priority: 0, constraints: [cpus(4), inArrays("viz")] }),
      ],
      creates: ["1 x execute/D4", "1 x viz/D4"],
      placed: ["any 1/1 (1 pending)", "high 1/1 (1 pending)", "low 0/1 (0 pending)"],
      reasons: ["node array viz: 1 of 1 nodes used, 1 more needed, 0 left"],
    },
    {
      name: "a job that bars a placement group gets no node there, and goes into another one",
      world: world({
        buckets: [
          offer(
            "execute/D4",
            4,
            { 0: 1 },
            { maxPlacementGroupSize: 3, configuredGroups: [placementGroup("rack")] },
          ),
        ],
      }),
      demands: [
        job("a", {
          constraints: [
            cpus(1),
            inAGroup,
            { kind: "not", of: { kind: "property-choice", property: "placement_group", choices: ["rack"] } },
          ],
        }),
      ],
      creates: ["1 x execute/D4/pg-execute-D4-1"],
      placed: ["a 1/1 (1 pending)"],
    },
    {
      name: "a job that names a configured placement group gets its nodes there, as many as the group takes",
      world: world({ buckets: [inRack()] }),
      demands: [job("a", { iterations: 20, constraints: [cpus(1), inRackOnly] })],
      creates: ["3 x execute/D4/rack"],
      placed: ["a 12/20 (12 pending)"],
      reasons: ["placement group execute/D4/rack: 3 of 3 nodes used, 2 more needed, 0 left"],
    },
    {
      name: "a gang that names a configured placement group gets its nodes there, all or none",
      world: world({ buckets: [inRack()] }),
      demands: [
        job("a", { iterations: 8, colocated: true, constraints: [cpus(1), inRackOnly] }),
        job("b", { nodeCount: 2, constraints: [cpus(4), inRackOnly] }),
      ],
      creates: ["2 x execute/D4/rack"],
      placed: ["a 8/8 (8 pending)", "b 0/2 (0 pending)"],
      reasons: ["placement group execute/D4/rack: 2 of 3 nodes used, 2 more needed, 1 left"],
    },
    {
      name: "a job that names a placement group where its nodes are full gets another one there",
      world: world({
        buckets: [inRack({ configuredGroups: [], groupSizes: new Map([[placementGroup("rack"), 1]]) })],
        nodes: [node({ id: "n1", at: "execute/D4/rack" })],
      }),
      demands: [
        job("a", { nodeCount: 1, constraints: [cpus(4), inRackOnly] }),
        job("b", { nodeCount: 1, constraints: [cpus(4), inRackOnly] }),
      ],
      creates: ["1 x execute/D4/rack"],
      needed: ["n1: standard/a"],
      placed: ["a 1/1 (0 pending)", "b 1/1 (1 pending)"],
    },
    {
      name: "slots that stay together take one of two nodes in flight where their user may have no more",
      world: world({
        inFlight: [
          {
            bucket: bucket("execute/D4/g"),
            purpose: { kind: "array" },
            count: 2,
            resources: { ncpus: 4, mem: 16 },
            cores: 4,
          },
        ],
        caps: [{ kind: "user", name: "bob", unit: "cores", max: 4 }],
      }),
      demands: [job("a", { iterations: 2, colocated: true, user: "bob" })],
      placed: ["a 2/2 (2 pending)"],
    },
    {
      name: "a group finds its own nodes again, though a job of more weight would do with them and another group is unmet",
      world: mpi({
        buckets: [hb(), offer("mpi/D4", 4, { 0: 1 }, {})],
        limits: [limit("cluster", "", "nodes", 3, 3), limit("family-quota", "hb", "cores", 240, 240)],
        nodes: [
          node({ id: "n1", at: "mpi/HB120/g", cores: 120, coming: true }),
          node({ id: "n2", at: "mpi/HB120/g", cores: 120, coming: true, order: 1 }),
          node({ id: "n3", at: "mpi/D4", coming: true, order: 2 }),
        ],
      }),
      demands: [
        job("small", { priority: 1, constraints: [cpus(1), EXCLUSIVE] }),
        job("a", { nodeCount: 2, colocated: true, constraints: [cpus(100)] }),
        job("b", { nodeCount: 2, colocated: true, constraints: [cpus(100)] }),
      ],
      needed: ["n1: standard/a", "n2: standard/a", "n3: standard/small"],
      placed: ["small 1/1 (1 pending)", "a 2/2 (2 pending)", "b 0/2 (0 pending)"],
      reasons: [
        "cluster: 3 of 3 nodes used, 2 more needed, 0 left",
        "mpi/D4: ncpus 100 asked of one node, 4 offered",
      ],
    },
  ])("$name", check);
});

test("of placement groups that exist the first by name grows, however CycleCloud lists them", () => {
  const grown = (names: readonly string[]) => {
    const groupSizes = new Map(names.map((name) => [placementGroup(name), 1]));
    const one = offer("execute/D4", 4, { 0: 1 }, { maxPlacementGroupSize: 3, groupSizes });
    return shown(
      allocate(world({ buckets: [one] }), [job("a", { constraints: [cpus(1), inAGroup] })], policy, now),
    );
  };
  expect(grown(["g10", "g2"]).creates).toEqual(["1 x execute/D4/g2"]);
  expect(grown(["g2", "g10"])).toEqual({ ...grown(["g10", "g2"]) });
});
