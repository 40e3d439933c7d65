import { describe, expect, test } from "vitest";
import { followNodes } from "../../../src/decide/nodes/ledger.ts";
import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import { judgeStops } from "../../../src/decide/autostop/judge-stops.ts";
import { flawShown } from "../../../src/decide/nodes/standing.ts";
import type { Bodies } from "../../../src/domain/bodies.ts";
import type { Node } from "../../../src/domain/cluster.ts";
import type { SchedulerNode } from "../../../src/domain/demand.ts";
import { nodeId } from "../../../src/domain/ids.ts";
import { renderVerdict } from "../../../src/domain/node-verdict.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { LedgerNode } from "../../../src/domain/ledger.ts";
import type { ClusterRecord, Observation } from "../../../src/domain/record.ts";
import { buildCall } from "../../support/build-call.ts";
import {
  at,
  buildArray,
  buildLedger,
  buildNode,
  buildNodes,
  buildSnapshot,
  NOW,
  rememberNode,
  rememberNodes,
} from "../../support/build-node.ts";
import { buildJob, buildState, buildTarget, OURS } from "../../support/build-record.ts";
import type { Decision } from "../../../src/domain/decision.ts";
import { explainNode } from "../../../src/decide/explain/explain-node.ts";

interface State {
  readonly record: ClusterRecord;
  readonly bodies: Bodies;
}

const OFF: Partial<Node> = { phase: "coming", status: "Off", unexpectedStatus: true };
const LEVITATING: Partial<Node> = { ...OFF, status: "Levitating" };
const RESTARTING: Partial<Node> = { phase: "coming", status: "Restarting" };
const NO_TARGET: Partial<Node> = { phase: "unknown", status: "Ready" };
const FAILED: Partial<Node> = { phase: "failed", status: "Failed", statusMessage: "GPU lost" };

/** One observation at this number of seconds after NOW, and the state that its commit leaves. */
function observe(state: State, nodes: readonly Node[], seconds: number) {
  const now = at(seconds);
  const seen = buildSnapshot(nodes, { at: now });
  const decision = decide(
    state.record,
    state.bodies,
    { snapshot: seen, requestNodes: new Map() },
    DEFAULT_POLICY,
    now,
    OURS,
  );
  const { record, ledger, plan } = decision;
  // What this plan sends is accepted elsewhere: here only what it wants matters.
  const next = { ...record, intents: [] };
  return { decision, state: { record: next, bodies: { ...state.bodies, ledger, plan, seen } } };
}

const created = ({ plan }: Decision): number => plan.creates.reduce((sum, { count }) => sum + count, 0);
const verdictOf = ({ plan }: Decision, id = "n1"): string => {
  const verdict = plan.nodes.get(nodeId(id));
  return verdict === undefined ? "none" : renderVerdict(verdict);
};

/** Two nodes that are Ready; a target asks for both, or a job of eight slots. */
function twoNodes(report?: readonly SchedulerNode[]): State {
  const day = { intervalSeconds: 80_000, ...(report === undefined ? {} : { report }) };
  return buildState({
    sets: { standard: { demands: [buildTarget(2)], ...day } },
    ledger: rememberNodes(buildNodes("n", 2)),
    seen: buildSnapshot(buildNodes("n", 2), { at: at(-60) }),
  });
}

const withFirst = (more: Partial<Node>): readonly Node[] => [buildNode("n1", more), buildNode("n2")];

