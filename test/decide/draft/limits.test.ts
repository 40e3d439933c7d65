import { describe, expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import type { World } from "../../../src/domain/world.ts";
import { arrayName, machineType } from "../../../src/domain/ids.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import { instant } from "../../../src/domain/units.ts";
import { inArrays } from "../../support/build-constraints.ts";
import {
  bucket,
  job,
  limit,
  node,
  now,
  offer,
  plenty,
  policy,
  target,
  world,
} from "../../support/build-world.ts";
import type { Scenario } from "../search/scenario.ts";
import { check, cpus } from "../search/scenario.ts";

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
        "execute/D8: pausing until 2025-11-20T11:01:00.000Z after: SkuNotAvailable",
        "execute/D4: CycleCloud offers no new nodes here (DisabledMachineType)",
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
