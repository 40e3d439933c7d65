import type { Snapshot } from "../../src/domain/cluster.ts";
import type { SchedulerNode, SetDemand } from "../../src/domain/demand.ts";
import { digest, nodeId, placementGroup, requestId, setName } from "../../src/domain/ids.ts";
import type { Plan } from "../../src/domain/plan.ts";
import type { Bodies } from "../../src/domain/bodies.ts";
import type { Ledger } from "../../src/domain/ledger.ts";
import { EXCLUSIVE, inArrays, needing, ofSizes } from "./build-constraints.ts";
import {
  SAMPLE_RECORD,
  SAMPLE_TIME,
  bucket,
  demandDigest,
  emptyDigest,
  execute,
  hb,
  later,
  licensed,
  poolsDigest,
  reportDigest,
  separateReportDigest,
} from "./sample-record.ts";

/*
 * The bodies of the sample record: demand, report, ledger, plan and snapshot.
 */

const demand: SetDemand = {
  demands: [
    {
      kind: "target",
      id: "t-1",
      priority: 1,
      position: 0,
      array: execute,
      amount: { unit: "cores", count: 240 },
      machineTypes: [hb],
      attributes: { KeepAlive: false },
    },
    {
      kind: "target",
      id: "t-2",
      priority: 0,
      position: 1,
      array: licensed,
      extends: execute,
      amount: { unit: "nodes", count: 3 },
    },
    {
      kind: "groups",
      id: "g-1",
      priority: 0,
      position: 1,
      array: execute,
      groups: 2,
      size: { unit: "nodes", count: 4 },
      machineTypes: [hb],
      attributes: { Zone: "1" },
      extends: execute,
    },
    {
      kind: "job",
      id: "j-1",
      priority: 0.5,
      position: 2,
      name: "relaxation \u{1F9EA}",
      user: "eva",
      constraints: [
        ...needing({ ncpus: 4 }),
        { kind: "amount", resource: "mem", amount: { amount: 7.5, unit: "g" } },
        { kind: "or", of: [inArrays(execute), { kind: "not", of: ofSizes(hb, "Standard_D*") }] },
        EXCLUSIVE,
        { kind: "pool", pool: "licence-x", amount: 1 },
      ],
      iterations: 8,
      nodeCount: 2,
      colocated: true,
      placed: [{ hostname: "ip-0A000001", iterations: 3 }],
    },
  ],
  pools: [{ name: "licence-x", total: 40, used: 12 }],
  rejectedJobs: [{ name: "bad", problems: [{ path: "/jobs/3", found: "null", expected: "an object" }] }],
};

export const report: readonly SchedulerNode[] = [
  { hostname: "ip-0A000001", jobs: ["4711"], state: "allocated" },
  { hostname: "ip-0A000002", jobs: [] },
  {
    available: { ncpus: 2 },
    hostname: "rack7",
    jobs: ["4712"],
    resources: { mem: { amount: 256, unit: "g" }, ncpus: 64, rack: "r1", ssd: true },
  },
];

const seen: Snapshot = {
  cluster: SAMPLE_RECORD.cluster,
  at: later(-5),
  state: "Started",
  targetState: "Started",
  limit: { count: 100, cores: 12_000 },
  arrays: [
    {
      name: execute,
      limit: { cores: 2400 },
      region: "westeurope",
      spot: false,
      autoscaled: true,
      placementGroup: placementGroup("pinned"),
      priority: 10,
      resources: { disk: 0.1 },
      buckets: [
        {
          bucketId: "b-1",
          machineType: hb,
          valid: false,
          invalidReason: "not in this zone",
          availableCount: 4,
          activeCount: 2,
          maxCount: 20,
          maxCoreCount: 2400,
          familyQuota: { quotaCores: 120, consumedCores: 0 },
          regionalQuota: { quotaCores: 350, consumedCores: 10 },
          maxPlacementGroupSize: 100,
          placementGroups: [{ name: placementGroup("as-1"), activeCount: 2 }],
          lastCapacityFailureSeconds: 12.5,
          machine: { vcpus: 120, quotaVcpus: 120, gpus: 0, memoryGib: 448, infiniband: true },
        },
      ],
    },
  ],
  nodes: [
    {
      nodeId: nodeId("n-1"),
      name: "execute-1",
      array: execute,
      machineType: hb,
      phase: "ready",
      status: "Ready",
      statusMessage: "up",
      vcpus: 120,
      memoryGib: 448,
      hostname: "ip-0A000001",
      privateIp: "10.0.0.1",
      instanceId: "vm-1",
      placementGroup: placementGroup("as-1"),
      spot: false,
      keepAlive: true,
      resources: { disk: 2 },
    },
  ],
};

