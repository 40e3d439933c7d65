import { describe, expect, test } from "vitest";
import { buildWorld, readyOnly } from "../../../src/decide/world/build-world.ts";
import type { World } from "../../../src/domain/allocation.ts";
import type { Bucket, Node, NodeArray, NodePhase, Snapshot } from "../../../src/domain/cluster.ts";
import {
  arrayName,
  clusterName,
  machineType,
  nodeId,
  placementGroup,
  requestId,
  setName,
} from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { PriceTable } from "../../../src/domain/price.ts";
import { renderReason } from "../../../src/domain/reason.ts";
import type { LedgerNode, NodeStart } from "../../../src/domain/ledger.ts";
import { rememberNode } from "../../support/build-node.ts";
import { buildJob } from "../../support/build-record.ts";
import { bucketText } from "../../../src/domain/bucket.ts";
import { instant, plusSeconds } from "../../../src/domain/units.ts";
import type { WorldInput } from "../../../src/decide/world/world-input.ts";

const now = instant(1_763_636_400_000);
const d4 = { vcpus: 4, quotaVcpus: 4, gpus: 0, memoryGib: 16, infiniband: false };

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

function bucket(type: string, more: Partial<Bucket> = {}): Bucket {
  return {
    bucketId: `id-${type}`,
    machineType: machineType(type),
    valid: true,
    availableCount: 50,
    activeCount: 0,
    placementGroups: [],
    machine: d4,
    ...more,
  };
}

function array(name: string, buckets: readonly Bucket[], more: Partial<NodeArray> = {}): NodeArray {
  return {
    name: arrayName(name),
    limit: {},
    region: "westeurope",
    spot: false,
    autoscaled: true,
    priority: 1,
    resources: {},
    buckets,
    ...more,
  };
}

function node(id: string, phase: NodePhase = "ready", more: Partial<Node> = {}): Node {
  return {
    nodeId: nodeId(id),
    name: id,
    array: arrayName("execute"),
    machineType: machineType("Standard_D4s_v5"),
    phase,
    status: "Ready",
    spot: false,
    keepAlive: false,
    ...more,
  };
}

const D4 = "Standard_D4s_v5";

function build(snapshot: Partial<Snapshot>, more: Partial<WorldInput> = {}): World {
  return buildWorld({
    snapshot: {
      cluster: clusterName("c"),
      at: now,
      state: "Started",
      targetState: "Started",
      limit: {},
      arrays: [array("execute", [bucket(D4)])],
      nodes: [],
      ...snapshot,
    },
    ledger: new Map(),
    inFlight: [],
    pendingCreates: [],
    backoffs: [],
    policy: DEFAULT_POLICY,
    excluded: new Set(),
    order: () => 0,
    now,
    ...more,
  });
}

/** "kind name unit: used/max, left" of each limit. */
function limitsOf(world: World): readonly string[] {
  return world.limits.map(
    ({ id, used, max, left }) => `${id.kind} ${id.name} ${id.unit}: ${used}/${max}, ${left} left`,
  );
}

const at = (name: string, type: string, group?: string) => ({
  array: arrayName(name),
  machineType: machineType(type),
  ...(group === undefined ? {} : { placementGroup: placementGroup(group) }),
});

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

  test("none where nobody asks, and none that the configuration does not have", () => {
    expect(build({}, { policy: { ...DEFAULT_POLICY, caps } }).caps).toBeUndefined();
    expect(build({}, { demands: [job("standard", "anna")] }).caps).toBeUndefined();
  });
});

