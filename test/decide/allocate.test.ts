import { describe, expect, test } from "vitest";
import { allocate } from "../../src/decide/allocate.ts";
import { propertiesOf } from "../../src/decide/fit.ts";
import type { Allocation, AllocationPolicy, BucketOffer, World } from "../../src/domain/allocation.ts";
import type { Constraint } from "../../src/domain/constraint.ts";
import type { JobDemand, RankedDemand } from "../../src/domain/demand.ts";
import { arrayName, machineType, placementGroup } from "../../src/domain/ids.ts";
import type { Reason } from "../../src/domain/reason.ts";
import { renderReason } from "../../src/domain/reason.ts";
import { bucketText } from "../../src/domain/bucket.ts";
import { instant } from "../../src/domain/units.ts";
import { readConstraints } from "../../src/wire/constraint.ts";
import { EXCLUSIVE, inArrays, needing } from "../support/build-constraints.ts";
import type { ShortNode } from "../support/build-world.ts";
import {
  bucket,
  groups,
  job,
  limit,
  node,
  now,
  offer,
  plenty,
  policy,
  target,
  world,
} from "../support/build-world.ts";

/** What a reader wants to see of an allocation. */
function shown(answer: Allocation) {
  return {
    creates: answer.creates.map((create) => `${create.count} x ${bucketText(create.bucket)}`),
    needed: [...answer.needed].map(([id, by]) => `${id}: ${by.join(" ")}`).sort(),
    placed: answer.outcomes.map(
      ({ id, placed, pending, asked }) => `${id} ${placed}/${asked} (${pending} pending)`,
    ),
    reasons: answer.outcomes.flatMap(({ reasons }) => reasons.map(renderReason)),
  };
}

const hb = (more: Partial<BucketOffer> = {}) =>
  offer("mpi/HB120", 120, { 0: 1, 1: 120 }, { maxPlacementGroupSize: 4, ...more });
const mpiArrays: World["arrays"] = new Map([[arrayName("mpi"), "managed"]]);
const mpi = (more: Partial<World> = {}): World =>
  world({
    buckets: [hb()],
    limits: [plenty, limit("family-quota", "standardHBv3Family", "cores", 0, 1200)],
    arrays: mpiArrays,
    ...more,
  });
const inMpi = { constraints: [...needing({ ncpus: 1 }), inArrays("mpi")] };

interface Scenario {
  readonly name: string;
  readonly world: World;
  readonly demands: readonly RankedDemand[];
  readonly creates?: readonly string[];
  readonly needed?: readonly string[];
  readonly placed: readonly string[];
  readonly reasons?: readonly string[];
  readonly among?: AllocationPolicy["among"];
}

function check(scenario: Scenario): void {
  const { world, demands, creates = [], needed = [], placed, reasons = [], among = "priority" } = scenario;
  expect(shown(allocate(world, demands, { ...policy, among }, now))).toEqual({
    creates,
    needed,
    placed,
    reasons,
  });
}

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

