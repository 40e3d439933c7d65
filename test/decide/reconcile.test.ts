import { describe, expect, test } from "vitest";
import { EXCLUSIVE, inArrays, needing, ofSizes } from "../support/build-constraints.ts";
import { Recall } from "../../src/decide/need/recall.ts";
import { decide } from "../../src/decide/reconcile.ts";
import { settle } from "../../src/decide/intents/settle.ts";
import type { Node, Snapshot } from "../../src/domain/cluster.ts";
import type { Demand, SchedulerNode } from "../../src/domain/demand.ts";
import type { MachineType } from "../../src/domain/ids.ts";
import { arrayName, nodeId, placementGroup, requestId, setName } from "../../src/domain/ids.ts";
import type { NodeVerdict } from "../../src/domain/plan.ts";
import type { Policy } from "../../src/domain/policy.ts";
import { DEFAULT_POLICY, observing } from "../../src/domain/policy.ts";
import type { PriceTable } from "../../src/domain/price.ts";
import { renderVerdict } from "../../src/domain/plan.ts";
import { renderReason } from "../../src/domain/reason.ts";
import type { Bodies } from "../../src/domain/bodies.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import type { Outage } from "../../src/domain/troubles.ts";
import { bucketText } from "../../src/domain/bucket.ts";
import type { Instant } from "../../src/domain/units.ts";
import {
  at,
  buildArray,
  buildBucket,
  buildLedger,
  buildNode,
  buildNodes,
  buildSnapshot,
  D4,
  D8,
  idleSince,
  NOW,
  rememberNode,
  rememberNodes,
} from "../support/build-node.ts";
import type { SetScenario } from "../support/build-record.ts";
import {
  BUCKET,
  buildCreate,
  buildIntent,
  buildJob,
  buildState,
  buildTarget,
  OURS,
  pushSets,
} from "../support/build-record.ts";
import type { Observation } from "../../src/domain/observation.ts";
import type { Decision } from "../../src/domain/decision.ts";
import type { Weighing } from "../../src/decide/need/weigh.ts";

interface State {
  readonly record: ClusterRecord;
  readonly bodies: Bodies;
}

interface Turn {
  readonly policy?: Policy;
  readonly now?: Instant;
  readonly requestNodes?: Observation["requestNodes"];
}

function decideOn({ record, bodies }: State, snapshot: Snapshot, turn: Turn = {}): Decision {
  const { policy = DEFAULT_POLICY, now = NOW, requestNodes = new Map() } = turn;
  return decide(record, bodies, { snapshot: { ...snapshot, at: now }, requestNodes }, policy, now, OURS);
}

/** What a commit of the decision leaves for the next turn. */
function after(state: State, { record, ledger, plan }: Decision): State {
  return { record, bodies: { ...state.bodies, ledger, plan } };
}

const created = ({ plan }: Decision) =>
  plan.creates.map(({ bucket, count }) => `${count} ${bucketText(bucket)}`);
const verdicts = ({ plan }: Decision): Record<string, NodeVerdict> => Object.fromEntries(plan.nodes);
/** How many nodes have each verdict. */
function countVerdicts({ plan }: Decision): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of plan.nodes.values()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

const targetOf = (count: number, more: SetScenario = {}) => ({
  standard: { demands: [buildTarget(count)], ...more },
});
const d4 = "execute/Standard_D4s_v5";
const d8 = "execute/Standard_D8s_v5";
const twoSizes = [buildArray("execute", { buckets: [buildBucket(), buildBucket(D8, 8)] })];