const ledger: Ledger = new Map([
  [
    nodeId("n-1"),
    {
      nodeId: nodeId("n-1"),
      name: "execute-1",
      array: execute,
      hostname: "ip-0A000001",
      instanceId: "vm-1",
      requestId: requestId("8d0c5f9e-1111-5222-8333-977777777777"),
      purpose: { kind: "group", key: "licensed:4n", group: "as-1", dynamic: licensed },
      look: digest("dd44"),
      firstSeenAt: later(-600),
      firstReadyAt: later(-300),
      lastNeededAt: later(-120),
      busyness: { state: "idle", since: later(-100) },
      deallocated: true,
      start: { state: "refused", since: later(-30), until: later(1770), message: "no such disk" },
      draining: { since: later(-20), by: "callback", plan: 16, attempts: 1, sentAt: later(-15) },
      keyId: "k1",
      bound: { token: digest("ee55"), instanceId: "vm-1" },
      goneAt: later(-1),
    },
  ],
]);

const plan: Plan = {
  number: 17,
  at: SAMPLE_TIME,
  creates: [{ bucket, count: 4, purpose: { kind: "array" } }],
  starts: [nodeId("n-4")],
  terminates: [nodeId("n-2")],
  withheld: {
    creates: [{ bucket, count: 2, purpose: { kind: "array" } }],
    starts: [nodeId("n-6")],
    terminates: [nodeId("n-7")],
  },
  demands: [
    {
      set: setName("standard"),
      id: "t-1",
      kind: "target",
      unit: "cores",
      asked: 240,
      placed: 120,
      pending: 0,
      reasons: [
        {
          code: "limit-reached",
          limit: { kind: "family-quota", name: "standardHBv3Family", unit: "cores" },
          used: 120,
          max: 120,
          left: 0,
          asked: 120,
        },
        {
          code: "backing-off",
          bucket,
          until: later(60),
          message: "nothing added",
          capacityFailureSeconds: 30,
        },
      ],
      moreReasons: 3,
      binding: {
        kind: "raise",
        raises: [
          {
            of: "limit",
            limit: { kind: "family-quota", name: "standardHBv3Family", unit: "cores" },
            more: 120,
          },
        ],
      },
    },
  ],
  nodes: new Map([
    [nodeId("n-1"), { kind: "needed", by: ["standard/t-1"] }],
    [nodeId("n-2"), { kind: "resting", until: later(180) }],
    [nodeId("n-3"), { kind: "draining", by: "idle", reportAfter: later(-20), lastReportAt: later(-40) }],
    [nodeId("n-4"), { kind: "starting", by: ["standard/t-1"] }],
  ]),
  loads: {
    buckets: [bucket],
    loads: [
      { origin: "existing", bucket: 0, nodeId: nodeId("n-1"), count: 1, jobs: [[0, 0, 2, 1]] },
      { origin: "planned", bucket: 0, count: 4, jobs: [[0, 0, 1]] },
    ],
    cut: 0,
  },
};

export const SAMPLE_BODIES: Bodies = {
  demands: new Map([
    [demandDigest, demand],
    [emptyDigest, { demands: [], pools: [], rejectedJobs: [] }],
    [poolsDigest, { demands: [], pools: [{ name: "licence-y", total: 4, used: 1 }], rejectedJobs: [] }],
  ]),
  reports: new Map([
    [reportDigest, report],
    [separateReportDigest, [{ hostname: "ip-0A000002", jobs: [] }]],
  ]),
  seen,
  ledger,
  questions: new Map([
    [
      nodeId("n-1"),
      {
        asked: 1_795_000_000_123,
        askedAt: SAMPLE_TIME,
        stayAt: SAMPLE_TIME,
        draining: { since: SAMPLE_TIME, by: "callback", plan: 41, attempts: 0 },
        bound: { token: digest("ee55"), instanceId: "vm-1" },
        refusedAt: later(-40),
        unhealthy: { since: later(-300), held: "limit" },
      },
    ],
  ]),
  plan,
};
