import { describe, expect, test } from "vitest";
import type { MachineType } from "../../../src/domain/ids.ts";
import { nodeId, requestId, setName } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { PriceTable } from "../../../src/domain/price.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import {
  at,
  buildArray,
  buildBucket,
  buildNode,
  buildNodes,
  buildSnapshot,
  D4,
  D8,
  idleSince,
  NOW,
  rememberNodes,
} from "../../support/build-node.ts";
import {
  BUCKET,
  buildCreate,
  buildIntent,
  buildJob,
  buildState,
  buildTarget,
} from "../../support/build-record.ts";
import { countVerdicts, created, d4, d8, decideOn, targetOf } from "./reconcile-stage.ts";

describe("what a plan asks for", () => {
  test("becomes intents in the record, before any is sent", () => {
    const decision = decideOn(buildState({ sets: targetOf(4) }), buildSnapshot());
    expect(decision.record.intents).toEqual([
      {
        // prod, epoch-1, NOW, plan 7, ordinal 0: see create-requests.test.ts.
        id: "871aa6eb-bbc2-1b05-4616-af3a72c128ab",
        owner: "ours",
        plan: 7,
        committedAt: NOW,
        leaseUntil: at(60),
        notAfter: at(180),
        certainFrom: at(210),
        effect: { kind: "create", sets: [{ bucket: BUCKET, count: 4, purpose: { kind: "array" } }] },
        sent: "never",
      },
    ]);
  });

  const nothing = { nodes: buildNodes("n", 0), record: {} };
  test.each([
    { name: "nothing there: all", target: 4, ...nothing, creates: [`4 ${d4}`] },
    { name: "some there: the rest", target: 4, ...nothing, nodes: buildNodes("n", 3), creates: [`1 ${d4}`] },
    {
      name: "some on their way up: the rest",
      target: 4,
      ...nothing,
      nodes: buildNodes("n", 3, { phase: "coming" }),
      creates: [`1 ${d4}`],
    },
    { name: "more there than asked for", target: 4, ...nothing, nodes: buildNodes("n", 6), creates: [] },
    {
      name: "accepted and not shown yet: they count",
      target: 4,
      ...nothing,
      record: {
        inFlight: [
          {
            requestId: requestId("r-1"),
            bucket: BUCKET,
            purpose: { kind: "array" },
            added: 3,
            seen: [],
            since: at(-20),
          },
        ],
      },
      creates: [`1 ${d4}`],
    },
    {
      name: "accepted, and none shown for the whole grace: a failed boot, and the only bucket pauses",
      target: 4,
      ...nothing,
      record: {
        inFlight: [
          {
            requestId: requestId("r-1"),
            bucket: BUCKET,
            purpose: { kind: "array" },
            added: 3,
            seen: [],
            since: at(-900),
          },
        ],
      },
      creates: [],
    },
    {
      name: "committed and not settled: they may come, so they count",
      target: 4,
      ...nothing,
      record: { intents: [buildCreate("r-1", 3, { sent: "maybe" })] },
      creates: [`1 ${d4}`],
    },
    {
      name: "its stop is committed, and may come to nothing: it counts",
      target: 4,
      nodes: buildNodes("n", 4),
      record: { intents: [buildIntent("r-1", { effect: { kind: "terminate", nodes: [nodeId("n1")] } })] },
      creates: [],
    },
    {
      name: "terminating, failed while up, off, deallocated with KeepAlive: no capacity",
      target: 4,
      ...nothing,
      nodes: [
        buildNode("n1", { phase: "going" }),
        buildNode("n2", { phase: "failed" }),
        buildNode("n3", { phase: "off" }),
        buildNode("n4", { phase: "deallocated", keepAlive: true }),
      ],
      creates: [`4 ${d4}`],
    },
  ] as const)("$name", ({ target, nodes, record, creates }) => {
    const state = buildState({ sets: targetOf(target), ledger: rememberNodes(nodes), record });
    expect(created(decideOn(state, buildSnapshot(nodes)))).toEqual(creates);
  });

  test("sets make a maximum for an array, not a sum", () => {
    const sets = { a: { demands: [buildTarget(4)] }, b: { demands: [buildTarget(6)] } };
    expect(created(decideOn(buildState({ sets }), buildSnapshot()))).toEqual([`6 ${d4}`]);
  });

  test.each([
    { name: "in force until its expiry", now: at(299.999), creates: [`4 ${d4}`], live: true },
    { name: "lapsed from then on", now: at(300), creates: [], live: false },
  ])("a set is $name", ({ now, creates, live }) => {
    const state = buildState({ sets: targetOf(4), record: { lastGoodLookAt: at(290) } });
    const decision = decideOn(state, buildSnapshot(), { now });
    expect(created(decision)).toEqual(creates);
    expect(decision.record.sets.get(setName("standard"))?.live).toBe(live);
  });

  test("a bucket that backs off gets nothing, and the demand says why", () => {
    const backoffs = [
      { bucket: BUCKET, until: at(20), seconds: 60, cause: "refused", message: "quota" } as const,
    ];
    const decision = decideOn(buildState({ sets: targetOf(4), record: { backoffs } }), buildSnapshot());
    expect(created(decision)).toEqual([]);
    expect(decision.plan.demands.flatMap(({ reasons }) => reasons).map(renderReason)).toEqual([
      `${d4}: pausing until 2025-11-20T11:00:20.000Z after: quota`,
    ]);
  });
});

