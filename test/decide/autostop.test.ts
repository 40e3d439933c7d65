import { describe, expect, test } from "vitest";
import { EXCLUSIVE, needing, ofSizes } from "../support/build-constraints.ts";
import { judgeStops } from "../../src/decide/autostop.ts";
import { settle } from "../../src/decide/intents/settle.ts";
import type { Node } from "../../src/domain/cluster.ts";
import type { NodeId } from "../../src/domain/ids.ts";
import { arrayName, nodeId } from "../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import type { Bodies } from "../../src/domain/bodies.ts";
import type { Draining, LedgerNode } from "../../src/domain/ledger.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import type { Instant } from "../../src/domain/units.ts";
import { afterQuestions, buildCall } from "../support/build-call.ts";
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
  NOW,
  rememberNode,
  rememberNodes,
} from "../support/build-node.ts";
import type { Scenario } from "../support/build-record.ts";
import { buildIntent, buildJob, buildState, buildTarget, OURS, pushSets } from "../support/build-record.ts";
import type { Settled } from "../../src/decide/intents/evidence.ts";
import type { StopCall, StopVerdict } from "../../src/decide/stop-verdict.ts";
import { confirmStops } from "../../src/decide/confirm-stops.ts";

const policy = DEFAULT_POLICY;

interface State {
  readonly record: ClusterRecord;
  readonly bodies: Bodies;
}

const call = buildCall;
const target = (count: number) => ({ standard: { demands: [buildTarget(count)] } });

/** A cluster of these nodes, all known, observed just now. */
function stateOf(nodes: readonly Node[], scenario: Scenario = {}): State {
  return buildState({ ledger: rememberNodes(nodes), seen: buildSnapshot(nodes), ...scenario });
}

function judge({ record, bodies }: State, calls: readonly StopCall[], now: Instant = NOW) {
  return judgeStops(record, bodies, calls, policy, now);
}

/** The record as the first commit leaves it. */
function afterMarks(state: State, calls: readonly StopCall[], now: Instant = NOW) {
  const { record, questions, verdicts } = judge(state, calls, now);
  return { state: { record, bodies: afterQuestions(state.bodies, questions) }, marked: markedIn(verdicts) };
}

const markedIn = (verdicts: readonly StopVerdict[]): readonly NodeId[] =>
  verdicts.flatMap((verdict) => (verdict.kind === "marked" ? [verdict.node] : []));

function confirm({ record, bodies }: State, marked: readonly string[], now: Instant = NOW) {
  const calls = marked.map((id) => ({ node: nodeId(id), call: { arrivedAt: now } }));
  const confirmed = confirmStops(record, bodies, calls, policy, now, OURS);
  const going = [...confirmed.verdicts].flatMap(([id, { kind }]) => (kind === "granted" ? [id] : []));
  const after = afterQuestions(bodies, confirmed.questions);
  return { ...confirmed, going: new Set(going), ledger: after.ledger, bodies: after };
}

const one = buildNode("n1");
const verdictOn = (scenario: Scenario, asked = call("n1"), nodes = [one], rules = policy): StopVerdict => {
  const { record, bodies } = stateOf(nodes, scenario);
  const [verdict] = judgeStops(record, bodies, [asked], rules, NOW).verdicts;
  if (verdict === undefined) throw new RangeError("one call has one verdict");
  return verdict;
};
const marked: StopVerdict = { kind: "marked", node: nodeId("n1") };
const known = (more: Partial<LedgerNode>) => ({ ledger: buildLedger([rememberNode(one, more)]) });
const draining = (more: Partial<Draining>): Partial<LedgerNode> => ({
  draining: { since: at(-10), by: "callback", plan: 6, attempts: 0, ...more },
});
const resting = { from: at(-900), to: at(-60), until: at(240), awaiting: [] };
const stopAsked = [buildIntent("r-1", { effect: { kind: "terminate", nodes: [nodeId("n1")] } })];

