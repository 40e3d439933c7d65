import { describe, expect, test } from "vitest";
import { readyOnly } from "../../../src/decide/world/build-world.ts";
import type { World } from "../../../src/domain/world.ts";
import type { Node, NodePhase } from "../../../src/domain/cluster.ts";
import { arrayName, machineType, nodeId, requestId, setName } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import type { LedgerNode, NodeStart } from "../../../src/domain/ledger.ts";
import { rememberNode } from "../../support/build-node.ts";
import { buildJob } from "../../support/build-record.ts";
import { bucketText } from "../../../src/domain/bucket.ts";
import { D4, array, at, bucket, build, limitsOf, node, now } from "./small-snapshot.ts";

/** What a node of four vCPUs and 16 GiB offers by default resources alone. */
const OFFERED = {
  ncpus: 4,
  pcpus: 4,
  ngpus: 0,
  mem: { amount: 16, unit: "g" },
  memb: { amount: 17_179_869_184, unit: "b" },
  memkb: { amount: 16_777_216, unit: "k" },
  memmb: { amount: 16_384, unit: "m" },
  memgb: { amount: 16, unit: "g" },
  memtb: { amount: 0.015625, unit: "t" },
  nodearray: "execute",
  ccnodeid: null,
};

describe("supply", () => {
  test.each<{ phase: NodePhase; counts: boolean }>([
    { phase: "ready", counts: true },
    { phase: "coming", counts: true },
    { phase: "failed", counts: false },
    { phase: "going", counts: false },
    { phase: "off", counts: false },
    { phase: "unknown", counts: false },
  ])("a node that is $phase is capacity: $counts", ({ phase, counts }) => {
    expect(build({ nodes: [node("n", phase)] }).nodes.length).toBe(counts ? 1 : 0);
  });

  describe("a deallocated node", () => {
    const start = (state: NodeStart["state"]): Partial<LedgerNode> => ({ start: { state, since: now } });
    const limited = { limit: { count: 10 } };
    const one = (
      known: Partial<LedgerNode> = {},
      more: Partial<Node> = {},
      arrays = [
        array("execute", [bucket(D4, { regionalQuota: { quotaCores: 40, consumedCores: 8 } })], limited),
      ],
    ) => {
      const asleep = { ...node("n", "deallocated"), ...more };
      return build(
        { nodes: [asleep], arrays, limit: { cores: 100 } },
        { ledger: new Map([[asleep.nodeId, rememberNode(asleep, known)]]) },
      );
    };
    const named = (world: World) =>
      world.nodes.map(({ deallocated = false, ready, charges }) => ({
        deallocated,
        ready,
        charges: charges?.map(({ limit, amount }) => `${amount} of ${world.limits[limit]?.id.kind}`),
      }));

    test("may be started: array and cluster are charged for it, quota and availability are not", () => {
      const world = one();
      expect(named(world)).toEqual([
        { deallocated: true, ready: false, charges: ["1 of nodearray", "4 of cluster"] },
      ]);
      expect(limitsOf(world)).toEqual([
        "regional-quota westeurope cores: 8/40, 32 left",
        "nodearray execute nodes: 0/10, 10 left",
        "cluster  cores: 0/100, 100 left",
        "bucket execute/Standard_D4s_v5 nodes: 0/50, 50 left",
      ]);
    });

    test.each(["unsure", "accepted"] as const)(
      "asked to start (%s) is coming, and counts against every limit",
      (state) => {
        const world = one(start(state));
        expect(named(world)).toEqual([{ deallocated: false, ready: false, charges: undefined }]);
        expect(limitsOf(world)).toEqual([
          "regional-quota westeurope cores: 12/40, 28 left",
          "nodearray execute nodes: 1/10, 9 left",
          "cluster  cores: 4/100, 96 left",
          "bucket execute/Standard_D4s_v5 nodes: 1/50, 49 left",
        ]);
      },
    );

    test.each([
      { name: "resting after a start that came to nothing", known: start("refused") },
      { name: "with KeepAlive", node: { keepAlive: true } },
      { name: "of a size that the array has no more", node: { machineType: machineType("Standard_D8s_v5") } },
      {
        name: "of an array that is not ours",
        arrays: [array("execute", [bucket(D4)], { autoscaled: false })],
      },
    ])("is no supply: $name", ({ known, node: more, arrays }) => {
      expect(one(known, more, arrays).nodes).toEqual([]);
    });

    test("that is being stopped is no supply", () => {
      expect(
        build({ nodes: [node("n", "deallocated")] }, { excluded: new Set([nodeId("n")]) }).nodes,
      ).toEqual([]);
    });

    test("does not stand in for one that is to be stopped", () => {
      expect(readyOnly(one()).nodes).toEqual([]);
    });
  });

  test.each([
    { name: "draining nodes", more: { excluded: new Set([nodeId("n")]) }, snapshot: {} },
    {
      name: "an array that is not autoscaled",
      more: {},
      snapshot: { arrays: [array("execute", [bucket(D4)], { autoscaled: false })] },
    },
    {
      name: "an array that the policy does not name",
      more: { policy: { ...DEFAULT_POLICY, nodearrays: [arrayName("other")] } },
      snapshot: {},
    },
    { name: "an array that the status does not know", more: {}, snapshot: { arrays: [] } },
  ])("no capacity: $name", ({ snapshot, more }) => {
    expect(build({ nodes: [node("n")], ...snapshot }, more).nodes).toEqual([]);
  });

  test("a new node and an existing one of the same bucket offer the same, whatever the node says of itself", () => {
    const arrays = [array("execute", [bucket(D4)], { resources: { licence: 2, ncpus: 2 } })];
    const nodes = [
      node("n", "ready", { vcpus: 3, memoryGib: 15.6, machineType: machineType("standard_d4S_v5") }),
    ];
    const world = build({ arrays, nodes });
    const offers = { ...OFFERED, ncpus: 2, licence: 2 };
    expect([world.buckets[0]?.resources, world.nodes[0]?.resources]).toEqual([offers, offers]);
    expect([world.buckets[0]?.cores, world.nodes[0]?.cores]).toEqual([4, 4]);
  });

  test("a node's own autoscale resources stand above its array's", () => {
    const nodes = [node("n", "ready", { resources: { scratch: 9 } })];
    expect(build({ nodes }).nodes[0]?.resources).toEqual({ ...OFFERED, ccnodeid: "n", scratch: 9 });
  });

  test("nodes of buckets that are invalid or gone are capacity, and only the former have an offer", () => {
    const arrays = [array("execute", [bucket(D4, { valid: false, invalidReason: "DisabledMachineType" })])];
    const gone = node("gone", "ready", { machineType: machineType("Standard_F2"), vcpus: 2, memoryGib: 4 });
    const world = build({ arrays, nodes: [node("n"), gone] });
    expect(world.nodes.map(({ resources }) => resources["ncpus"])).toEqual([4, 2]);
    expect(world.buckets.map(({ refusal }) => refusal && renderReason(refusal))).toEqual([
      `execute/${D4}: CycleCloud offers no new nodes here (DisabledMachineType)`,
    ]);
  });

  test("in flight: what is not seen yet, and committed creates, at their places", () => {
    const world = build(
      {},
      {
        inFlight: [
          {
            requestId: requestId("r1"),
            bucket: at("execute", D4),
            purpose: { kind: "array" },
            added: 5,
            seen: [nodeId("a"), nodeId("b")],
            since: now,
          },
          {
            requestId: requestId("r2"),
            bucket: at("execute", D4),
            purpose: { kind: "array" },
            added: 1,
            seen: [nodeId("c")],
            since: now,
          },
        ],
        pendingCreates: [{ bucket: at("execute", D4, "pg-1"), count: 2, purpose: { kind: "array" } }],
      },
    );
    expect(world.inFlight.map((entry) => `${entry.count} x ${bucketText(entry.bucket)}`)).toEqual([
      `3 x execute/${D4}`,
      `2 x execute/${D4}/pg-1`,
    ]);
    expect(world.buckets[0]?.groupSizes).toEqual(new Map([["pg-1", 2]]));
  });

  test("only nodes that are up stand in for one that is to be stopped", () => {
    const world = readyOnly(build({ nodes: [node("up"), node("boots", "coming")] }));
    expect(world.nodes.map(({ nodeId }) => nodeId)).toEqual(["up"]);
    expect([world.inFlight, world.buckets]).toEqual([[], []]);
  });
});