describe("the configuration decides", () => {
  const arrays = [buildArray("execute", { region: "here", buckets: [buildBucket(), buildBucket(D8, 8)] })];
  const price = (machineType: MachineType, onDemand: number) =>
    [machineType.toLowerCase(), { machineType, onDemand }] as const;
  const prices: PriceTable = {
    currency: "USD",
    locations: new Map([["here", new Map([price(D4, 0.4), price(D8, 0.5)])]]),
    proxies: new Map(),
  };
  const jobs = (user: string) => ({ standard: { demands: [buildJob("a", 16, { user })] } });

  test.each([
    { among: "priority", creates: [`4 ${d4}`] },
    { among: "cheapest", creates: [`2 ${d8}`] },
  ] as const)("among buckets: $among", ({ among, creates }) => {
    const policy = { ...DEFAULT_POLICY, among, prices };
    const decision = decideOn(buildState({ sets: jobs("eva") }), buildSnapshot([], { arrays }), { policy });
    expect(created(decision)).toEqual(creates);
  });

  test.each([
    { preference: "existing-first", creates: [], needed: "n1" },
    { preference: "bucket-order", creates: [`1 ${d4}`], needed: undefined },
  ] as const)("existing nodes of a later bucket: $preference", ({ preference, creates, needed }) => {
    const nodes = [buildNode("n1", { machineType: D8 })];
    const state = buildState({
      sets: { standard: { demands: [buildJob("a", 4)] } },
      ledger: rememberNodes(nodes),
    });
    const policy = { ...DEFAULT_POLICY, preference };
    const decision = decideOn(state, buildSnapshot(nodes, { arrays }), { policy });
    expect(created(decision)).toEqual(creates);
    expect([...decision.plan.nodes].find(([, { kind }]) => kind === "needed")?.[0]).toBe(needed);
  });

  const caps = { requestSets: new Map(), users: new Map([["*", { nodes: 2 }]]) };

  test("a user gets as many nodes as the cap leaves, and is told so", () => {
    const policy = { ...DEFAULT_POLICY, caps };
    const { plan } = decideOn(buildState({ sets: jobs("eva") }), buildSnapshot(), { policy });
    expect(plan.creates).toMatchObject([{ count: 2 }]);
    expect(plan.demands[0]).toMatchObject({ asked: 16, placed: 8 });
    expect(plan.demands[0]?.reasons.map(renderReason).join("; ")).toContain("eva");
  });

  test("idle nodes beyond the cap are spare", () => {
    const nodes = buildNodes("n", 4);
    const state = buildState({
      sets: { ...jobs("eva"), hosts: { report: nodes.map(({ hostname = "" }) => ({ hostname, jobs: [] })) } },
      ledger: rememberNodes(nodes, idleSince(at(-3000))),
    });
    const turn = { policy: { ...DEFAULT_POLICY, caps } };
    expect(countVerdicts(decideOn(state, buildSnapshot(nodes), turn))).toMatchObject({ needed: 2 });
    expect(countVerdicts(decideOn(state, buildSnapshot(nodes)))).toEqual({ needed: 4 });
  });
});

test("what a good observation does to the record", () => {
  const { record, bodies } = buildState({
    sets: targetOf(0),
    record: {
      generation: 12,
      observedGeneration: 9,
      backoffs: [{ bucket: BUCKET, until: at(-1800), seconds: 60, cause: "refused", message: "long ago" }],
      targetStatesLackedSince: at(-60),
      trouble: { at: at(-60), kind: "unexpected", message: "9 of 10" },
    },
  });
  const decision = decideOn({ record, bodies }, buildSnapshot());
  expect(decision.record).toEqual({
    cluster: "prod",
    epoch: "epoch-1",
    epochAt: at(-86_400),
    plan: 7,
    generation: 12,
    observedGeneration: 12,
    sets: record.sets,
    separateReports: new Map(),
    separatePools: new Map(),
    intents: [],
    inFlight: [],
    backoffs: [],
    rejections: [],
    totals: { created: 0, terminated: 0 },
    lastGoodLookAt: NOW,
  });
  expect(decision.plan).toMatchObject({ number: 7, at: NOW, creates: [], terminates: [] });
});

test("a node with a terminate under way is not judged again", () => {
  const stuck = buildNode("n1", { phase: "going", status: "Failed" });
  const intents = [buildIntent("r-1", { effect: { kind: "terminate", nodes: [nodeId("n1")] } })];
  const state = buildState({ ledger: rememberNodes([stuck]), record: { intents } });
  expect(decideOn(state, buildSnapshot([stuck])).record.intents).toEqual(intents);
});

test("the same record and observation give the same decision", () => {
  const nodes = [...buildNodes("n", 3), buildNode("hung", { phase: "coming" })];
  const state = buildState({ sets: targetOf(8), ledger: rememberNodes(nodes) });
  expect(decideOn(state, buildSnapshot(nodes))).toEqual(decideOn(state, buildSnapshot(nodes)));
});