describe("a node that was Ready and is shown otherwise", () => {
  test.each([
    { name: "Off: one snapshot interval", first: OFF, still: 59, over: 60, end: { at: at(300) } },
    { name: "an unknown Status: one snapshot interval", first: LEVITATING, still: 59, over: 60 },
    { name: "Restarting: the boot timeout", first: RESTARTING, still: 3599, over: 3600 },
  ])("$name counts as coming, then not at all", ({ first, still, over, end }) => {
    const noticed = observe(twoNodes(), withFirst(first), 0);
    expect(created(noticed.decision)).toBe(0);
    expect(noticed.decision.ledger.get(nodeId("n1"))?.leftReadyAt).toBe(NOW);

    const waiting = observe(noticed.state, withFirst(first), still);
    expect(created(waiting.decision)).toBe(0);
    expect(verdictOf(waiting.decision)).toBe("needed by standard/execute");

    const given = observe(waiting.state, withFirst(first), over);
    expect(created(given.decision)).toBe(1);
    expect(given.decision.plan.nodes.get(nodeId("n1"))).toEqual({
      kind: "down",
      since: NOW,
      status: first.status,
      ...(end === undefined ? {} : { end }),
    });
    expect(given.decision.plan.terminates).toEqual([]);
  });

  test("one odd observation, and Ready again: nothing is created, and the next odd observation counts from itself", () => {
    const odd = observe(twoNodes(), withFirst(OFF), 0);
    const up = observe(odd.state, withFirst({}), 50);
    expect(up.decision.ledger.get(nodeId("n1"))).not.toHaveProperty("leftReadyAt");
    const oddAgain = observe(up.state, withFirst(OFF), 70);
    const later = observe(oddAgain.state, withFirst(OFF), 129);
    expect([odd, up, oddAgain, later].map(({ decision }) => created(decision))).toEqual([0, 0, 0, 0]);
    expect(created(observe(later.state, withFirst(OFF), 130).decision)).toBe(1);
  });

  test("Off, and then Restarting: it is waited for until the boot timeout since it left Ready", () => {
    const off = observe(twoNodes(), withFirst(OFF), 0);
    expect(created(observe(off.state, withFirst(OFF), 600).decision)).toBe(1);
    expect(created(observe(off.state, withFirst(RESTARTING), 1799).decision)).toBe(0);
    expect(created(observe(off.state, withFirst(RESTARTING), 3600).decision)).toBe(1);
  });

  test("not needed and Restarting: the page says how long it is waited for", () => {
    const idle = { ...twoNodes(), ...buildState({ ledger: rememberNodes(buildNodes("n", 2)) }) };
    const { state } = observe(idle, withFirst(RESTARTING), 0);
    const { decision } = observe(state, withFirst(RESTARTING), 800);
    expect(verdictOf(decision)).toBe("on its way up; 2800 s left to boot");
    const explained = explainNode(decision.plan, decision.ledger, "execute-n1");
    expect(explained).toMatchObject({
      text: "node execute-n1 of execute, host ip-n1 (n1), made for array execute\non its way up; 2800 s left to boot\nit was Ready, and has been on its way up again since 2025-11-20T11:00:00.000Z",
    });
  });

  test("without a TargetState: it counts as there for the boot timeout, then it is replaced and never stopped", () => {
    const { decision, state } = observe(twoNodes(), withFirst(NO_TARGET), 0);
    expect(created(decision)).toBe(0);
    expect(verdictOf(decision)).toBe(
      "since 2025-11-20T11:00:00.000Z CycleCloud's record has not said whether it is wanted (no known TargetState, Status Ready): it counts as present until 2025-11-20T12:00:00.000Z, and is not stopped",
    );
    expect(created(observe(state, withFirst(NO_TARGET), 3599).decision)).toBe(0);
    const over = observe(state, withFirst(NO_TARGET), 3600).decision;
    expect(created(over)).toBe(1);
    expect(over.plan.terminates).toEqual([]);
    expect(verdictOf(over)).toContain("no capacity; it is stopped by its own callback");
  });

  test("failed: no capacity at once, shown without any report, and left alone as jobs may run on it", () => {
    const failed = observe(twoNodes(), withFirst(FAILED), 0);
    expect(created(failed.decision)).toBe(1);
    expect(verdictOf(failed.decision)).toBe(
      "failed (GPU lost) after it was Ready: no capacity, but jobs may still run on it; it is stopped by its own callback, or when a scheduler reports it idle",
    );
    const later = observe(failed.state, withFirst(FAILED), 86_000);
    expect(later.decision.plan.terminates).toEqual([]);
  });
});

