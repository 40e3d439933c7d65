import type { Snapshot } from "../../src/domain/cluster.ts";
import type { SchedulerNode, SetDemand } from "../../src/domain/demand.ts";
import type { ClusterName, Digest } from "../../src/domain/ids.ts";
import {
  arrayName,
  clusterName,
  digest,
  epoch,
  machineType,
  nodeId,
  owner,
  placementGroup,
  requestId,
  setName,
} from "../../src/domain/ids.ts";
import type { Plan } from "../../src/domain/plan.ts";
import type { Bodies } from "../../src/domain/bodies.ts";
import type { BucketKey } from "../../src/domain/bucket.ts";
import type { Ledger } from "../../src/domain/ledger.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import type { SetEntry } from "../../src/domain/request-sets.ts";
import { instant, plusSeconds } from "../../src/domain/units.ts";
import { EXCLUSIVE, inArrays, needing, ofSizes } from "./build-constraints.ts";

/** A record and bodies in which every field of the domain's types is present once, and every kind of every union. */

export const SAMPLE_TIME = instant(Date.UTC(2026, 10, 20, 8, 0, 0));
const later = (seconds: number) => plusSeconds(SAMPLE_TIME, seconds);

const execute = arrayName("execute");
const hb = machineType("Standard_HB120rs_v3");
const bucket: BucketKey = { array: execute, machineType: hb, placementGroup: placementGroup("as-1") };
const looseBucket: BucketKey = { array: execute, machineType: hb };

/** A set's entry as an accept would write it; `digest` names its demand. */
export function sampleEntry(demandDigest: Digest, report?: Digest): SetEntry {
  return {
    revision: { value: 1_763_636_400_000, tieBreak: "3f0c2a7e-0000-4000-8000-000000000001" },
    intervalSeconds: 300,
    sentAt: SAMPLE_TIME,
    acceptedAt: later(1),
    expiresAt: later(300),
    digest: demandDigest,
    live: true,
    ...(report === undefined ? {} : { report }),
  };
}

const demandDigest = digest("aa11");
const reportDigest = digest("bb22");
const emptyDigest = digest("cc33");
const separateReportDigest = digest("dd44");
const poolsDigest = digest("ee55");

export function emptyRecord(cluster: ClusterName): ClusterRecord {
  return {
    separateReports: new Map(),
    separatePools: new Map(),
    cluster,
    epoch: epoch("epoch-1"),
    plan: 0,
    generation: 0,
    observedGeneration: 0,
    sets: new Map(),
    intents: [],
    inFlight: [],
    backoffs: [],
    rejections: [],
    totals: { created: 0, terminated: 0 },
  };
}

const licensed = arrayName("licensed");

export const SAMPLE_RECORD: ClusterRecord = {
  cluster: clusterName("prod/west #1 ümlaut?"),
  epoch: epoch("5f7b0f6e"),
  plan: 17,
  generation: 12,
  observedGeneration: 11,
  totals: { created: 42, terminated: 7, started: 3 },
  sets: new Map([
    [setName("standard"), sampleEntry(demandDigest, reportDigest)],
    [setName("job 4711 \u0001\u{1F600}"), { ...sampleEntry(digest("gone")), live: false }],
  ]),
  separateReports: new Map([
    [setName("standard"), sampleEntry(emptyDigest, separateReportDigest)],
    [setName("only reports"), { ...sampleEntry(emptyDigest), live: false }],
  ]),
  separatePools: new Map([[setName("licences"), sampleEntry(poolsDigest)]]),
  intents: [
    {
      id: requestId("8d0c5f9e-1111-5222-8333-933333333333"),
      owner: owner("owner-1"),
      committedAt: later(2),
      leaseUntil: later(62),
      notAfter: later(122),
      effect: { kind: "start", bucket, nodes: [nodeId("n-4"), nodeId("n-5")] },
      sent: "never",
    },
    {
      id: requestId("8d0c5f9e-1111-5222-8333-944444444444"),
      owner: owner("owner-1"),
      committedAt: later(2),
      leaseUntil: later(62),
      notAfter: later(122),
      effect: {
        kind: "create",
        sets: [
          {
            bucket,
            count: 4,
            purpose: { kind: "group", key: "execute:4n", group: "as-1" },
            attributes: { Configuration: { autoscale: { idle: true } }, Tags: ["a", null], constructor: 1 },
          },
          { bucket: looseBucket, count: 2, purpose: { kind: "dynamic", array: licensed } },
        ],
      },
      sent: "once-refused",
      absentSince: later(12),
    },
    {
      id: requestId("8d0c5f9e-1111-5222-8333-955555555555"),
      owner: owner("owner-2"),
      committedAt: later(3),
      leaseUntil: later(63),
      notAfter: later(123),
      effect: { kind: "terminate", nodes: [nodeId("n-1"), nodeId("n-2")] },
      sent: "maybe",
    },
  ],
  inFlight: [
    {
      requestId: requestId("8d0c5f9e-1111-5222-8333-966666666666"),
      bucket: looseBucket,
      purpose: { kind: "dynamic", array: licensed },
      look: digest("cc33"),
      keyId: "k2",
      spot: true,
      added: 3,
      seen: [nodeId("n-3")],
      since: later(-30),
    },
  ],
  backoffs: [
    { bucket, until: later(60), seconds: 60, cause: "fell-short", message: "quota of 120 cores reached" },
    { bucket, dynamic: licensed, until: later(60), seconds: 60, cause: "refused", message: "no such image" },
  ],
  dynamicArrays: [
    {
      name: licensed,
      extends: execute,
      machineTypes: [hb],
      attributes: { Configuration: { licence: "x" } },
      sets: [setName("standard")],
    },
  ],
  lookedAt: later(-5),
  wakeAt: later(1),
  wakeFor: "demand",
  targetStatesLackedSince: later(-60),
  lastGoodLookAt: later(-65),
  outage: { from: later(-900), to: later(-120), until: later(180), awaiting: [setName("standard")] },
  trouble: { at: later(-5), kind: "suspicious", message: "199 of 200 nodes missing" },
  unneeded: {
    nodes: 3,
    since: later(-4000),
    sizes: [{ array: execute, machineType: hb, nodes: 2 }],
    cost: { perHour: 7.5, currency: "EUR", unpriced: 1 },
  },
  unhealthyStops: [{ array: execute, at: later(-600), count: 2 }],
  stopKeys: [{ keyId: "k2", nodes: 3 }, { nodes: 1 }],
  rejections: [
    {
      at: later(-10),
      messageId: "m-1",
      set: "standard",
      problems: [{ path: "/jobs/0/ncpu", found: "1", expected: "ncpus", didYouMean: "ncpus" }],
    },
  ],
};

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

const report: readonly SchedulerNode[] = [
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