describe("what a node is told", () => {
  const placed = [buildJob("sim", 1, { placed: [{ hostname: "ip-n1", iterations: 1 }] })];
  const rows: readonly { name: string; scenario: Scenario; verdict: StopVerdict }[] = [
    { name: "nobody needs it", scenario: {}, verdict: marked },
    {
      name: "a set needs it",
      scenario: { sets: target(1) },
      verdict: { kind: "needed", why: "needed by standard/execute", undrain: true },
    },
    {
      name: "the set that needed it has run out",
      scenario: { sets: { standard: { demands: [buildTarget(1)], sentAt: at(-300) } } },
      verdict: marked,
    },
    {
      name: "a job is placed on it",
      scenario: { sets: { standard: { demands: placed } } },
      verdict: { kind: "needed", why: "job sim is on it", undrain: true },
    },
    {
      name: "a job is reported on it",
      scenario: { sets: { standard: { report: [{ hostname: "IP-N1.example", jobs: ["7"] }] } } },
      verdict: { kind: "needed", why: "job 7 is on it", undrain: true },
    },
    {
      name: "it is reported without a job",
      scenario: { sets: { standard: { report: [{ hostname: "ip-n1", jobs: [] }] } } },
      verdict: marked,
    },
    {
      name: "it has gone: yes, again",
      scenario: known({ goneAt: at(-3599) }),
      verdict: { kind: "stopping" },
    },
    {
      name: "it has gone for less than a minute, and nobody here stopped it: the status may be wrong",
      scenario: known({ goneAt: at(-59) }),
      verdict: { kind: "cannot-tell", why: "the last observation does not show the node", undrain: false },
    },
    {
      name: "it has gone just now, and we stopped it",
      scenario: known({ goneAt: at(-59), ...draining({ sentAt: at(-200) }) }),
      verdict: { kind: "stopping" },
    },
    {
      name: "its record is unclear",
      scenario: {
        seen: buildSnapshot([{ ...one, phase: "unknown" }]),
        ...known({ unclearSince: at(-3599) }),
      },
      verdict: {
        kind: "cannot-tell",
        why: "CycleCloud's record of the node does not say whether it is wanted",
        undrain: false,
      },
    },
    {
      name: "its record has been unclear for too long: its own word ends that",
      scenario: {
        seen: buildSnapshot([{ ...one, phase: "unknown" }]),
        ...known({ unclearSince: at(-3600) }),
      },
      verdict: marked,
    },
    {
      name: "it was asked to terminate",
      scenario: known(draining({ sentAt: at(-20) })),
      verdict: { kind: "stopping" },
    },
    {
      name: "it was asked to terminate two minutes ago and is up: what was asked has come to nothing, and is decided again",
      scenario: known(draining({ sentAt: at(-120) })),
      verdict: marked,
    },
    {
      name: "its terminate is committed and not confirmed: whoever was to send it may be dead",
      scenario: { record: { intents: stopAsked } },
      verdict: { kind: "cannot-tell", why: "its stop is under way; ask again", undrain: false },
    },
    {
      name: "it is marked, and its first call's answer got lost",
      scenario: known(draining({})),
      verdict: marked,
    },
    {
      name: "our own idleness mark is no answer yet: its own word makes it one",
      scenario: known(draining({ by: "idle" })),
      verdict: marked,
    },
    {
      name: "the look is two intervals old",
      scenario: { seen: buildSnapshot([one], { at: at(-120) }) },
      verdict: marked,
    },
    {
      name: "the look is older than that",
      scenario: { seen: buildSnapshot([one], { at: at(-121) }) },
      verdict: {
        kind: "cannot-tell",
        why: "the last observation of the cluster is 121 s old",
        undrain: true,
      },
    },
    {
      name: "the look lacks it",
      scenario: { seen: buildSnapshot([{ ...one, missing: { since: at(-60) } }]) },
      verdict: {
        kind: "cannot-tell",
        why: "the last observation does not show the node",
        undrain: false,
      },
    },
    {
      name: "scale-down rests after an outage",
      scenario: { record: { outage: resting } },
      verdict: {
        kind: "cannot-tell",
        why: "scale-down rests after a start or an interruption of the autoscaler",
        undrain: true,
      },
    },
    {
      name: "the rest is over",
      scenario: { record: { outage: { ...resting, until: at(0) } } },
      verdict: marked,
    },
  ];
  test.each(rows)("$name", ({ scenario, verdict }) => {
    expect(verdictOn(scenario)).toEqual(verdict);
  });

  const away = { from: at(-900), to: at(-60), until: at(240) };
  test.each([
    { name: "the set that was awaited has been pushed", sentAt: at(-30), verdict: "marked" },
    { name: "the set that is awaited has not", sentAt: at(-1000), verdict: "cannot-tell" },
  ])("after an outage: $name", ({ sentAt, verdict }) => {
    const { record } = buildState({ sets: { standard: { sentAt, intervalSeconds: 3600 } } });
    const scenario: Scenario = {
      sets: { standard: { sentAt, intervalSeconds: 3600 } },
      record: { outage: { ...away, awaiting: [...record.sets.keys()] } },
    };
    expect(verdictOn(scenario).kind).toBe(verdict);
  });

  test.each([
    { name: "an instance that nobody knows", asked: call("n9"), verdict: { kind: "unknown-instance" } },
    {
      name: "another array's token",
      asked: call("n1", { array: arrayName("viz") }),
      verdict: { kind: "forbidden", undrain: true },
    },
    {
      name: "another array's token, though unhealthy",
      asked: call("n1", { array: arrayName("viz"), unhealthy: true }),
      verdict: { kind: "forbidden", undrain: true },
    },
  ])("$name", ({ asked, verdict }) => {
    expect(verdictOn({}, asked)).toEqual(verdict);
  });

  test.each([
    {
      name: "KeepAlive is set",
      node: { keepAlive: true },
      verdict: { kind: "needed", why: "KeepAlive is set", undrain: true },
    },
    { name: "it is going already", node: { phase: "going" }, verdict: { kind: "stopping" } },
    { name: "it has no VM any more", node: { phase: "off" }, verdict: { kind: "stopping" } },
    { name: "it asks before we saw it Ready", node: { phase: "coming" }, verdict: marked },
    { name: "it asks before we saw that it was started", node: { phase: "deallocated" }, verdict: marked },
    { name: "CycleCloud calls it failed", node: { phase: "failed" }, verdict: marked },
  ] as const)("$name", ({ node, verdict }) => {
    expect(verdictOn({}, call("n1"), [buildNode("n1", node)])).toEqual(verdict);
  });

  test("it asks before we saw that it was started, and is needed: no other is started in its place", () => {
    const nodes = [buildNode("n1", { phase: "deallocated" }), buildNode("n2", { phase: "deallocated" })];
    expect(verdictOn({ sets: target(1), seen: buildSnapshot(nodes) }, call("n1"), nodes)).toEqual({
      kind: "needed",
      why: "needed by standard/execute",
      undrain: true,
    });
  });

  test("nothing has been looked at since the record was born", () => {
    const { record, bodies } = buildState({ ledger: rememberNodes([one]) });
    const why = "the cluster has not been observed yet";
    expect(judge({ record, bodies }, [call("n1"), call("n9")]).verdicts).toEqual([
      { kind: "cannot-tell", why, undrain: true },
      { kind: "not-seen-yet", why },
    ]);
  });

  test("autoscaling is switched off", () => {
    expect(verdictOn({}, call("n1"), [one], { ...policy, mode: "observe" })).toEqual({
      kind: "needed",
      why: "observe mode",
      undrain: true,
    });
  });

  test("its array is not ours", () => {
    expect(verdictOn({}, call("n1"), [one], { ...policy, nodearrays: [arrayName("viz")] })).toEqual({
      kind: "needed",
      why: 'node array "execute" is not autoscaled',
      undrain: true,
    });
  });

  test("it is spare in the plan, but the nodes that are to serve the demand are not Ready yet", () => {
    const coming = buildNodes("large", 2, { machineType: D8, phase: "coming" });
    const nodes = [...buildNodes("n", 2), ...coming];
    const demands = [
      buildJob("wide", 2, { constraints: [...needing({ ncpus: 1 }), ofSizes(D8), EXCLUSIVE] }),
      buildTarget(2, { position: 1 }),
    ];
    const arrays = [buildArray("execute", { buckets: [buildBucket(), buildBucket(D8, 8)] })];
    const scenario = { sets: { standard: { demands } }, seen: buildSnapshot(nodes, { arrays }) };
    expect(verdictOn(scenario, call("n1"), nodes)).toEqual({
      kind: "needed",
      why: "needed until other nodes are Ready",
      undrain: true,
    });
  });

  test("a VM that was deallocated and came back under a new NodeId: the live node is meant", () => {
    const gone = rememberNode(buildNode("old", { instanceId: "vm-n1" }), { goneAt: at(-100) });
    for (const entries of [
      [gone, rememberNode(one)],
      [rememberNode(one), gone],
    ]) {
      expect(verdictOn({ ledger: buildLedger(entries) })).toEqual(marked);
    }
  });
});