describe("limits", () => {
  test("cluster and array count whatever has a VM, going nodes and head nodes too, and what is in flight", () => {
    const world = build(
      {
        limit: { count: 10, cores: 100 },
        arrays: [
          array("execute", [bucket(D4, { availableCount: 9, activeCount: 1, maxCount: 12 })], {
            limit: { count: 8, cores: 64 },
          }),
        ],
        nodes: [
          node("ready"),
          node("going", "going"),
          node("failed", "failed"),
          node("off", "off"),
          node("deallocated", "deallocated"),
          node("head", "ready", {
            array: arrayName("scheduler"),
            machineType: machineType("Standard_E8"),
            vcpus: 8,
          }),
        ],
      },
      {
        pendingCreates: [{ bucket: at("execute", D4), count: 2, purpose: { kind: "array" } }],
      },
    );
    expect(limitsOf(world)).toEqual([
      "nodearray execute nodes: 5/8, 3 left",
      "nodearray execute cores: 20/64, 44 left",
      "cluster  nodes: 6/10, 4 left",
      "cluster  cores: 28/100, 72 left",
      `bucket execute/${D4} nodes: 5/12, 7 left`,
    ]);
  });

  test("family quotas of different sizes are of different families, whatever the names say", () => {
    const small = { quotaCores: 20, consumedCores: 0 };
    const large = { quotaCores: 40, consumedCores: 8 };
    const world = build({
      arrays: [
        array("execute", [
          bucket("Standard_Q8", { familyQuota: small }),
          bucket("Standard_Q16", { familyQuota: large }),
        ]),
      ],
    });
    expect(limitsOf(world).filter((text) => text.includes("quota"))).toEqual([
      "family-quota standardQFamily cores: 0/20, 20 left",
      "family-quota standardQFamily cores: 8/40, 32 left",
    ]);
  });

  test("what a new node is in a placement group, default resources may tell from what it is in none", () => {
    const inGroup = { kind: "property", property: "placement_group" } as const;
    const policy = {
      ...DEFAULT_POLICY,
      defaultResources: [{ select: [], name: "group_id", value: inGroup }],
    };
    const [offer] = build({}, { policy }).buckets;
    expect(offer?.resources["group_id"]).toBe(null);
    expect(offer?.inGroup?.(placementGroup("g"))?.resources["group_id"]).toBe("g");
  });

  test("quotas are shared by family and region, at the quota's price, and the least favourable report counts", () => {
    const hb = { vcpus: 16, quotaVcpus: 120, gpus: 0, memoryGib: 456, infiniband: true };
    const quota = (consumedCores: number) => ({ quotaCores: 480, consumedCores });
    const world = build({
      arrays: [
        array("one", [
          bucket("Standard_HB120-16rs_v3", { machine: hb, familyQuota: quota(120), regionalQuota: quota(0) }),
        ]),
        array("two", [
          bucket("Standard_HB120rs_v3", {
            machine: { ...hb, vcpus: 120 },
            familyQuota: quota(240),
            regionalQuota: quota(0),
          }),
        ]),
      ],
    });
    expect(limitsOf(world).slice(0, 2)).toEqual([
      "family-quota standardHBv3Family cores: 240/480, 240 left",
      "regional-quota westeurope cores: 0/480, 480 left",
    ]);
    expect(world.buckets.map(({ charges }) => charges.slice(0, 2))).toEqual([
      [
        { limit: 0, amount: 120 },
        { limit: 1, amount: 120 },
      ],
      [
        { limit: 0, amount: 120 },
        { limit: 1, amount: 120 },
      ],
    ]);
  });

  test.each([{ order: "spot first" }, { order: "spot last" }])(
    "spot has no family quota and a regional one of its own ($order)",
    ({ order }) => {
      const spot = array(
        "spot",
        [
          bucket(D4, {
            familyQuota: { quotaCores: 0, consumedCores: 0 },
            regionalQuota: { quotaCores: 40, consumedCores: 0 },
          }),
        ],
        { spot: true },
      );
      const regular = array("execute", [
        bucket(D4, {
          familyQuota: { quotaCores: 100, consumedCores: 4 },
          regionalQuota: { quotaCores: 200, consumedCores: 4 },
        }),
      ]);
      const world = build({ arrays: order === "spot first" ? [spot, regular] : [regular, spot] });
      expect(
        limitsOf(world)
          .filter((text) => text.includes("quota"))
          .toSorted(),
      ).toEqual([
        "family-quota standardDSv5Family cores: 4/100, 96 left",
        "regional-quota westeurope cores: 4/200, 196 left",
        "regional-spot-quota westeurope cores: 0/40, 40 left",
      ]);
    },
  );

  test.each([
    {
      name: "consumed above quota leaves nothing, not less",
      quota: { quotaCores: 10, consumedCores: 30 },
      left: "30/10, 0 left",
    },
    {
      name: "nodes in flight are charged",
      quota: { quotaCores: 50, consumedCores: 10 },
      left: "22/50, 28 left",
    },
  ])("$name", ({ quota, left }) => {
    const world = build(
      { arrays: [array("execute", [bucket(D4, { familyQuota: quota })])] },
      quota.quotaCores === 10
        ? {}
        : {
            pendingCreates: [{ bucket: at("execute", D4), count: 3, purpose: { kind: "array" } }],
          },
    );
    expect(limitsOf(world)[0]).toBe(`family-quota standardDSv5Family cores: ${left}`);
  });

  test.each([
    {
      name: "availableCount below what the ceiling leaves",
      more: { availableCount: 2, activeCount: 3, maxCount: 10 },
      limit: "3/10, 2 left",
    },
    {
      name: "a ceiling below availableCount",
      more: { availableCount: 9, activeCount: 3, maxCount: 4 },
      limit: "3/4, 1 left",
    },
    {
      name: "a ceiling in cores",
      more: { availableCount: 9, activeCount: 3, maxCoreCount: 23 },
      limit: "3/5, 2 left",
    },
    { name: "no ceiling named", more: { availableCount: 9, activeCount: 3 }, limit: "3/12, 9 left" },
  ])("bucket: $name", ({ more, limit }) => {
    const world = build({ arrays: [array("execute", [bucket(D4, more)])] });
    expect(limitsOf(world)).toEqual([`bucket execute/${D4} nodes: ${limit}`]);
  });

  test("a placement group holds what the status counts or what we count, whichever is more, and what is in flight", () => {
    const groups = [
      { name: placementGroup("a"), activeCount: 3 },
      { name: placementGroup("b"), activeCount: 0 },
    ];
    const world = build(
      {
        arrays: [array("execute", [bucket(D4, { placementGroups: groups, maxPlacementGroupSize: 10 })])],
        nodes: [
          node("n1", "ready", { placementGroup: placementGroup("a") }),
          node("n2", "going", { placementGroup: placementGroup("b") }),
        ],
      },
      {
        pendingCreates: [{ bucket: at("execute", D4, "a"), count: 2, purpose: { kind: "array" } }],
      },
    );
    expect(world.buckets[0]?.groupSizes).toEqual(
      new Map([
        ["a", 5],
        ["b", 1],
      ]),
    );
  });
});

