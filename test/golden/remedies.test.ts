import { expect, test } from "vitest";
import { allocate } from "../../src/decide/search/allocate.ts";
import { suppose } from "../../src/decide/what-if/what-if.ts";
import type { Allocation } from "../../src/domain/allocation.ts";
import { renderRemedy } from "../../src/domain/remedy.ts";
import type { LimitChange } from "../../src/domain/what-if.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import { parseOptions } from "../../src/simulator/options-file.ts";
import type { Cluster, Fields } from "../first-tries/clusters.ts";
import { planOn, tryOut } from "../first-tries/try-out.ts";
import { NOW } from "../support/build-node.ts";
import { EXCLUSIVE, needing } from "../support/build-constraints.ts";
import { policy } from "../support/build-world.ts";
import { raised } from "../property/followed-remedy.ts";
import { job, limit, offer, world } from "./small-world.ts";

/** Remedies on small clusters, given as files for the simulator, and what a dry run with the raised limits says. */

const SIZES = {
  Standard_F4s_v2: { vcpuCount: 4, memory: 8, family: "standardFSv2Family" },
  Standard_F8s_v2: { vcpuCount: 8, memory: 16, family: "standardFSv2Family" },
  Standard_F16s_v2: { vcpuCount: 16, memory: 32, family: "standardFSv2Family" },
  Standard_NC16as_T4_v3: { vcpuCount: 16, gpuCount: 1, memory: 110, family: "Standard NCASv3_T4 Family" },
  Standard_NC8as_T4_v3: { vcpuCount: 8, gpuCount: 1, memory: 56, family: "Standard NCASv3_T4 Family" },
};

/** The cluster as the simulator of the file shows it. */
function clusterOf(name: string, regional: number, arrays: readonly Fields[], config: Fields = {}): Cluster {
  const enabled = arrays.map(({ resources, ...array }) => ({
    region: "westeurope",
    configuration: { autoscale: { enabled: true, ...(resources === undefined ? {} : { resources }) } },
    ...array,
  }));
  const family = { standardFSv2Family: 1000, "Standard NCASv3_T4 Family": 1000 };
  const file = {
    clusters: [{ name: "demo", arrays: enabled }],
    machineTypes: SIZES,
    quotas: { regional: { westeurope: regional }, family },
  };
  const read = parseOptions(JSON.stringify(file));
  if (read.kind !== "options") throw new Error(read.problems);
  const { body } = new Simulator(read.options, { now: () => NOW }).request({
    method: "GET",
    path: "/clusters/demo/status",
    query: { nodes: "true" },
  });
  return { name, config, status: JSON.parse(JSON.stringify(body)) };
}

const messageOf = (jobs: readonly Fields[], more: Fields = {}): Fields => ({
  expirationInterval: 86_400,
  jobs,
  ...more,
});

const linesOf = ({ outcomes }: Pick<Allocation, "outcomes">): readonly string[] =>
  outcomes.map(({ id, placed, asked, binding }) =>
    [`${id}: ${placed} of ${asked}`, ...(binding === undefined ? [] : [renderRemedy(binding)])].join("; "),
  );

const CASES = [
  {
    // Packed by rank alone, 8 more cores would go to a larger node of j2, and j5 would lose what it has.
    name: "a raise that another job would use first is no remedy",
    cluster: clusterOf("R1", 24, [
      { name: "gpu16", maxCount: 2, machineTypes: ["Standard_NC16as_T4_v3"] },
      { name: "gpu8", maxCount: 1, machineTypes: ["Standard_NC8as_T4_v3"], resources: { kind: "A" } },
      { name: "cpu8", maxCount: 1, machineTypes: ["Standard_F8s_v2"], resources: { kind: "A" } },
    ]),
    message: messageOf([
      { name: "j2", iterations: 2, constraints: [{ ncpus: 2, ngpus: 1 }] },
      { name: "j5", iterations: 4, constraints: [{ ncpus: 2 }, { kind: "A" }] },
    ]),
    before: ["j2: 2 of 2", "j5: 3 of 4; 8 more cores of regional quota westeurope would place all of it"],
    limits: [{ kind: "regional-quota", name: "westeurope", unit: "cores", change: { more: 8 } }],
    after: ["j2: 2 of 2", "j5: 4 of 4"],
  },
  {
    name: "both jobs on one node of the larger size need less than a node for each",
    cluster: clusterOf("L1", 4, [
      { name: "small", maxCount: 1, machineTypes: ["Standard_F4s_v2"], priority: 1 },
      { name: "big", maxCount: 1, machineTypes: ["Standard_F16s_v2"], priority: 2 },
    ]),
    message: messageOf([
      { name: "j1", iterations: 1, constraints: [{ ncpus: 1 }] },
      { name: "j2", iterations: 1, constraints: [{ ncpus: 6 }] },
    ]),
    before: ["j1: 1 of 1", "j2: 0 of 1; 12 more cores of regional quota westeurope would place all of it"],
    limits: [{ kind: "regional-quota", name: "westeurope", unit: "cores", change: { more: 12 } }],
    after: ["j1: 1 of 1", "j2: 1 of 1"],
  },
] satisfies readonly {
  readonly limits: readonly LimitChange[];
  readonly [key: string]: unknown;
}[];

