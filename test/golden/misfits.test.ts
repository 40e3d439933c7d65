import { describe, expect, test } from "vitest";
import { gatherReasons } from "../../src/decide/why/fold-reasons.ts";
import { arrayName } from "../../src/domain/ids.ts";
import type { Reason } from "../../src/domain/reason.ts";
import type { BucketOffer } from "../../src/domain/world.ts";
import { renderReason } from "../../src/domain/reason-text.ts";
import { EXCLUSIVE, inArrays, needing } from "../support/build-constraints.ts";
import { bucket, job, limit, node, offer, target, world } from "./small-world.ts";
import { spanRefusal } from "../../src/decide/draft/refusals.ts";
import type { Golden } from "./refusal-scenario.ts";
import { asking, check } from "./refusal-scenario.ts";

const gib = (amount: number) => ({ resources: { ncpus: 8, mem: { amount, unit: "g" as const } } });
const sized = (at: string, amount: number) => offer(at, 8, [], gib(amount));
const withDisk = (at: string, disk: string) => offer(at, 8, [], { resources: { ncpus: 8, disk } });

describe("golden refusals", () => {
  test.each<Golden>([
    {
      name: "CycleCloud calls the bucket invalid",
      world: world([
        offer("execute/D4", 4, [], {
          refusal: { code: "bucket-invalid", bucket: bucket("execute/D4"), why: "DisabledMachineType" },
        }),
      ]),
      demand: target(1),
      placed: "0 of 1",
      reasons: ["execute/D4: CycleCloud offers no new nodes here (DisabledMachineType)"],
      binding:
        "no raise of a limit helps: execute/D4: CycleCloud offers no new nodes here (DisabledMachineType)",
    },
    {
      name: "more cores than any of twelve VM sizes has",
      world: world(
        [2, 4, 8, 12, 16, 20, 24, 32, 36, 48, 60, 64].map((cores) => offer(`execute/F${cores}`, cores, [])),
      ),
      demand: job({ constraints: needing({ ncpus: 128 }) }),
      placed: "0 of 1",
      reasons: ["12 VM sizes of execute: ncpus 128 asked of one node, at most 64 offered"],
      binding:
        "no raise of a limit helps: needs 128 ncpus on one node; the largest offered is 64 (execute/F64)",
    },
    {
      name: "more memory than any node has, in units that people read",
      world: world([sized("execute/D8", 16), sized("execute/E8", 64)]),
      demand: job(asking({ mem: "memory::65g" })),
      placed: "0 of 1",
      reasons: [
        "execute/D8: mem 65.0 GiB asked of one node, 16.0 GiB offered",
        "execute/E8: mem 65.0 GiB asked of one node, 64.0 GiB offered",
      ],
      binding:
        "no raise of a limit helps: needs 65.0 GiB mem on one node; the largest offered is 64.0 GiB (execute/E8)",
    },
    {
      name: "a plain number that was meant in MiB: in which unit it counts",
      world: world([sized("execute/D8", 16), sized("execute/E8", 64)]),
      demand: job(asking({ mem: 4096 })),
      placed: "0 of 1",
      reasons: [
        "execute/D8: mem 4.0 TiB asked of one node, 16.0 GiB offered; a plain number counts in GiB",
        "execute/E8: mem 4.0 TiB asked of one node, 64.0 GiB offered; a plain number counts in GiB",
      ],
      binding:
        "no raise of a limit helps: needs 4.0 TiB mem on one node; the largest offered is 64.0 GiB (execute/E8)",
    },
    {
      name: "a hundredth of a GiB too much is not told as equal",
      world: world([sized("execute/E8", 64)]),
      demand: job(asking({ mem: "memory::65546m" })),
      placed: "0 of 1",
      reasons: ["execute/E8: mem 64.010 GiB asked of one node, 64.000 GiB offered"],
      binding:
        "no raise of a limit helps: needs 64.010 GiB mem on one node; the largest offered is 64.000 GiB (execute/E8)",
    },
    {
      name: "a choice that no bucket has, with the nearest",
      world: world([
        withDisk("execute/A", "hdd"),
        withDisk("execute/B", "nvme2"),
        withDisk("execute/C", "ssd"),
      ]),
      demand: job(asking({ ncpus: 1, disk: ["nvme"] })),
      placed: "0 of 1",
      reasons: ["execute/A, execute/B, execute/C: disk is hdd, nvme2, ssd, asked is nvme (nearest: nvme2)"],
      binding: "no raise of a limit helps: execute/A: disk is hdd, asked is nvme",
    },
    {
      name: "a VM size that is not offered, with the nearest",
      world: world([offer("execute/Standard_F8s_v2", 8, [])]),
      demand: job(asking({ ncpus: 1, "node.vm_size": "Standard_F8_v2" })),
      placed: "0 of 1",
      reasons: ['node array "execute" offers none of Standard_F8_v2 (nearest: Standard_F8s_v2)'],
      binding:
        'no raise of a limit helps: node array "execute" offers none of Standard_F8_v2 (nearest: Standard_F8s_v2)',
    },
    {
      name: "exclusive, where every node is shared and no other can be had",
      world: world([offer("execute/D4", 4, [1])], [limit("cluster", "", "nodes", 2, 2)], {
        nodes: [node("n1", "ip-1"), node("n2", "ip-2")],
      }),
      demand: job({ constraints: [...needing({ ncpus: 1 }), EXCLUSIVE] }),
      others: [
        job({
          id: "b",
          iterations: 2,
          placed: [
            { hostname: "ip-1", iterations: 1 },
            { hostname: "ip-2", iterations: 1 },
          ],
        }),
      ],
      placed: "0 of 1",
      reasons: [
        "cluster: 2 of 2 nodes used, 1 more needed, 0 left",
        "2 nodes have other jobs, and the job wants nodes to itself",
      ],
      binding: "1 more node of the cluster would place all of it",
    },
    {
      name: "no such node array, with the nearest",
      world: world([offer("execute/D4", 4, [])], [], {
        arrays: new Map([
          [arrayName("execute"), "managed"],
          [arrayName("login"), "not-managed"],
        ]),
      }),
      demand: job({ constraints: [...needing({ ncpus: 1 }), inArrays("exceute")] }),
      placed: "0 of 1",
      reasons: [
        'node array "exceute" does not exist in the cluster (nearest: execute; known: execute, login)',
      ],
      binding:
        'no raise of a limit helps: node array "exceute" does not exist in the cluster (nearest: execute; known: execute, login)',
    },
    {
      name: "a job that names no array could have meant one that is not ours",
      world: world([offer("execute/D4", 4, [1])], [limit("cluster", "", "nodes", 2, 2)], {
        arrays: new Map([
          [arrayName("execute"), "managed"],
          [arrayName("login"), "not-managed"],
        ]),
      }),
      demand: job(),
      placed: "0 of 1",
      reasons: [
        "cluster: 2 of 2 nodes used, 1 more needed, 0 left",
        'node array "login" is not autoscaled (Configuration.autoscale.enabled is false, or it is not in the configured nodearrays)',
      ],
      binding: "1 more node of the cluster would place all of it",
    },
    {
      name: "a cluster that is not started",
      world: world([offer("execute/D4", 4, [])], [], {
        closed: { code: "cluster-not-started", state: "Terminated", targetState: "Started" },
      }),
      demand: target(1),
      placed: "0 of 1",
      reasons: ["the cluster is not started (state Terminated, target state Started)"],
      binding:
        "no raise of a limit helps: the cluster is not started (state Terminated, target state Started)",
    },
    {
      name: "spot only, and no bucket is spot",
      world: world([offer("execute/D4", 4, [])]),
      demand: job({ nodeCount: 2, spot: "only" }),
      placed: "0 of 2",
      reasons: ["execute/D4: nodes are not spot, and the job asks for spot only"],
      binding: "no raise of a limit helps: execute/D4: nodes are not spot, and the job asks for spot only",
    },
    {
      name: "spot never, and every bucket is spot",
      world: world([offer("execute/D4", 4, [], { spot: true })]),
      demand: job({ nodeCount: 2, spot: "never" }),
      placed: "0 of 2",
      reasons: ["execute/D4: nodes may be evicted (spot), which the job does not allow"],
      binding:
        "no raise of a limit helps: execute/D4: nodes may be evicted (spot), which the job does not allow",
    },
    {
      // Eight more than eighty is less in proportion than eight more than eight.
      name: "of two buckets the one that lacks less",
      world: world(
        [offer("execute/D4", 4, [4]), offer("execute/E4", 4, [0, 4])],
        [
          limit("family-quota", "standardDFamily", "cores", 8, 8),
          limit("family-quota", "standardEFamily", "cores", 80, 80),
        ],
      ),
      demand: job({ iterations: 8 }),
      placed: "0 of 8",
      reasons: [
        "family quota standardDFamily: 8 of 8 cores used, 8 more needed, 0 left",
        "family quota standardEFamily: 80 of 80 cores used, 8 more needed, 0 left",
      ],
      binding: "8 more cores of family quota standardEFamily would place all of it",
    },
  ])("$name", check);
});