describe("limits and reasons", () => {
  const bothOurs: World["arrays"] = new Map([
    [arrayName("a"), "managed"],
    [arrayName("b"), "managed"],
  ]);
  test.each<Scenario>([
    {
      name: "the cluster's limit is shared by two arrays",
      world: world({
        arrays: bothOurs,
        buckets: [offer("a/D4", 4, { 0: 1 }), offer("b/D4", 4, { 0: 1 })],
        limits: [limit("cluster", "", "nodes", 0, 3)],
      }),
      demands: [target("ta", 2, { array: arrayName("a") }), target("tb", 2, { array: arrayName("b") })],
      creates: ["2 x a/D4", "1 x b/D4"],
      placed: ["ta 2/2 (2 pending)", "tb 1/2 (1 pending)"],
      reasons: ["cluster: 3 of 3 nodes used, 1 more needed, 0 left"],
    },
    {
      name: "a family quota is taken at what a constrained size costs there, and is shared by two sizes",
      world: world({
        buckets: [offer("execute/HB16", 16, { 0: 120 }), offer("execute/HB120", 120, { 0: 120 })],
        limits: [limit("family-quota", "standardHBv3Family", "cores", 120, 480)],
      }),
      demands: [target("t", 5)],
      creates: ["3 x execute/HB16"],
      placed: ["t 3/5 (3 pending)"],
      reasons: [
        "family quota standardHBv3Family: 480 of 480 cores used, 240 more needed, 0 left (execute/HB16, execute/HB120)",
      ],
    },
    {
      name: "a limit that is full sends the rest to the next bucket",
      world: world({
        buckets: [offer("execute/D4", 4, { 0: 1, 1: 1 }), offer("execute/D8", 8, { 0: 1 })],
        limits: [plenty, limit("bucket", "execute/D4", "nodes", 4, 5)],
      }),
      demands: [job("a", { iterations: 12 })],
      creates: ["1 x execute/D4", "1 x execute/D8"],
      placed: ["a 12/12 (12 pending)"],
    },
    {
      name: "invalid and backing-off buckets keep their reasons; a pause that is over is none",
      world: world({
        buckets: [
          offer(
            "execute/D4",
            4,
            { 0: 1 },
            {
              refusal: { code: "bucket-invalid", bucket: bucket("execute/D4"), why: "DisabledMachineType" },
            },
          ),
          offer(
            "execute/D8",
            8,
            { 0: 1 },
            {
              refusal: {
                code: "backing-off",
                bucket: bucket("execute/D8"),
                until: instant(now + 60_000),
                message: "SkuNotAvailable",
              },
            },
          ),
        ],
      }),
      demands: [job("a")],
      placed: ["a 0/1 (0 pending)"],
      reasons: [
        "execute/D4: CycleCloud offers no new nodes here (DisabledMachineType)",
        "execute/D8: pausing until 2025-11-20T11:01:00.000Z after: SkuNotAvailable",
      ],
    },
    {
      name: "a pause that is over is none",
      world: world({
        buckets: [
          offer(
            "execute/D8",
            8,
            { 0: 1 },
            {
              refusal: {
                code: "backing-off",
                bucket: bucket("execute/D8"),
                until: now,
                message: "SkuNotAvailable",
              },
            },
          ),
        ],
      }),
      demands: [job("a")],
      creates: ["1 x execute/D8"],
      placed: ["a 1/1 (1 pending)"],
    },
    {
      name: "a cluster that is not started gets nothing new, and its nodes still count",
      world: world({
        nodes: [node({ id: "n1" })],
        closed: { code: "cluster-not-started", state: "Terminating", targetState: "Terminated" },
      }),
      demands: [target("t", 2)],
      needed: ["n1: standard/t"],
      placed: ["t 1/2 (0 pending)"],
      reasons: ["the cluster is not started (state Terminating, target state Terminated)"],
    },
    {
      name: "arrays that are unknown, not ours, or without the size",
      world: world({
        arrays: new Map([
          [arrayName("execute"), "managed"],
          [arrayName("login"), "not-managed"],
        ]),
      }),
      demands: [
        target("gpu", 1, { array: arrayName("gpu") }),
        target("login", 1, { array: arrayName("login") }),
        target("size", 1, { machineTypes: [machineType("NC6")] }),
      ],
      placed: ["gpu 0/1 (0 pending)", "login 0/1 (0 pending)", "size 0/1 (0 pending)"],
      reasons: [
        'node array "gpu" does not exist in the cluster (known: execute, login)',
        'node array "login" is not autoscaled (Configuration.autoscale.enabled is false, or it is not in the configured nodearrays)',
        'node array "execute" offers none of NC6',
      ],
    },
  ])("$name", check);
});

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