describe("caps", () => {
  const caps = {
    requestSets: new Map([
      ["standard", { cores: 500 }],
      ["asleep", { nodes: 1 }],
      ["*", { nodes: 50 }],
    ]),
    users: new Map([
      ["anna", { nodes: 10 }],
      ["*", { nodes: 20, cores: 100 }],
    ]),
  };
  const job = (set: string, user?: string) => ({
    set: setName(set),
    demand: buildJob("a", 1, user === undefined ? {} : { user }),
  });

  test("by name, each other user by itself, and all other sets together: of those who ask for something", () => {
    const demands = [job("standard", "bert"), job("weekend", "anna"), job("extra"), job("extra", "bert")];
    expect(build({}, { policy: { ...DEFAULT_POLICY, caps }, demands }).caps).toEqual([
      { kind: "request-set", name: "standard", unit: "cores", max: 500 },
      { kind: "request-set", name: "*", sets: ["extra", "weekend"], unit: "nodes", max: 50 },
      { kind: "user", name: "anna", unit: "nodes", max: 10 },
      { kind: "user", name: "bert", unit: "nodes", max: 20 },
      { kind: "user", name: "bert", unit: "cores", max: 100 },
    ]);
  });

  test("none without demand, and none that the configuration does not have", () => {
    expect(build({}, { policy: { ...DEFAULT_POLICY, caps } }).caps).toBeUndefined();
    expect(build({}, { demands: [job("standard", "anna")] }).caps).toBeUndefined();
  });
});