describe("a node that calls itself unhealthy", () => {
  const unhealthy = call("n1", { unhealthy: true });
  test.each([
    { name: "though it is needed", scenario: { sets: target(1) } },
    { name: "though scale-down rests", scenario: { record: { outage: resting } } },
    { name: "though the last look is old", scenario: { seen: buildSnapshot([one], { at: at(-900) }) } },
  ])("goes, $name", ({ scenario }) => {
    expect(verdictOn(scenario, unhealthy)).toEqual(marked);
    const first = afterMarks(stateOf([one], scenario), [unhealthy]);
    const { going, record, ledger } = confirm(first.state, ["n1"]);
    expect([...going]).toEqual(["n1"]);
    expect(ledger.get(nodeId("n1"))?.draining).toMatchObject({ by: "unhealthy" });
    expect(record.backoffs).toEqual([
      {
        bucket: { array: "execute", machineType: "Standard_D4s_v5" },
        until: at(60),
        seconds: 60,
        cause: "unhealthy",
        message: "execute-n1 asked to be stopped as unhealthy",
      },
    ]);
  });

  test("stays if KeepAlive is set", () => {
    expect(verdictOn({}, unhealthy, [buildNode("n1", { keepAlive: true })]).kind).toBe("needed");
  });
});

describe("the first commit marks", () => {
  test("whom it lets go, and counts as a plan", () => {
    const decision = judge(stateOf(buildNodes("n", 2)), [call("n1")]);
    expect(markedIn(decision.verdicts)).toEqual(["n1"]);
    expect(decision.record.plan).toBe(7);
    expect([...decision.questions]).toEqual([
      ["n1", { askedAt: NOW, draining: { since: NOW, by: "callback", plan: 7, attempts: 0 } }],
    ]);
  });

  test("nobody: the record is the same object, and only that the node stays is written", () => {
    const state = stateOf([one], { sets: target(1) });
    const decision = judge(state, [call("n1")]);
    expect(decision.record).toBe(state.record);
    expect([...decision.questions]).toEqual([["n1", { askedAt: NOW, stayAt: NOW }]]);
  });

  test("of ten that ask at once, when six are needed, four", () => {
    const nodes = buildNodes("n", 10);
    const { verdicts } = judge(
      stateOf(nodes, { sets: target(6) }),
      nodes.map(({ nodeId: id }) => call(id)),
    );
    expect(markedIn(verdicts)).toHaveLength(4);
    expect(verdicts.filter(({ kind }) => kind === "needed")).toHaveLength(6);
  });

  test("the same node asking twice at once: once", () => {
    const { verdicts, questions } = judge(stateOf([one]), [call("n1"), call("n1")]);
    expect(verdicts).toEqual([marked, marked]);
    expect(questions.get(nodeId("n1"))?.draining?.plan).toBe(7);
  });

  test("nobody whose stand-in another demand needs: two gangs on five nodes, and one of the five asks", () => {
    // The first gang could move to two of the three large nodes; the second, which needs all three, would then ask for new ones.
    const nodes = [...buildNodes("small", 2), ...buildNodes("large", 3, { machineType: D8 })];
    const demands = [
      buildJob("pair", 1, { nodeCount: 2, constraints: [...needing({ ncpus: 1 }), EXCLUSIVE], priority: 1 }),
      buildJob("triple", 1, { nodeCount: 3 }),
    ];
    const arrays = [
      buildArray("execute", { buckets: [buildBucket(D4, 4, { availableCount: 0 }), buildBucket(D8, 8)] }),
    ];
    const state = stateOf(nodes, { sets: { standard: { demands } }, seen: buildSnapshot(nodes, { arrays }) });
    expect(judge(state, [call("small1")]).verdicts).toEqual([
      { kind: "needed", why: "needed by standard/pair", undrain: true },
    ]);
  });

  test("a spare node does not give its place to one that asks", () => {
    const { verdicts } = judge(stateOf(buildNodes("n", 3), { sets: target(2) }), [call("n3")]);
    expect(markedIn(verdicts)).toEqual(["n3"]);
  });
});