test.each(CASES)("$cluster.name: $name", ({ cluster, message, before, limits, after }) => {
  const tried = tryOut(cluster, { preference: "existing-first", among: "priority" }, message);
  expect(linesOf(tried.allocation)).toEqual(before);
  const { record, bodies, snapshot, policy: inForce } = tried;
  const whatIf = { policy: inForce, updates: [], limits, buckets: [] };
  const supposed = suppose(record, bodies, snapshot, whatIf, NOW);
  if (supposed.kind !== "state") throw new Error("the limits are unknown");
  const then = planOn({
    ...tried,
    record: supposed.record,
    bodies: supposed.bodies,
    snapshot: supposed.bodies.seen ?? snapshot,
  });
  expect(linesOf(then.allocation)).toEqual(after);
});

test.each(["existing-first", "bucket-order"] as const)(
  "P: a pool that a job names twice counts twice, and its remedy names it once (%s)",
  (preference) => {
    const cluster = clusterOf(`P ${preference}`, 1000, [
      { name: "a", maxCount: 10, machineTypes: ["Standard_F8s_v2"] },
    ]);
    const jobs = [
      { name: "j", iterations: 8, constraints: [{ pool: { lic: 1 } }, { pool: { lic: 1 } }, { ncpus: 1 }] },
    ];
    const mode = { preference, among: "priority" } as const;
    const placed = (total: number): readonly string[] =>
      linesOf(
        tryOut(cluster, mode, messageOf(jobs, { pools: [{ name: "lic", total, used: 0 }] })).allocation,
      );
    expect(placed(7)).toEqual(["j: 3 of 8; 9 more of pool lic would place all of it"]);
    expect(placed(15)).toEqual(["j: 7 of 8; 1 more of pool lic would place all of it"]);
    expect(placed(16)).toEqual(["j: 8 of 8"]);
  },
);

test("R2: a raise is enough for all slots, not for some", () => {
  const quota = limit("family-quota", "f2", "cores", 0, 16);
  const on = world(
    [offer("execute/S2", 8, [8, 1]), offer("execute/S3", 4, [0, 0, 1])],
    [quota, limit("bucket", "execute/S2", "nodes", 0, 4), limit("bucket", "execute/S3", "nodes", 0, 3)],
  );
  const demands = [
    job({ id: "one", position: 0, constraints: [...needing({ ncpus: 1 }), EXCLUSIVE] }),
    job({ id: "two", position: 1, constraints: needing({ ncpus: 6 }), iterations: 2 }),
    job({ id: "six", position: 2, constraints: needing({ ncpus: 3 }), iterations: 6 }),
  ];
  const first = allocate(on, demands, policy, NOW);
  const binding = first.outcomes[2]?.binding;
  if (binding?.kind !== "raise") throw new Error(`not to be raised: ${linesOf(first).join(", ")}`);
  expect(linesOf(first)).toEqual([
    "one: 1 of 1",
    "two: 2 of 2",
    "six: 2 of 6; 16 more cores of family quota f2 would place all of it",
  ]);
  expect(linesOf(allocate(raised(on, binding.raises), demands, policy, NOW))).toEqual([
    "one: 1 of 1",
    "two: 2 of 2",
    "six: 6 of 6",
  ]);
});

test("licences keep a mix from being searched: the raise is for the nodes beside those that the job got", () => {
  const on = world(
    [
      offer("execute/S0", 4, [4], { resources: { ncpus: 2 }, price: 8 }),
      offer("execute/S1", 16, [16], { resources: { ncpus: 4 }, price: 9 }),
    ],
    [limit("cluster", "", "cores", 0, 18)],
    { pools: [{ name: "lic", total: 5, used: 0 }] },
  );
  const constraints = [...needing({ ncpus: 1 }), { kind: "pool", pool: "lic", amount: 1 } as const];
  const demands = [job({ constraints, iterations: 5 })];
  const first = allocate(on, demands, { ...policy, among: "cheapest" }, NOW);
  // Three S0 would have room for all five.
  expect(linesOf(first)).toEqual(["a: 4 of 5; 2 more cores of the cluster would place all of it"]);
});