describe("nothing is refused", () => {
  const D4 = offer("execute/D4", 4, []);
  const spot = offer("execute/D4", 4, [], { spot: true });
  test.each<Pick<Golden, "name" | "demand"> & { readonly at: BucketOffer }>([
    { name: "spot is welcome", at: spot, demand: job({ nodeCount: 2, spot: "allow" }) },
    { name: "nothing was said of spot", at: spot, demand: job({ nodeCount: 2 }) },
    { name: "no spot, and none is", at: D4, demand: job({ nodeCount: 2, spot: "never" }) },
  ])("$name", ({ at, ...golden }) => {
    check({ ...golden, world: world([at]), placed: "2 of 2", reasons: [] });
  });
});

describe("golden refusals one by one", () => {
  test.each<{ readonly name: string; readonly reason: Reason | undefined; readonly text?: string }>([
    {
      name: "a gang over several buckets that all of them together cannot hold",
      reason: spanRefusal(8, 6),
      text: "8 nodes asked for at once, 6 possible in all buckets together",
    },
    { name: "all of them together can", reason: spanRefusal(6, 6) },
  ])("$name", ({ reason, text }) => {
    expect(reason && renderReason(reason)).toBe(text);
  });
});

describe("alike reasons are one", () => {
  const misfit = (at: string, offered: number): Reason => ({
    code: "does-not-fit",
    bucket: bucket(at),
    resource: "ncpus",
    asked: 128,
    offered,
  });
  const texts = (reasons: readonly Reason[]) => gatherReasons(reasons).reasons.map(renderReason);

  test("two stay two, three of one array are named, four are counted", () => {
    const four = [
      misfit("execute/A", 4),
      misfit("execute/B", 64),
      misfit("execute/C", 8),
      misfit("gpu/A", 16),
    ];
    expect(texts(four.slice(0, 2))).toEqual([
      "execute/A: ncpus 128 asked of one node, 4 offered",
      "execute/B: ncpus 128 asked of one node, 64 offered",
    ]);
    expect(texts(four.slice(0, 3))).toEqual([
      "execute/A, execute/B, execute/C: ncpus 128 asked of one node, at most 64 offered",
    ]);
    expect(texts(four)).toEqual([
      "3 VM sizes of execute, 1 of gpu: ncpus 128 asked of one node, at most 64 offered",
    ]);
  });

  test("a limit is named once, with the least and the most that is asked of it", () => {
    const full = (at: string, asked: number): Reason => ({
      code: "limit-reached",
      limit: { kind: "family-quota", name: "standardFFamily", unit: "cores" },
      used: 64,
      max: 64,
      left: 0,
      asked,
      bucket: bucket(at),
    });
    expect(texts([full("execute/F8", 40), full("execute/F4", 36)])).toEqual([
      "family quota standardFFamily: 64 of 64 cores used, at least 36 more needed, 0 left (execute/F8, execute/F4)",
    ]);
  });

  test("twelve are kept, and the others are counted", () => {
    const many = Array.from({ length: 15 }, (_, i): Reason => ({ code: "no-bucket", array: `a${i}` }));
    const { reasons, moreReasons } = gatherReasons(many);
    expect(reasons.map(renderReason).slice(-1)).toEqual([
      'node array "a11" has no VM size that CycleCloud\'s status offers',
    ]);
    expect(moreReasons).toBe(3);
  });
});