describe("the second commit looks at the record as it is by then", () => {
  const nodes = buildNodes("n", 2);
  const asks = [call("n1"), call("n2")];

  test("nothing has come up: one terminate for all", () => {
    const { state, marked: granted } = afterMarks(stateOf(nodes), asks);
    const { record, going } = confirm(state, granted, at(1));
    expect([...going]).toEqual(["n1", "n2"]);
    expect(record.plan).toBe(8);
    expect(record.intents).toMatchObject([
      {
        owner: "ours",
        committedAt: at(1),
        sent: "never",
        effect: { kind: "terminate", nodes: ["n1", "n2"] },
      },
    ]);
  });

  test("demand for one of them has come: it stays, its mark is taken back and its idle clock starts anew", () => {
    const first = afterMarks(stateOf(nodes), asks);
    const { record, ledger, going, verdicts } = confirm(
      pushSets(first.state, target(1)),
      first.marked,
      at(1),
    );
    expect(going.size).toBe(1);
    const staying = nodeId(going.has(nodeId("n1")) ? "n2" : "n1");
    expect(ledger.get(staying)).not.toHaveProperty("draining");
    expect(ledger.get(staying)?.busyness).toEqual({ state: "unknown", since: at(1) });
    const why = "needed by standard/execute";
    expect(verdicts.get(staying)).toEqual({ kind: "needed", why, undrain: true });
    expect(record.intents).toMatchObject([{ effect: { nodes: [...going] } }]);
  });

  test("demand for both has come: nobody goes, and nothing is asked of CycleCloud", () => {
    const first = afterMarks(stateOf(nodes), asks);
    const { record, going } = confirm(pushSets(first.state, target(2)), first.marked, at(1));
    expect([...going]).toEqual([]);
    expect(record.intents).toEqual([]);
  });

  test("a job has been placed on one of them", () => {
    const first = afterMarks(stateOf(nodes), asks);
    const job = buildJob("sim", 1, { placed: [{ hostname: "ip-n2", iterations: 1 }] });
    const { going, verdicts } = confirm(
      pushSets(first.state, { standard: { demands: [job] } }),
      first.marked,
      at(1),
    );
    expect([...going]).toEqual(["n1"]);
    expect(verdicts.get(nodeId("n2"))).toMatchObject({ why: "job sim is on it" });
  });

  test("a set that ran out before the call does not hold it back, whether or not a tick has noted that", () => {
    const lapsed = { standard: { demands: [buildTarget(2)], sentAt: at(-300) } };
    const first = afterMarks(stateOf(nodes, { sets: lapsed }), asks);
    expect(first.marked).toEqual(["n1", "n2"]);
    expect([...confirm(first.state, first.marked, at(1)).going]).toEqual(["n1", "n2"]);
  });

  test("another call of the same node came to its end first: no second terminate, and yes once it is accepted", () => {
    const first = afterMarks(stateOf([one]), [call("n1")]);
    const winner = confirm(first.state, first.marked, at(1));
    const second = confirm(winner, first.marked, at(2));
    expect(second.verdicts.get(nodeId("n1"))).toMatchObject({ kind: "cannot-tell", undrain: false });
    expect(second.record.intents).toHaveLength(1);

    const [intent] = winner.record.intents;
    if (intent === undefined) throw new RangeError("the first call commits a terminate");
    const answer = new Map([[nodeId("n1"), { ok: true }]]);
    const settled = settle(winner, intent.id, { kind: "terminated", nodes: answer }, at(2));
    const done = { record: settled.record, bodies: afterQuestions(winner.bodies, settled.questions) };
    const third = confirm(done, first.marked, at(3));
    expect(third.verdicts.get(nodeId("n1"))).toEqual({ kind: "stopping" });
    expect(third.record.intents).toEqual([]);
    expect(third.ledger.get(nodeId("n1"))?.draining).toMatchObject({ attempts: 1, sentAt: at(2) });
  });

  test("a mark that somebody has taken back is not followed up", () => {
    const { going, record } = confirm(stateOf(nodes), ["n1"]);
    expect([...going]).toEqual([]);
    expect(record.intents).toEqual([]);
  });

  test("our own idleness mark is not the node's word", () => {
    const ledger = buildLedger([rememberNode(one, draining({ by: "idle" }))]);
    expect([...confirm(stateOf([one], { ledger }), ["n1"]).going]).toEqual([]);
  });
});

