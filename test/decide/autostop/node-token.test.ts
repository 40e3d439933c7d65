import type { StopCall } from "../../../src/decide/autostop/stop-survey.ts";
import { describe, expect, test } from "vitest";
import { judgeStops } from "../../../src/decide/autostop/judge-stops.ts";
import { foldQuestions } from "../../../src/decide/stops/questions.ts";
import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import type { Node } from "../../../src/domain/cluster.ts";
import type { SchedulerNode } from "../../../src/domain/demand.ts";
import { arrayName, digest, nodeId } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { LedgerNode } from "../../../src/domain/ledger.ts";
import type { Instant } from "../../../src/domain/units.ts";
import { afterQuestions, buildCall } from "../../support/build-call.ts";
import {
  at,
  buildLedger,
  buildNode,
  buildNodes,
  buildSnapshot,
  NOW,
  rememberNode,
  rememberNodes,
} from "../../support/build-node.ts";
import type { Scenario } from "../../support/build-record.ts";
import { buildState, OURS } from "../../support/build-record.ts";

/** The token that a node chooses, and that its calls must carry from then on. */

const OWN = digest("own-token-of-a");
const OTHER = digest("token-of-a-stranger");
const REFUSED = { kind: "forbidden", undrain: true, unbound: true };

type State = ReturnType<typeof buildState>;
const nodes = buildNodes("n", 3);
const stateOf = (scenario: Scenario = {}, of: readonly Node[] = nodes): State =>
  buildState({ ledger: rememberNodes(of), seen: buildSnapshot(of), ...scenario });
const bound = (more: Partial<LedgerNode> = {}): Scenario => ({
  ledger: buildLedger(
    nodes.map((node) =>
      rememberNode(
        node,
        node.name === "execute-n1" ? { bound: { token: OWN, instanceId: "vm-n1" }, ...more } : {},
      ),
    ),
  ),
});

function ask({ record, bodies }: State, calls: readonly StopCall[], now: Instant = NOW) {
  const arrived = calls.map((call) => ({ ...call, arrivedAt: now }));
  const { verdicts, questions, record: next } = judgeStops(record, bodies, arrived, DEFAULT_POLICY, now);
  return { verdicts, state: { record: next, bodies: afterQuestions(bodies, questions) } };
}

const boundTo = ({ bodies }: State, id = "n1") => bodies.ledger.get(nodeId(id))?.bound;

describe("the first token binds the instance", () => {
  test("a node that sends one: its later calls without it, or with another, are refused", () => {
    const first = ask(stateOf(), [buildCall("n1", { token: OWN, begin: false })]);
    expect(boundTo(first.state)).toEqual({ token: OWN, instanceId: "vm-n1" });
    for (const call of [
      buildCall("n1"),
      buildCall("n1", { token: OTHER }),
      buildCall("n1", { unhealthy: true }),
    ]) {
      const { verdicts, state } = ask(first.state, [call], at(60));
      expect(verdicts).toEqual([REFUSED]);
      expect(state.record).toBe(first.state.record);
      expect(state.bodies.questions?.get(nodeId("n1"))).toMatchObject({
        refusedAt: at(60),
        bound: { token: OWN },
      });
    }
    expect(ask(first.state, [buildCall("n1", { token: OWN })], at(60)).verdicts).toEqual([
      { kind: "marked", node: "n1" },
    ]);
  });

  test("a node that never sends one needs none: plain calls count as before", () => {
    const first = ask(stateOf(), [buildCall("n1", { begin: false })]);
    expect(boundTo(first.state)).toBeUndefined();
    expect(ask(first.state, [buildCall("n1")], at(60)).verdicts).toEqual([{ kind: "marked", node: "n1" }]);
  });

  test("a node may begin to send one later", () => {
    const first = ask(stateOf(), [buildCall("n1", { begin: false })]);
    const second = ask(first.state, [buildCall("n1", { token: OWN, begin: false })], at(60));
    expect(ask(second.state, [buildCall("n1")], at(120)).verdicts).toEqual([REFUSED]);
  });

  test("of two first tokens at once the first binds", () => {
    const { verdicts, state } = ask(stateOf(), [
      buildCall("n1", { token: OWN }),
      buildCall("n1", { token: OTHER }),
    ]);
    expect(verdicts).toEqual([{ kind: "marked", node: "n1" }, REFUSED]);
    expect(boundTo(state)?.token).toBe(OWN);
  });

  test("a token binds its own node only", () => {
    const { state } = ask(stateOf(), [buildCall("n1", { token: OWN })]);
    expect(boundTo(state, "n2")).toBeUndefined();
    expect(ask(state, [buildCall("n2")]).verdicts).toEqual([{ kind: "marked", node: "n2" }]);
  });

  test("a call with the stop URL of another array binds no node", () => {
    const { verdicts, state } = ask(stateOf(), [buildCall("n1", { token: OTHER, array: arrayName("viz") })]);
    expect(verdicts).toEqual([{ kind: "forbidden", undrain: true }]);
    expect(boundTo(state)).toBeUndefined();
  });

  test("the same node as a new VM begins without a token", () => {
    const reimaged = buildNode("n1", { instanceId: "vm-new" });
    const scenario: Scenario = {
      ledger: buildLedger([rememberNode(reimaged, { bound: { token: OWN, instanceId: "vm-n1" } })]),
    };
    const { verdicts, state } = ask(stateOf(scenario, [reimaged]), [
      buildCall("n1", { instance: "vm-new", token: OTHER }),
    ]);
    expect(verdicts).toEqual([{ kind: "marked", node: "n1" }]);
    expect(boundTo(state)).toEqual({ token: OTHER, instanceId: "vm-new" });
  });
});