describe("what a plan asks for", () => {
  test("becomes intents in the record, before any is sent", () => {
    const decision = decideOn(buildState({ sets: targetOf(4) }), buildSnapshot());
    expect(decision.record.intents).toEqual([
      {
        // requestIdOf(prod, epoch-1, NOW, 7, 0): see hash.test.ts.
        id: "871aa6eb-bbc2-1b05-4616-af3a72c128ab",
        owner: "ours",
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
      name: "accepted, and not shown for the whole grace: nobody counts on them",
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
      creates: [`4 ${d4}`],
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
      name: "terminating, failed while up, off, deallocated and somebody's own: no capacity",
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

test("what a good look does to the record", () => {
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

describe("a target that was lowered", () => {
  test("from 10 to 5, and nobody says what the nodes do: nothing is stopped, and the verdict says why", () => {
    const nodes = buildNodes("n", 10);
    const state = buildState({ sets: targetOf(5), ledger: rememberNodes(nodes) });
    const decision = decideOn(state, buildSnapshot(nodes));
    expect(decision.plan.terminates).toEqual([]);
    expect([...decision.ledger.values()].filter((node) => node.draining !== undefined)).toEqual([]);
    expect(countVerdicts(decision)).toEqual({ needed: 5, "busyness-unknown": 5 });
    const spare = Object.values(verdicts(decision)).find(({ kind }) => kind === "busyness-unknown");
    expect(spare === undefined ? "" : renderVerdict(spare)).toBe(
      "stays: not needed; busy state unknown: no report and no callback yet",
    );
  });

  test("from 10 to 5, all reported idle for long: five are marked, and stopped only after a newer report", () => {
    const nodes = buildNodes("n", 10);
    const report = nodes.map(({ hostname = "" }): SchedulerNode => ({ hostname, jobs: [] }));
    const state = buildState({
      sets: targetOf(5, { report, sentAt: at(-10) }),
      ledger: rememberNodes(nodes, idleSince(at(-300))),
    });
    const marking = decideOn(state, buildSnapshot(nodes));
    expect(marking.plan.terminates).toEqual([]);
    expect(countVerdicts(marking)).toEqual({ needed: 5, draining: 5 });

    const unconfirmed = decideOn(after(state, marking), buildSnapshot(nodes), { now: at(30) });
    expect(unconfirmed.plan.terminates).toEqual([]);

    const pushed = pushSets(after(state, unconfirmed), targetOf(5, { report, sentAt: at(50) }));
    const stopping = decideOn(pushed, buildSnapshot(nodes), { now: at(60) });
    expect(stopping.plan.terminates).toHaveLength(5);
    expect(stopping.record.intents.map(({ effect }) => effect)).toEqual([
      { kind: "terminate", nodes: stopping.plan.terminates },
    ]);
    expect(created(stopping)).toEqual([]);
  });

  test("and raised again before the newer report: the marks are taken back, and nothing is created", () => {
    const nodes = buildNodes("n", 10);
    const ledger = rememberNodes(nodes, idleSince(at(-300)));
    const report = nodes.map(({ hostname = "" }): SchedulerNode => ({ hostname, jobs: [] }));
    const state = buildState({ sets: targetOf(5, { report }), ledger });
    const marking = decideOn(state, buildSnapshot(nodes));
    const raised = pushSets(after(state, marking), targetOf(9, { report, sentAt: at(20) }));
    const decision = decideOn(raised, buildSnapshot(nodes), { now: at(30) });
    expect(created(decision)).toEqual([]);
    // The tenth is idle, marked and confirmed by the newer report.
    expect(decision.plan.terminates).toHaveLength(1);
    expect(countVerdicts(decision)).toEqual({ needed: 9, draining: 1 });
  });
});

describe("nodes that do not come up", () => {
  const young = rememberNode(buildNode("n1", { phase: "coming" }), { firstSeenAt: at(-100) });
  const old = rememberNode(buildNode("n1", { phase: "coming" }), { firstSeenAt: at(-3600) });

  test.each([
    {
      name: "failed before it was Ready",
      node: buildNode("n1", { phase: "failed", statusMessage: "no capacity" }),
      known: young,
      by: "failed",
      message: "Status Failed: no capacity",
    },
    {
      name: "its boot timeout is over",
      node: buildNode("n1", { phase: "coming" }),
      known: old,
      by: "boot-timeout",
      message: "execute-n1 was not Ready 3600 s after it was first seen (Status Preparation)",
    },
  ])(
    "$name: stopped, its bucket paused, its replacement planned elsewhere at once",
    ({ node, known, by, message }) => {
      const state = buildState({ sets: targetOf(1), ledger: buildLedger([known]) });
      const decision = decideOn(state, buildSnapshot([node], { arrays: twoSizes }));
      expect(decision.plan.terminates).toEqual(["n1"]);
      expect(decision.ledger.get(nodeId("n1"))?.draining).toMatchObject({ by, plan: 7, attempts: 0 });
      expect(decision.record.backoffs).toEqual([
        { bucket: BUCKET, until: at(60), seconds: 60, cause: "boot-failed", message },
      ]);
      expect(created(decision)).toEqual([`1 ${d8}`]);
    },
  );

  test("a bucket whose nodes keep failing rests twice as long each time, though CycleCloud accepts every create", () => {
    const failed = (id: string) => buildNode(id, { phase: "failed" });
    const first = buildState({ sets: targetOf(1, { expiresAt: at(5000) }), ledger: buildLedger([young]) });
    const one = decideOn(first, buildSnapshot([failed("n1")]));
    expect(created(one)).toEqual([]);
    expect(one.record.backoffs).toMatchObject([{ seconds: 60, until: at(60) }]);

    const again = decideOn(after(first, one), buildSnapshot([]), { now: at(61) });
    expect(created(again)).toEqual([`1 ${d4}`]);
    const accepted = again.record.intents.reduce(
      (state, { id }) => settle(state, id, { kind: "accepted", sets: [{ added: 1 }] }, at(62)),
      { record: again.record, ledger: again.ledger },
    );
    const { record, ledger } = accepted;
    const two = decideOn({ record, bodies: { ...first.bodies, ledger } }, buildSnapshot([failed("n2")]), {
      now: at(120),
      policy: { ...DEFAULT_POLICY, exclusiveArrays: true },
    });
    expect(two.record.backoffs).toMatchObject([{ seconds: 120, until: at(240) }]);
  });

  test("a node that hung while it came up and is needed no more is stopped as well", () => {
    const state = buildState({ sets: targetOf(0), ledger: buildLedger([old]) });
    expect(decideOn(state, buildSnapshot([buildNode("n1", { phase: "coming" })])).plan.terminates).toEqual([
      "n1",
    ]);
  });
});

describe("nobody acts", () => {
  const stuck = buildNode("n1", { phase: "going", status: "Failed" });
  const hung = buildNode("n2", { phase: "coming" });
  const idle = buildNode("n3");
  const nodes = [stuck, hung, idle];
  const ledger = buildLedger([
    rememberNode(stuck),
    rememberNode(hung, { firstSeenAt: at(-9000) }),
    rememberNode(idle, idleSince(at(-3000))),
  ]);
  const report = [{ hostname: "ip-n3", jobs: [] }];
  const state = buildState({
    sets: { standard: { demands: [buildTarget(8, { array: arrayName("viz") })], report } },
    ledger,
  });
  const arrays = [buildArray(), buildArray("viz")];
  const started = buildSnapshot(nodes, { arrays });

  test("where everything is in order these nodes would go, and eight would be created", () => {
    const decision = decideOn(state, started);
    expect(decision.plan.terminates).toEqual(["n1", "n2"]);
    expect(verdicts(decision)["n3"]).toEqual({
      kind: "draining",
      by: "idle",
      reportAfter: NOW,
      lastReportAt: NOW,
    });
    expect(created(decision)).toEqual(["8 viz/Standard_D4s_v5"]);
  });

  test.each([
    {
      name: "autoscaling is switched off",
      snapshot: started,
      policy: observing(DEFAULT_POLICY),
    },
    {
      name: "the cluster is terminated",
      snapshot: { ...started, state: "Terminated" },
      policy: DEFAULT_POLICY,
    },
    {
      name: "the cluster is meant to be terminated",
      snapshot: { ...started, targetState: "Terminated" },
      policy: DEFAULT_POLICY,
    },
    {
      name: "the cluster is still starting",
      snapshot: { ...started, state: "Starting" },
      policy: DEFAULT_POLICY,
    },
  ])("$name", ({ snapshot, policy }) => {
    const decision = decideOn(state, snapshot, { policy });
    expect(created(decision)).toEqual([]);
    expect(decision.plan.terminates).toEqual([]);
    expect(decision.record.intents).toEqual([]);
    expect(decision.record.backoffs).toEqual([]);
    expect([...decision.ledger.values()].filter((node) => node.draining !== undefined)).toEqual([]);
    expect(verdicts(decision)["n3"]).toMatchObject({
      kind: "idle",
      idleSeconds: 3000,
      idleTimeoutSeconds: 300,
    });
  });

  test.each([
    {
      name: "our configuration does not name the array",
      more: arrays,
      policy: { ...DEFAULT_POLICY, nodearrays: [arrayName("viz")] },
    },
    {
      name: "CycleCloud's configuration of the array says no",
      more: [buildArray("execute", { autoscaled: false }), buildArray("viz")],
      policy: DEFAULT_POLICY,
    },
  ])("on an array that is not ours: $name", ({ more, policy }) => {
    const decision = decideOn(state, { ...started, arrays: more }, { policy });
    expect(decision.plan.terminates).toEqual([]);
    expect(countVerdicts(decision)).toEqual({ "not-managed": 3 });
    expect(created(decision)).toEqual(["8 viz/Standard_D4s_v5"]);
  });
});

describe("only Ready nodes stand in for a Ready node", () => {
  // A job on two large nodes that are still coming satisfies the target of two as well: in the end the two small ones are spare.
  const small = buildNodes("small", 2);
  const large = buildNodes("large", 2, { machineType: D8, phase: "coming" });
  const report = small.map(({ hostname = "" }): SchedulerNode => ({ hostname, jobs: [] }));
  const demands = [
    buildJob("wide", 2, { constraints: [...needing({ ncpus: 1 }), ofSizes(D8), EXCLUSIVE] }),
    buildTarget(2, { position: 1 }),
  ];
  const state = buildState({
    sets: { standard: { demands, report } },
    ledger: new Map([...rememberNodes(small, idleSince(at(-900))), ...rememberNodes(large)]),
  });

  test("while its substitutes are coming, a node that is spare in the plan is not marked", () => {
    const decision = decideOn(state, buildSnapshot([...small, ...large], { arrays: twoSizes }));
    expect(created(decision)).toEqual([]);
    expect(countVerdicts(decision)).toEqual({ needed: 2, idle: 2 });
    expect(verdicts(decision)["small1"]).toMatchObject({ kind: "idle" });
  });

  test("once they are Ready it is", () => {
    const up = large.map((node): Node => ({ ...node, phase: "ready", status: "Ready" }));
    const decision = decideOn(state, buildSnapshot([...small, ...up], { arrays: twoSizes }));
    expect(countVerdicts(decision)).toEqual({ needed: 2, draining: 2 });
    expect(verdicts(decision)["small1"]).toMatchObject({ kind: "draining", by: "idle", reportAfter: NOW });
  });
});

describe("after an outage of our own", () => {
  const nodes = buildNodes("n", 2);
  const report = nodes.map(({ hostname = "" }): SchedulerNode => ({ hostname, jobs: [] }));
  const idle = rememberNodes(nodes, idleSince(at(-3000)));
  const fifteenMinutes = { lastGoodLookAt: at(-900) };
  const live = { report, intervalSeconds: 3600, sentAt: at(-1000) };
  const standard = setName("standard");
  const rest = (more: Partial<Outage> = {}): Outage => ({
    from: at(-900),
    to: NOW,
    until: at(300),
    awaiting: [standard],
    ...more,
  });

  test("of fifteen minutes, scale-down rests, awaits the sets that were live and starts the idle clocks anew", () => {
    const state = buildState({ sets: targetOf(0, live), ledger: idle, record: fifteenMinutes });
    const decision = decideOn(state, buildSnapshot(nodes));
    expect(decision.record.outage).toEqual(rest());
    expect([...decision.ledger.values()].map(({ busyness }) => busyness)).toEqual([
      { state: "idle", since: NOW },
      { state: "idle", since: NOW },
    ]);
    expect(verdicts(decision)["n1"]).toEqual({ kind: "resting", until: at(300) });
  });

  test.each([
    {
      name: "two intervals without a look are none",
      record: { lastGoodLookAt: at(-120) },
      outage: undefined,
    },
    {
      name: "a moment more is one",
      record: { lastGoodLookAt: at(-120.001) },
      outage: rest({ from: at(-120.001) }),
    },
    {
      name: "a new record is one that lasts its full time: we know nothing",
      record: { lastGoodLookAt: undefined },
      outage: rest({ from: NOW }),
    },
  ])("$name", ({ record, outage }) => {
    const { record: base, bodies } = buildState({ sets: targetOf(0, live), ledger: idle });
    const { lastGoodLookAt: _replaced, ...blank } = base;
    const began =
      record.lastGoodLookAt === undefined ? blank : { ...base, lastGoodLookAt: record.lastGoodLookAt };
    expect(decideOn({ record: began, bodies }, buildSnapshot(nodes)).record.outage).toEqual(outage);
  });

  test("a set that was pushed during the outage is not awaited", () => {
    const sets = {
      standard: { sentAt: at(-100), intervalSeconds: 3600 },
      old: { sentAt: at(-900), intervalSeconds: 3600 },
    };
    const state = buildState({ sets, record: fifteenMinutes });
    expect(decideOn(state, buildSnapshot()).record.outage).toEqual(rest({ awaiting: [setName("old")] }));
  });

  const resting = { outage: rest(), lastGoodLookAt: at(60) };
  test.each([
    { name: "nothing pushed, four minutes later: it rests", sentAt: at(-1000), now: at(100), outage: rest() },
    { name: "pushed again: it ends", sentAt: at(90), now: at(100), outage: undefined },
    {
      name: "nothing pushed, five minutes later: it ends",
      sentAt: at(-1000),
      now: at(300),
      outage: undefined,
      seenAt: at(290),
    },
  ])("$name", ({ sentAt, now, outage, seenAt = at(60) }) => {
    const state = buildState({
      sets: targetOf(0, { ...live, sentAt }),
      ledger: idle,
      record: { ...resting, lastGoodLookAt: seenAt },
    });
    expect(decideOn(state, buildSnapshot(nodes), { now }).record.outage).toEqual(outage);
  });

  test("of two awaited sets one was pushed: it rests for the other", () => {
    const sets = { standard: { ...live, sentAt: at(90) }, other: { ...live, sentAt: at(-1000) } };
    const outage = rest({ awaiting: [standard, setName("other")] });
    const state = buildState({ sets, record: { outage, lastGoodLookAt: at(60) } });
    const decision = decideOn(state, buildSnapshot(), { now: at(100) });
    expect(decision.record.outage).toEqual(rest({ awaiting: [setName("other")] }));
  });

  test("a new record with no set at all rests its full time", () => {
    const outage = rest({ from: NOW, awaiting: [] });
    const state = buildState({ record: { outage, lastGoodLookAt: at(60) } });
    expect(decideOn(state, buildSnapshot(), { now: at(100) }).record.outage).toEqual(outage);
  });

  test("only the first look starts the clocks anew", () => {
    const ledger = rememberNodes(nodes, idleSince(at(0)));
    const state = buildState({ sets: targetOf(0, live), ledger, record: resting });
    const decision = decideOn(state, buildSnapshot(nodes), { now: at(100) });
    expect(decision.ledger.get(nodeId("n1"))?.busyness).toEqual({ state: "idle", since: at(0) });
  });

  test("what is missing is created all the same", () => {
    const state = buildState({ sets: targetOf(5, live), ledger: idle, record: fifteenMinutes });
    expect(created(decideOn(state, buildSnapshot(nodes)))).toEqual([`3 ${d4}`]);
  });
});

describe("the verdict on every node", () => {
  const unneeded: readonly { name: string; node: Node; known?: object; verdict: NodeVerdict }[] = [
    {
      name: "coming",
      node: buildNode("n1", { phase: "coming" }),
      known: { firstSeenAt: at(-800) },
      verdict: { kind: "coming", bootSecondsLeft: 2800 },
    },
    { name: "KeepAlive", node: buildNode("n1", { keepAlive: true }), verdict: { kind: "keep-alive" } },
    {
      name: "autostop switched off by its configuration",
      node: buildNode("n1", { stopDisabled: true }),
      verdict: { kind: "stop-disabled" },
    },
    {
      name: "idle, not long enough",
      node: buildNode("n1"),
      known: idleSince(at(-40)),
      verdict: { kind: "idle", idleSeconds: 40, idleTimeoutSeconds: 300 },
    },
    { name: "going", node: buildNode("n1", { phase: "going" }), verdict: { kind: "going" } },
    {
      name: "failed, and nobody says what it does",
      node: buildNode("n1", { phase: "failed", statusMessage: "disk" }),
      verdict: { kind: "failed", status: "disk", wasReady: true },
    },
    { name: "off", node: buildNode("n1", { phase: "off" }), verdict: { kind: "off", status: "Off" } },
    {
      name: "deallocated",
      node: buildNode("n1", { phase: "deallocated" }),
      verdict: { kind: "deallocated" },
    },
    {
      name: "deallocated, and somebody's own",
      node: buildNode("n1", { phase: "deallocated", keepAlive: true }),
      verdict: { kind: "keep-alive" },
    },
    {
      name: "deallocated, and resting after a start that came to nothing",
      node: buildNode("n1", { phase: "deallocated" }),
      known: { start: { state: "refused", since: at(-100), until: at(1700), message: "no such VM" } },
      verdict: { kind: "deallocated", restsUntil: at(1700), message: "no such VM" },
    },
    {
      name: "off",
      node: buildNode("n1", { phase: "off" }),
      verdict: { kind: "off", status: "Off" },
    },
    {
      name: "asked to stop",
      node: buildNode("n1"),
      known: { draining: { since: at(-90), by: "callback", plan: 5, attempts: 2, sentAt: at(-60) } },
      verdict: { kind: "stopping", attempts: 2 },
    },
    {
      name: "marked by its callback",
      node: buildNode("n1"),
      known: { draining: { since: at(-5), by: "callback", plan: 5, attempts: 0 } },
      verdict: { kind: "draining", by: "callback", until: at(55) },
    },
  ];
  test.each(unneeded)("$name", ({ node, known = {}, verdict }) => {
    const report = [{ hostname: "ip-n1", jobs: [] }];
    const reports = verdict.kind === "idle" ? { report } : {};
    const state = buildState({
      sets: targetOf(0, reports),
      ledger: buildLedger([rememberNode(node, known)]),
    });
    expect(verdicts(decideOn(state, buildSnapshot([node])))).toEqual({ n1: verdict });
  });

  test("busy, though no demand needs it", () => {
    const state = buildState({
      sets: targetOf(0, { report: [{ hostname: "ip-n1", jobs: ["7"] }] }),
      ledger: rememberNodes([buildNode("n1")]),
    });
    expect(verdicts(decideOn(state, buildSnapshot([buildNode("n1")])))).toEqual({ n1: { kind: "busy" } });
  });

  test("needed, and by whom; the ledger remembers when", () => {
    const state = buildState({ sets: targetOf(1), ledger: rememberNodes([buildNode("n1")]) });
    const decision = decideOn(state, buildSnapshot([buildNode("n1")]));
    expect(verdicts(decision)).toEqual({ n1: { kind: "needed", by: ["standard/execute"] } });
    expect(decision.ledger.get(nodeId("n1"))?.lastNeededAt).toBe(NOW);
  });

  // Of an idle timeout of 300 s: once in a fifth where it counts, once in all of it where it does not, by the clock.
  test.each([
    { state: "idle" as const, before: 0, after: 59, noted: false },
    { state: "idle" as const, before: 59, after: 60, noted: true },
    { state: "idle" as const, before: 60, after: 120, noted: true },
    { state: "busy" as const, before: 0, after: 299, noted: false },
    { state: "busy" as const, before: 299, after: 300, noted: true },
  ])(
    "needed while $state, noted at $before s, planned at $after s: noted again is $noted",
    ({ state, before, after: seconds, noted }) => {
      const now = at(seconds);
      const report = [{ hostname: "ip-n1", jobs: state === "busy" ? ["7"] : [] }];
      const known = { busyness: { state, since: at(-900) }, lastNeededAt: at(before) };
      const old = buildState({
        sets: targetOf(1, { report, sentAt: now }),
        ledger: buildLedger([rememberNode(buildNode("n1"), known)]),
        record: { lastGoodLookAt: at(seconds - 1) },
      });
      const { ledger } = decideOn(old, buildSnapshot([buildNode("n1")]), { now });
      expect(ledger.get(nodeId("n1"))?.lastNeededAt).toBe(noted ? now : at(before));
      expect(ledger === old.bodies.ledger).toBe(!noted);
    },
  );

  test("with an idle timeout of no time a needed node is noted once a second", () => {
    const policy = { ...DEFAULT_POLICY, idleTimeoutSeconds: 0 };
    const noted = [0.5, 1].map((seconds) => {
      const known = { busyness: { state: "idle" as const, since: at(-900) }, lastNeededAt: NOW };
      const old = buildState({
        sets: targetOf(1, { report: [{ hostname: "ip-n1", jobs: [] }] }),
        ledger: buildLedger([rememberNode(buildNode("n1"), known)]),
      });
      const { ledger } = decideOn(old, buildSnapshot([buildNode("n1")]), { policy, now: at(seconds) });
      return ledger.get(nodeId("n1"))?.lastNeededAt;
    });
    expect(noted).toEqual([NOW, at(1)]);
  });
});

test("a node with a terminate under way is not judged again", () => {
  const stuck = buildNode("n1", { phase: "going", status: "Failed" });
  const intents = [buildIntent("r-1", { effect: { kind: "terminate", nodes: [nodeId("n1")] } })];
  const state = buildState({ ledger: rememberNodes([stuck]), record: { intents } });
  expect(decideOn(state, buildSnapshot([stuck])).record.intents).toEqual(intents);
});

test("the same record and look give the same decision", () => {
  const nodes = [...buildNodes("n", 3), buildNode("hung", { phase: "coming" })];
  const state = buildState({ sets: targetOf(8), ledger: rememberNodes(nodes) });
  expect(decideOn(state, buildSnapshot(nodes))).toEqual(decideOn(state, buildSnapshot(nodes)));
});

describe("jobs stay where the last plan had them", () => {
  // So many that those who are displaced do not all get another chance.
  const names = Array.from({ length: 60 }, (_, i) => `array${i}`);
  const arrays = names.map((name) =>
    buildArray(name, {
      buckets: [buildBucket(D8, 8, { availableCount: 0 }), buildBucket(D4, 4, { availableCount: 0 })],
    }),
  );
  const nodes = names.flatMap((name) => [
    buildNode(`a-${name}`, { array: arrayName(name), machineType: D8 }),
    buildNode(`b-${name}`, { array: arrayName(name), machineType: D4 }),
  ]);
  const jobs = (kind: string, ncpus: number, priority: number) =>
    names.map((name) =>
      buildJob(`${kind}-${name}`, 1, {
        priority,
        constraints: [...needing({ ncpus }), inArrays(name)],
      }),
    );
  const large = { demands: jobs("large", 8, 0) };
  const both = { standard: { demands: [...large.demands, ...jobs("small", 3, 1)] } };
  const short = ({ plan }: Decision): number =>
    plan.demands.filter(({ placed, asked }) => placed < asked).length;

  test("others that come later, with a higher priority, do not displace them while there are other nodes", () => {
    const first = decideOn(
      buildState({ sets: { standard: large }, ledger: rememberNodes(nodes) }),
      buildSnapshot(nodes, { arrays }),
    );
    expect(short(first)).toBe(0);
    const { record, bodies } = buildState({ sets: both, ledger: rememberNodes(nodes) });
    expect(short(decideOn({ record, bodies }, buildSnapshot(nodes, { arrays })))).toBeGreaterThan(0);
    const known = { record, bodies: { ...bodies, plan: first.plan } };
    expect(short(decideOn(known, buildSnapshot(nodes, { arrays })))).toBe(0);
  });
});

describe("what was decided before is recalled, not kept", () => {
  test("since when a group lacks nodes is told by the look, as long as nothing is asked for", () => {
    const demands: readonly Demand[] = [
      {
        kind: "groups",
        id: "g",
        priority: 0,
        position: 0,
        array: arrayName("execute"),
        groups: 1,
        size: { unit: "nodes", count: 2 },
      },
    ];
    const group = placementGroup("group-execute-2n-1");
    const node = buildNode("n1", { placementGroup: group });
    const full = { maxCount: 1, availableCount: 0, activeCount: 1, maxPlacementGroupSize: 4 };
    const buckets = [buildBucket(D4, 4, { ...full, placementGroups: [{ name: group, activeCount: 1 }] })];
    const snapshot = buildSnapshot([node], { arrays: [buildArray("execute", { buckets })] });
    const purpose = { kind: "group" as const, key: "execute:2n", group };
    const recall = new Recall<Weighing>();
    let state: State = buildState({
      sets: { standard: { demands } },
      ledger: buildLedger([rememberNode(node, { purpose })]),
    });
    const since: (Instant | undefined)[] = [];
    for (const seconds of [0, 60, 120, 180]) {
      const now = at(seconds);
      const watching = observing(DEFAULT_POLICY);
      const look = { snapshot: { ...snapshot, at: now }, requestNodes: new Map() };
      const { plan } = decide(state.record, state.bodies, look, watching, now, OURS, recall);
      state = { ...state, bodies: { ...state.bodies, plan } };
      since.push(plan.groups?.[0]?.groups[0]?.since);
    }
    expect(since).toEqual([0, 60, 120, 180].map((seconds) => at(seconds)));
  });
});