test("200 nodes ask in four batches of 50 while 50 are needed: exactly 150 go", () => {
  const nodes = buildNodes("n", 200);
  let state = stateOf(nodes, { sets: target(50) });
  const sizes: number[] = [];
  for (let batch = 0; batch < 4; batch += 1) {
    const asks = nodes.slice(batch * 50, batch * 50 + 50).map(({ nodeId: id }) => call(id));
    const first = afterMarks(state, asks, at(batch));
    const confirmed = confirm(first.state, first.marked, at(batch));
    sizes.push(confirmed.going.size);
    const settled = confirmed.record.intents.reduce(
      (so: Settled, { id }) =>
        settle(
          so,
          id,
          { kind: "terminated", nodes: new Map([...confirmed.going].map((node) => [node, { ok: true }])) },
          at(batch),
        ),
      { record: confirmed.record, ledger: confirmed.ledger, questions: confirmed.questions },
    );
    state = { record: settled.record, bodies: afterQuestions(confirmed.bodies, settled.questions) };
  }
  expect(sizes).toEqual([50, 50, 50, 0]);
  // Who asks again hears the same.
  const again = judge(
    state,
    nodes.map(({ nodeId: id }) => call(id)),
    at(5),
  ).verdicts;
  expect(again.filter(({ kind }) => kind === "stopping")).toHaveLength(150);
  expect(again.filter(({ kind }) => kind === "needed")).toHaveLength(50);
});