describe("a bound node whose call carries no token", () => {
  const reported = (host: Omit<SchedulerNode, "hostname">, sentAt: Instant): Scenario => ({
    ...bound(),
    sets: { pbs: { report: [{ hostname: "ip-n1", ...host }], sentAt } },
  });
  test.each([
    { name: "a report of 30 s ago calls its host idle", host: { jobs: [] }, sentAt: at(-30), kind: "marked" },
    { name: "and closed", host: { jobs: [], state: "closed" }, sentAt: at(-30), kind: "marked" },
    { name: "idle and open", host: { jobs: [], state: "open" }, sentAt: at(-30), kind: "forbidden" },
    { name: "idle, 31 s ago", host: { jobs: [] }, sentAt: at(-31), kind: "forbidden" },
    { name: "a job is on it", host: { jobs: ["7"] }, sentAt: at(-1), kind: "forbidden" },
  ] satisfies readonly {
    name: string;
    host: Omit<SchedulerNode, "hostname">;
    sentAt: Instant;
    kind: string;
  }[])("$name: $kind", ({ host, sentAt, kind }) => {
    const [verdict] = ask(stateOf(reported(host, sentAt)), [buildCall("n1")]).verdicts;
    expect(verdict?.kind).toBe(kind);
  });

  test("is not told to open while its stop may take effect", () => {
    const draining = { since: at(-10), by: "callback", plan: 6, attempts: 0 } as const;
    expect(ask(stateOf(bound({ draining })), [buildCall("n1")]).verdicts).toEqual([
      { ...REFUSED, undrain: false },
    ]);
  });

  test("does not end its node's own question: that one is still answered", () => {
    const first = ask(stateOf(bound()), [buildCall("n1", { asked: 9_000_000_000_000 })]);
    expect(first.verdicts).toEqual([REFUSED]);
    expect(ask(first.state, [buildCall("n1", { asked: 1, token: OWN })], at(1)).verdicts).toEqual([
      { kind: "marked", node: "n1" },
    ]);
  });
});

test("nothing new is learnt of a bound node that asks again: its questions are the very same", () => {
  const first = ask(stateOf(bound()), [buildCall("n1", { token: OWN, begin: false })]);
  const { record, bodies } = first.state;
  const call = buildCall("n1", { token: OWN, begin: false });
  const again = judgeStops(record, bodies, [call], DEFAULT_POLICY, at(1));
  expect(again.questions).toBe(bodies.questions);
});

describe("the binding outlives its question", () => {
  const learnt = ask(stateOf(), [buildCall("n1", { token: OWN, begin: false })]).state;

  test("the next plan notes it in the ledger, and it stays there", () => {
    const observation = { snapshot: buildSnapshot(nodes, { at: at(30) }), requestNodes: new Map() };
    const plan = decide(learnt.record, learnt.bodies, observation, DEFAULT_POLICY, at(30), OURS);
    expect(plan.ledger.get(nodeId("n1"))?.bound).toEqual({ token: OWN, instanceId: "vm-n1" });
    const { questions: _over, ...bodies } = learnt.bodies;
    const later = { snapshot: buildSnapshot(nodes, { at: at(90) }), requestNodes: new Map() };
    const next = decide(plan.record, { ...bodies, ledger: plan.ledger }, later, DEFAULT_POLICY, at(90), OURS);
    expect(next.ledger.get(nodeId("n1"))?.bound).toEqual({ token: OWN, instanceId: "vm-n1" });
  });

  test("a plan that was made before the token came does not forget it", () => {
    const kept = foldQuestions(learnt.bodies.questions ?? new Map(), at(30));
    expect(kept.get(nodeId("n1"))?.bound).toEqual({ token: OWN, instanceId: "vm-n1" });
  });
});
