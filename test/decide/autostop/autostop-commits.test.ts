import { describe, expect, test } from "vitest";
import { EXCLUSIVE, needing } from "../../support/build-constraints.ts";
import { settle } from "../../../src/decide/intents/settle.ts";
import { nodeId } from "../../../src/domain/ids.ts";
import { afterQuestions } from "../../support/build-call.ts";
import {
  at,
  buildArray,
  buildBucket,
  buildLedger,
  buildNodes,
  buildSnapshot,
  D4,
  D8,
  NOW,
  rememberNode,
} from "../../support/build-node.ts";
import { buildJob, buildTarget, pushSets } from "../../support/build-record.ts";
import type { Settled } from "../../../src/decide/intents/evidence.ts";
import {
  afterMarks,
  call,
  confirm,
  draining,
  judge,
  marked,
  markedIn,
  one,
  stateOf,
  target,
} from "./autostop-stage.ts";

describe("the first commit marks", () => {
  test("whom it lets go, and counts as a plan", () => {
    const decision = judge(stateOf(buildNodes("n", 2)), [call("n1")]);
    expect(markedIn(decision.verdicts)).toEqual(["n1"]);
    expect(decision.record.plan).toBe(7);
    expect([...decision.questions]).toEqual([
      ["n1", { askedAt: NOW, draining: { since: NOW, by: "callback", plan: 7, attempts: 0 } }],
    ]);
  });

  test("no node: the record is the same object, and only that the node stays is written", () => {
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

  test("no node whose replacement another demand needs: two gangs on five nodes, and one of the five asks", () => {
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
  test("a node that asked, too, and was told to stay is up, although the observation shows it as coming", () => {
    const nodes = [...buildNodes("up", 1), ...buildNodes("new", 3, { phase: "coming" })];
    const state = stateOf(nodes, { sets: target(2) });
    const {
      state: after,
      marked: ids,
      up,
    } = afterMarks(
      state,
      nodes.map(({ nodeId: id }) => call(id)),
    );
    expect(ids).toHaveLength(2);
    expect(confirm(after, ids, NOW, up).going).toEqual(new Set(ids));
  });

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

  test("demand for one of them has come: it stays, its mark is taken back and its idle time starts again", () => {
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

  test("demand for both has come: no node goes, and nothing is asked of CycleCloud", () => {
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

  test("a mark that was removed leads to no stop", () => {
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