describe("a node that is down", () => {
  const down = { leftReadyAt: at(-60) };
  const known = (more: Partial<LedgerNode> = {}) =>
    buildLedger([rememberNode(buildNode("n1"), { ...down, ...more }), rememberNode(buildNode("n2"))]);

  test("still counts against the limits of its array", () => {
    const state = buildState({ sets: { standard: { demands: [buildTarget(3)] } }, ledger: known() });
    const seen = buildSnapshot(withFirst(OFF), { arrays: [buildArray("execute", { limit: { count: 3 } })] });
    const turn = { snapshot: seen, requestNodes: new Map() };
    const { plan } = decide(state.record, state.bodies, turn, DEFAULT_POLICY, NOW, OURS);
    expect(plan.creates.map(({ count }) => count)).toEqual([1]);
    expect(plan.demands.map(({ placed, asked }) => [placed, asked])).toEqual([[2, 3]]);
  });

  test("is capacity for jobs neither", () => {
    const sets = { standard: { demands: [buildJob("j", 8)] } };
    const { decision } = observe(buildState({ sets, ledger: known() }), withFirst(OFF), 0);
    expect(created(decision)).toBe(1);
  });

  test("is Ready again: it serves, and its replacement becomes spare and is stopped in the usual way", () => {
    const report = ["ip-n1", "ip-n2", "ip-n3"].map((hostname) => ({ hostname, jobs: [] }));
    const sets = { standard: { demands: [buildTarget(2)], report, intervalSeconds: 80_000, sentAt: at(1) } };
    const ledger = rememberNodes(buildNodes("n", 3), { busyness: { state: "idle", since: at(-400) } });
    const before = buildState({
      sets,
      ledger: new Map([...ledger, ...buildLedger([rememberNode(buildNode("n1"), down)])]),
    });
    const { decision } = observe(before, buildNodes("n", 3), 2);
    expect(created(decision)).toBe(0);
    expect(verdictOf(decision, "n1")).toBe("needed by standard/execute");
    expect(verdictOf(decision, "n2")).toBe("needed by standard/execute");
    expect(verdictOf(decision, "n3")).toBe(
      "marked to be stopped (idle): waiting for a report later than 11:00:02Z; the last is from 11:00:01Z",
    );
  });

  test("is marked when a scheduler reports it idle, and stopped after the next report", () => {
    const idle = [{ hostname: "ip-n1", jobs: [] }];
    const push = (state: State, seconds: number): State => {
      const set = { demands: [buildTarget(2)], report: idle, intervalSeconds: 80_000, sentAt: at(seconds) };
      const pushed = buildState({ sets: { standard: set }, ledger: state.bodies.ledger });
      return { record: { ...pushed.record, plan: state.record.plan }, bodies: pushed.bodies };
    };
    const first = observe(push(buildState({ ledger: known() }), 0), withFirst(OFF), 0);
    expect(first.decision.plan.terminates).toEqual([]);
    expect(verdictOf(first.decision)).toBe(
      "marked to be stopped (failed): waiting for a report later than 11:00:00Z; the last is from 11:00:00Z",
    );
    const second = observe(push(first.state, 10), withFirst(OFF), 20);
    expect(second.decision.plan.terminates).toEqual(["n1"]);
  });

  test.each([
    {
      name: "a job is reported on it, nor replaced",
      host: { hostname: "ip-n1", jobs: ["7"] },
      verdict:
        "it was Ready, and CycleCloud has shown it as Off since 2025-11-20T10:59:00.000Z; it still counts as present",
    },
    {
      name: "its host is open to more",
      host: { hostname: "ip-n1", jobs: [], state: "open" as const },
      verdict: "no capacity: it was Ready",
    },
    {
      name: "only another host is reported",
      host: { hostname: "ip-n2", jobs: ["7"] },
      verdict: "no capacity: it was Ready",
    },
  ])("is not stopped where $name", ({ host, verdict }) => {
    const sets = { standard: { demands: [buildTarget(2)], report: [host], intervalSeconds: 80_000 } };
    const { decision } = observe(buildState({ sets, ledger: known() }), withFirst(OFF), 0);
    expect(verdictOf(decision)).toContain(verdict);
  });

  test("asks to stop, so it is up: it is told to stay where it is needed", () => {
    const state = buildState({
      sets: { standard: { demands: [buildTarget(2)] } },
      ledger: known(),
      seen: buildSnapshot(withFirst(OFF), { at: NOW }),
    });
    const calls = [buildCall("n1")];
    const { verdicts } = judgeStops(state.record, state.bodies, calls, DEFAULT_POLICY, NOW);
    expect(verdicts).toEqual([{ kind: "needed", why: "needed by standard/execute", undrain: true }]);
  });
});

test("a plan changes at the moment at which a node is given up, though no observation has changed", () => {
  const first = observe(twoNodes(), withFirst(OFF), 0);
  const second = observe(first.state, withFirst(OFF), 30);
  const third = observe(second.state, withFirst(OFF), 60);
  expect([first, second, third].map(({ decision }) => created(decision))).toEqual([0, 0, 1]);
});

describe("when a node left Ready", () => {
  const lookAt = (node: Node): Observation => ({ snapshot: buildSnapshot([node]), requestNodes: new Map() });
  const leftAfter = (known: Partial<LedgerNode>, node: Node): number | undefined =>
    followNodes(
      { ledger: buildLedger([rememberNode(buildNode("n1"), known)]), isRestart: false },
      lookAt(node),
      [],
      new Map(),
      at(100),
    ).get(nodeId("n1"))?.leftReadyAt;

  test.each([
    { name: "it is Ready", known: { leftReadyAt: NOW }, node: {}, left: undefined },
    { name: "noted by this observation", known: {}, node: OFF, left: at(100) },
    { name: "noted before", known: { leftReadyAt: NOW }, node: RESTARTING, left: NOW },
    {
      name: "failed: its time begins when it is tried again",
      known: { leftReadyAt: NOW },
      node: FAILED,
      left: undefined,
    },
    {
      name: "it is being stopped",
      known: { leftReadyAt: NOW },
      node: { phase: "going" as const },
      left: undefined,
    },
    {
      name: "deallocated",
      known: { leftReadyAt: NOW },
      node: { phase: "deallocated" as const },
      left: undefined,
    },
  ])("$name", ({ known, node, left }) => expect(leftAfter(known, buildNode("n1", node))).toBe(left));

  test("a node that never was Ready did not leave it, whatever its Status: its boot timeout decides", () => {
    const { firstReadyAt: _never, ...known } = rememberNode(buildNode("n1"));
    const { ledger } = {
      ledger: followNodes(
        { ledger: buildLedger([known]), isRestart: false },
        lookAt(buildNode("n1", OFF)),
        [],
        new Map(),
        NOW,
      ),
    };
    expect(ledger.get(nodeId("n1"))).not.toHaveProperty("leftReadyAt");
    const entry = ledger.get(nodeId("n1"));
    expect(flawShown(buildNode("n1", OFF), entry, DEFAULT_POLICY, at(86_400)).why).toBe("late");
  });
});