describe("groups", () => {
  const exec = (more: Partial<BucketOffer> = {}) =>
    offer("execute/D4", 4, { 0: 1 }, { maxPlacementGroupSize: 16, ...more });
  const member = (id: string, group: string, more: Partial<ShortNode> = {}) =>
    node({ id, at: `execute/D4/${group}`, group: { key: "execute:2n" }, ...more });
  const other = offer("execute/F4", 4, { 0: 1 }, { maxPlacementGroupSize: 16 });
  const pauseOf = (at: string): Reason => ({
    code: "backing-off",
    bucket: bucket(at),
    until: instant(now + 1000),
    message: "AllocationFailed",
  });
  const paused = (group: string) =>
    exec({ groupRefusals: new Map([[placementGroup(group), pauseOf(`execute/D4/${group}`)]]) });
  const fill = (group: string, seconds: number) => ({
    bucket: bucket(`execute/D4/${group}`),
    key: "execute:2n",
    since: instant(now - seconds * 1000),
  });
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
      name: "no fresh group while one of the bucket is backing off",
      world: world({
        buckets: [
          exec({
            groupRefusals: new Map([
              [
                placementGroup("pg-execute-2n-1"),
                {
                  code: "backing-off",
                  bucket: bucket("execute/D4/pg-execute-2n-1"),
                  until: instant(now + 1000),
                  message: "AllocationFailed",
                },
              ],
            ]),
          }),
        ],
      }),
      demands: [groups("g", 1, 2)],
      placed: ["g 0/1 (0 pending)"],
      reasons: ["execute/D4/pg-execute-2n-1: pausing until 2025-11-20T11:00:01.000Z after: AllocationFailed"],
    },
    {
      name: "a group lacks a node that cannot be had just now: it is waited for, and nothing is made in its place",
      world: world({
        nodes: [member("n1", "pg-execute-2n-1")],
        buckets: [paused("pg-execute-2n-1"), other],
      }),
      demands: [groups("g", 1, 2)],
      needed: ["n1: standard/g"],
      placed: ["g 0/1 (0 pending)"],
      reasons: [
        "execute/D4/pg-execute-2n-1: has 1 of 2 nodes of a group, and is filled until 2025-11-20T11:10:00.000Z",
        "execute/D4/pg-execute-2n-1: pausing until 2025-11-20T11:00:01.000Z after: AllocationFailed",
      ],
    },
    {
      name: "one waited for is one asked for: only the second group is made",
      world: world({
        nodes: [member("n1", "pg-execute-2n-1")],
        buckets: [paused("pg-execute-2n-1"), other],
      }),
      demands: [groups("g", 2, 2, {}, "one"), groups("g", 1, 2, {}, "two")],
      creates: ["2 x execute/F4/pg-execute-2n-2"],
      needed: ["n1: one/g"],
      placed: ["g 1/2 (1 pending)", "g 1/1 (1 pending)"],
      reasons: [
        "execute/D4/pg-execute-2n-1: has 1 of 2 nodes of a group, and is filled until 2025-11-20T11:10:00.000Z",
        "execute/D4/pg-execute-2n-1: pausing until 2025-11-20T11:00:01.000Z after: AllocationFailed",
      ],
    },
    {
      name: "its time is not over",
      world: world({
        nodes: [member("n1", "pg-execute-2n-1")],
        buckets: [paused("pg-execute-2n-1"), other],
        groupFills: [fill("pg-execute-2n-1", 599)],
      }),
      demands: [groups("g", 1, 2)],
      needed: ["n1: standard/g"],
      placed: ["g 0/1 (0 pending)"],
      reasons: [
        "execute/D4/pg-execute-2n-1: has 1 of 2 nodes of a group, and is filled until 2025-11-20T11:00:01.000Z",
        "execute/D4/pg-execute-2n-1: pausing until 2025-11-20T11:00:01.000Z after: AllocationFailed",
      ],
    },
    {
      name: "its time is over: nobody needs its nodes, and the next VM size is tried, not its own, which is open",
      world: world({
        nodes: [member("n1", "pg-execute-2n-1")],
        buckets: [exec(), other],
        groupFills: [fill("pg-execute-2n-1", 600)],
      }),
      demands: [groups("g", 1, 2)],
      creates: ["2 x execute/F4/pg-execute-2n-2"],
      placed: ["g 1/1 (1 pending)"],
    },
    {
      name: "its time is over, and there is no other VM size",
      world: world({
        nodes: [member("n1", "pg-execute-2n-1")],
        buckets: [exec()],
        groupFills: [fill("pg-execute-2n-1", 600)],
      }),
      demands: [groups("g", 1, 2)],
      placed: ["g 0/1 (0 pending)"],
      reasons: [
        "execute/D4/pg-execute-2n-1: still had 1 of 2 nodes of a group, which it has lacked since 2025-11-20T10:50:00.000Z",
      ],
    },
    {
      name: "its time is over, but what it lacked is on its way",
      world: world({
        nodes: [member("n1", "pg-execute-2n-1")],
        inFlight: [
          {
            bucket: bucket("execute/D4/pg-execute-2n-1"),
            purpose: { kind: "group", key: "execute:2n", group: "pg-execute-2n-1" },
            resources: { ncpus: 4 },
            cores: 4,
            count: 1,
          },
        ],
        buckets: [exec(), other],
        groupFills: [fill("pg-execute-2n-1", 6000)],
      }),
      demands: [groups("g", 1, 2)],
      needed: ["n1: standard/g"],
      placed: ["g 1/1 (1 pending)"],
    },
    {
      name: "one that was given up is not taken up again while the group in its place lacks nodes itself",
      world: world({
        nodes: [
          member("n1", "pg-execute-2n-1"),
          member("n2", "pg-execute-2n-2", { at: "execute/F4/pg-execute-2n-2" }),
        ],
        buckets: [exec(), { ...other, refusal: pauseOf("execute/F4") }],
        groupFills: [
          { ...fill("pg-execute-2n-1", 700), givenUpAt: instant(now - 100_000) },
          { ...fill("pg-execute-2n-2", 90), bucket: bucket("execute/F4/pg-execute-2n-2") },
        ],
      }),
      demands: [groups("g", 1, 2)],
      needed: ["n2: standard/g"],
      placed: ["g 0/1 (0 pending)"],
      reasons: [
        "execute/F4/pg-execute-2n-2: has 1 of 2 nodes of a group, and is filled until 2025-11-20T11:08:30.000Z",
        "execute/F4: pausing until 2025-11-20T11:00:01.000Z after: AllocationFailed",
      ],
    },
    {
      name: "one that was given up is filled again when its bucket's turn comes, rather than a new one made",
      world: world({
        nodes: [member("n1", "pg-execute-2n-1")],
        buckets: [exec(), other],
        groupFills: [{ ...fill("pg-execute-2n-1", 700), givenUpAt: instant(now - 100_000) }],
      }),
      demands: [groups("g", 1, 2)],
      creates: ["1 x execute/D4/pg-execute-2n-1"],
      needed: ["n1: standard/g"],
      placed: ["g 1/1 (1 pending)"],
    },
    {
      name: "a bucket that takes no nodes any more is not waited for",
      world: world({
        nodes: [member("n1", "pg-execute-2n-1")],
        buckets: [
          exec({ refusal: { code: "bucket-invalid", bucket: bucket("execute/D4"), why: "NotActivated" } }),
          other,
        ],
      }),
      demands: [groups("g", 1, 2)],
      creates: ["2 x execute/F4/pg-execute-2n-2"],
      placed: ["g 1/1 (1 pending)"],
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

/** Constraints as a job's JSON has them. */
function asking(...json: readonly object[]): Partial<JobDemand> {
  return { constraints: readConstraints(json, "", { problems: [], doubts: [] }) };
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
      name: "of two alternatives the first that holds in a bucket is charged there",
      world: twoSizes(),
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

const cpus = (amount: number): Constraint => ({ kind: "amount", resource: "ncpus", amount });
const inRackOnly: Constraint = { kind: "property-choice", property: "placement_group", choices: ["rack"] };
const inRack = (more: Partial<BucketOffer> = {}) =>
  offer(
    "execute/D4",
    4,
    { 0: 1 },
    { maxPlacementGroupSize: 3, configuredGroups: [placementGroup("rack")], ...more },
  );
const inAGroup: Constraint = { kind: "in-a-placement-group", wanted: true };

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

test("reasons are worked out for the first thousand unmet jobs that differ; the others name one of them", () => {
  const demands = Array.from({ length: 1003 }, (_, i) =>
    job(`j${i}`, {
      constraints: i === 1002 ? [cpus(1), inArrays("execute")] : [cpus(1 + (i % 1001) / 1001)],
    }),
  );
  const full = world({ limits: [limit("cluster", "", "nodes", 3, 3)] });
  const { outcomes } = allocate(full, demands, policy, now);
  expect(
    outcomes.slice(999).map(({ id, reasons }) => `${id}: ${reasons.map(renderReason).join("; ")}`),
  ).toEqual([
    "j999: cluster: 3 of 3 nodes used, 1 more needed, 0 left",
    "j1000: reasons are worked out for the 1000 unmet jobs of highest rank; standard/j0 is one of them, and asks for the same nodes",
    "j1001: cluster: 3 of 3 nodes used, 1 more needed, 0 left",
    "j1002: reasons are worked out for the 1000 unmet jobs of highest rank",
  ]);
});