describe("offers", () => {
  const size = (name: string, prices: { readonly onDemand?: number; readonly spot?: number }) =>
    [name.toLowerCase(), { machineType: machineType(name), ...prices }] as const;
  const prices: PriceTable = {
    currency: "USD",
    locations: new Map([
      [
        "westeurope",
        new Map([size("standard_d4S_v5", { onDemand: 0.2, spot: 0.03 }), size("B", { onDemand: 9 })]),
      ],
      ["eastus", new Map([size("B", { onDemand: 3 })])],
    ]),
    proxies: new Map([
      ["usgov", "westeurope"],
      ["eastus", "westeurope"],
    ]),
  };

  test.each([
    { name: "the location's, however the size is spelled", region: "westeurope", price: 0.2 },
    {
      name: "that of evicted nodes where nodes may be evicted",
      region: "westeurope",
      spot: true,
      price: 0.03,
    },
    { name: "of the location that stands in", region: "usgov", price: 0.2 },
    { name: "none where the location has prices of other sizes", region: "eastus", price: undefined },
    { name: "none in a location that nobody knows", region: "mars", price: undefined },
    {
      name: "none of evictable nodes where only the other is known",
      type: "B",
      region: "westeurope",
      spot: true,
    },
  ])("price: $name", ({ region, spot = false, type = D4, price }) => {
    const { buckets } = build(
      { arrays: [array("execute", [bucket(type)], { region, spot })] },
      { policy: { ...DEFAULT_POLICY, prices } },
    );
    expect(buckets.map((offer) => [offer.price, offer.spot])).toEqual([[price, spot ? true : undefined]]);
  });

  test("placement groups: those of every array, then the array's own, each once", () => {
    const placementGroups = new Map([
      ["default", [placementGroup("pg0"), placementGroup("pg1")]],
      ["hpc", [placementGroup("pg2"), placementGroup("pg0")]],
    ]);
    const { buckets } = build(
      { arrays: [array("hpc", [bucket("A"), bucket("B")]), array("htc", [bucket("A")])] },
      { policy: { ...DEFAULT_POLICY, placementGroups } },
    );
    expect(buckets.map(({ configuredGroups }) => configuredGroups)).toEqual([
      ["pg0", "pg1", "pg2"],
      ["pg0", "pg1", "pg2"],
      ["pg0", "pg1"],
    ]);
    const { buckets: own } = build(
      { arrays: [array("htc", [bucket("A")])] },
      { policy: { ...DEFAULT_POLICY, placementGroups: new Map([["hpc", [placementGroup("pg2")]]]) } },
    );
    expect(own.map(({ configuredGroups }) => configuredGroups)).toEqual([undefined]);
  });

  test("arrays by priority, then in the order of the status; sizes in theirs", () => {
    const world = build({
      arrays: [
        array("low", [bucket("B"), bucket("A")]),
        array("high", [bucket("C")], { priority: 5 }),
        array("also", [bucket("D")]),
      ],
    });
    expect(world.buckets.map(({ bucket }) => bucketText(bucket))).toEqual([
      "high/C",
      "low/B",
      "low/A",
      "also/D",
    ]);
  });

  test("backoff is for one array and size, or one placement group of it, and ends", () => {
    const backoff = { seconds: 60, cause: "refused", message: "no", until: plusSeconds(now, 30) } as const;
    const world = build(
      { arrays: [array("execute", [bucket("A"), bucket("B"), bucket("C")]), array("other", [bucket("A")])] },
      {
        backoffs: [
          { ...backoff, bucket: at("execute", "a") },
          { ...backoff, bucket: at("execute", "B", "pg-1") },
          { ...backoff, bucket: at("execute", "C"), until: now },
        ],
      },
    );
    expect(
      world.buckets.map(({ refusal, groupRefusals }) => [refusal?.code, [...(groupRefusals?.keys() ?? [])]]),
    ).toEqual([
      ["backing-off", []],
      [undefined, ["pg-1"]],
      [undefined, []],
      [undefined, []],
    ]);
  });

  test.each([
    { name: "never started", state: {}, text: "the cluster is not started (state none, target state none)" },
    {
      name: "terminating",
      state: { state: "Started", targetState: "Terminated" },
      text: "the cluster is not started (state Started, target state Terminated)",
    },
  ])("closed while the cluster is $name", ({ state, text }) => {
    const { closed } = buildWorld({
      snapshot: { cluster: clusterName("c"), at: now, limit: {}, arrays: [], nodes: [], ...state },
      ledger: new Map(),
      inFlight: [],
      pendingCreates: [],
      backoffs: [],
      policy: DEFAULT_POLICY,
      excluded: new Set(),
      order: () => 0,
      now,
    });
    expect(closed && renderReason(closed)).toBe(text);
  });
});
